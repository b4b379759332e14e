"""The first screen is observed once it shows its content: what a page waits for is not held for longer than it has to be."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from midcourse.worlds.browser import Browser
from tests.worlds.browser.guarded_page import until
from tests.worlds.browser.site import Site
from tests.worlds.browser.visitor import page_of
from tests.worlds.support import Hand, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

FILES = """<!doctype html><html lang=en><title>Files</title><main>MAIN</main><ul></ul><button>Open</button><input aria-label=Name><script>
const layout = () => fetch('/layout', {method: 'METHOD', body: JSON.stringify({panel: 'left'})})
const list = async () => { await layout().catch(() => 0); document.querySelector('ul').innerHTML = '<li>notes.md<li>reports' }
document.querySelector('button').onclick = list; START
</script></html>"""


@asynccontextmanager
async def using(
    method: str = "PUT", main: str = "<h1>Files</h1>", start: str = "list()", **pages: str
) -> AsyncGenerator[tuple[Hand, Site]]:
    page = FILES.replace("METHOD", method).replace("MAIN", main).replace("START", start)
    site = Site({"/": page, "/layout": "{}"} | {f"/{name}": text for name, text in pages.items()})
    async with site.served():
        browser = Browser(f"{site.url}/", quiet_seconds=0.05)
        await browser.open()
        try:
            yield Hand(browser), site
        finally:
            await browser.close()


async def labels(hand: Hand) -> list[str]:
    return [zone.label for zone in (await hand.see()).zones]


async def waiting(hand: Hand) -> list[str]:
    return [zone.label.partition(" ")[0] for zone in (await hand.see()).zones if zone.role == "request"]


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
async def test_page_that_stores_its_layout_before_it_lists_anything_shows_its_list_at_the_first_look(
    method: str,
) -> None:
    async with using(method) as (hand, site):
        assert "notes.md" in await labels(hand)
        assert site.effects() == []
        assert await waiting(hand) == []
        assert any(f"{method} {site.url}/layout" in said for said in (await hand.on("Open", "hover")).dropped)


async def test_wait_for_a_text_does_not_wait_for_a_layout_that_is_stored_after_the_first_look() -> None:
    async with using(start="") as (hand, site):
        assert "notes.md" not in await labels(hand)
        await page_of(hand).evaluate("void setTimeout(list, 100)")
        ok(await hand.do("wait_for", text="notes.md", seconds=5))
        assert site.effects() == []


async def test_query_by_post_waits_since_a_plan_may_send_it() -> None:
    async with using("POST") as (hand, site):
        assert await waiting(hand) == ["POST"]
        assert "notes.md" not in await labels(hand)
        assert site.effects() == []


async def test_change_waits_while_the_page_shows_nothing() -> None:
    blank = "document.querySelector('main').innerHTML = ''; for (const e of document.querySelectorAll('button, input')) e.remove(); layout()"
    async with using(main="", start=blank) as (hand, site):
        assert await waiting(hand) == ["PUT"]
        assert site.effects() == []


async def test_change_after_an_act_waits_since_it_may_store_what_was_entered() -> None:
    async with using(start="") as (hand, site):
        ok(await hand.on("Name", "type", text="half a note"))
        await page_of(hand).evaluate("void layout()")
        await until(lambda: bool(hand.world._running.guard.outbox.waiting))  # type: ignore[attr-defined]
        assert await waiting(hand) == ["PUT"]
        assert site.effects() == []


async def test_change_that_an_act_caused_waits_for_its_approval() -> None:
    async with using(start="") as (hand, site):
        call = hand.call("click", await hand.zone("Open"))
        assert (await hand.world.act(call)).reason == "would_send"
        assert await waiting(hand) == ["PUT"]
        assert site.effects() == []
