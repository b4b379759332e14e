"""The first screen is observed once it shows its content: what a page waits for is not held, and it is waited for while it loads."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from midcourse.worlds.browser import Browser, world
from midcourse.worlds.browser.session import BrowserSession
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


def is_waiting(hand: Hand) -> bool:
    """Whether the browser holds a request."""
    assert isinstance(hand.world, Browser)
    return bool(hand.world._running.guard.outbox.waiting)


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
        await until(lambda: is_waiting(hand))
        assert await waiting(hand) == ["PUT"]
        assert site.effects() == []


async def test_change_that_an_act_caused_waits_for_its_approval() -> None:
    async with using(start="") as (hand, site):
        call = hand.call("click", await hand.zone("Open"))
        assert (await hand.world.act(call)).reason == "would_send"
        assert await waiting(hand) == ["PUT"]
        assert site.effects() == []


# --- a page that loads

LOADS = (
    "fetch('/rows').then(() => setTimeout(() => { document.querySelector('main').innerHTML = '<h1>Boats</h1>' }, WAIT))"
)
BUSY = {
    "words": "<p>Loading…</p>",
    "words of a picture": "<img alt='Running...' width=20 height=20>",
    "a busy region": "<section aria-busy=true>Boats</section>",
    "a bar": "<div role=progressbar style='width: 90px; height: 9px'></div>",
    "an element": "<progress></progress>",
}
NOT_BUSY = {
    "nothing": "<h1>Boats</h1>",
    "words of a job": "<p>Running</p>",
    "words in a sentence": "<p>Loading and unloading is allowed...</p>",
    "a bar with a value": "<div role=progressbar aria-valuenow=40 style='width: 90px; height: 9px'></div>",
    "a region that is not busy": "<section aria-busy=false>Boats</section>",
    "below what is seen": "<h1>Boats</h1><p style='margin-top: 3000px'>Loading…</p><progress></progress>",
    "hidden": "<h1>Boats</h1><div hidden>Loading…<progress></progress></div><progress style='opacity: 0'></progress>",
}


def count_waits(hand: Hand, monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Return a list with an element for each time that a look has waited for the page."""
    assert isinstance(hand.world, Browser)
    waits, wait = list[None](), hand.world._wait_for_change

    async def count() -> None:
        waits.append(None)
        await wait()

    monkeypatch.setattr(hand.world, "_wait_for_change", count)
    return waits


async def test_first_look_at_a_page_that_has_loaded_data_waits_until_it_shows_them() -> None:
    async with using(main="<h1>Harbour</h1>", start=LOADS.replace("WAIT", "400"), rows="[]") as (hand, _):
        assert "Boats" in await labels(hand)


@pytest.mark.parametrize("sign", BUSY)
async def test_look_waits_while_the_page_says_that_it_is_loading(sign: str) -> None:
    async with using(main=f"<h1>Harbour</h1>{BUSY[sign]}", start=LOADS.replace("WAIT", "2000"), rows="[]") as (hand, _):
        assert "Harbour" not in await labels(hand)


async def test_look_after_an_act_waits_while_the_page_says_that_it_is_loading() -> None:
    reload = (
        f"() => {{ document.querySelector('main').innerHTML = '<p>Loading…</p>'; {LOADS.replace('WAIT', '1500')} }}"
    )
    async with using(start=f"document.querySelector('button').onclick = {reload}", rows="[]") as (hand, _):
        ok(await hand.on("Open", "click"))
        assert "Boats" in await labels(hand)


@pytest.mark.parametrize("sign", NOT_BUSY)
async def test_look_does_not_wait_for_a_page_that_is_complete(sign: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with using(main=NOT_BUSY[sign], start="fetch('/rows')", rows="[]") as (hand, _):
        waits = count_waits(hand, monkeypatch)
        await hand.see()
        assert waits == []


async def test_look_does_not_wait_for_a_page_whose_scripts_load_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    settled: list[float] = []
    settle = BrowserSession.settle

    async def note(session: BrowserSession, quiet: float = 0.0) -> None:
        settled.append(quiet)
        await settle(session, quiet)

    async with using(main="<p>Loading…</p>", start="") as (hand, _):
        monkeypatch.setattr(BrowserSession, "settle", note)
        waits = count_waits(hand, monkeypatch)
        await hand.see()
        assert (waits, settled) == ([], [])


async def test_page_that_never_ends_loading_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world, "_LOADS_WITHIN", 0.5)
    async with using(main="<p>Loading…</p>", start="fetch('/rows')", rows="[]") as (hand, _):
        waits = count_waits(hand, monkeypatch)
        assert "Loading…" in await labels(hand)
        assert waits
        waits.clear()
        await hand.see()
        assert waits == []


async def test_page_that_waits_for_a_request_that_is_held_is_not_waited_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(world, "_HOLDS_UP", 0.0)
    async with using("POST", main="<p>Loading…</p>") as (hand, _):
        waits = count_waits(hand, monkeypatch)
        assert await waiting(hand) == ["POST"]
        assert len(waits) == 1
