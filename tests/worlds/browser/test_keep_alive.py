"""An editor that says every few seconds that it is open, and takes a dropped keep-alive for a lost connection."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest
import pytest_asyncio

from midcourse.worlds.browser import Browser
from midcourse.worlds.browser.egress import keep_alive
from tests.worlds.browser.guarded_page import until
from tests.worlds.browser.site import Answer, Site
from tests.worlds.browser.visitor import page_of
from tests.worlds.support import Hand, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

EDITOR = """<!doctype html><html lang=en><title>Editor</title><script id=config type="application/json">{"CSRF_TOKEN": "hXj20MyMYMnXvhPqZiFh"}</script>
<form method=post id=session data-src="/sessions/ping/page/10/"><input type=checkbox name=is_editing value=1 hidden>
<input type=hidden name=revision_id value=17></form>
<form method=post action=/save id=edit><label>Title <input name=title></label><button>Publish</button></form><button id=ask>Ping Marta</button>
<p id=state></p><script>
let offline = false
const token = JSON.parse(document.getElementById('config').textContent).CSRF_TOKEN
const beat = (form = session) => fetch(form.dataset.src, {method: 'POST', body: new FormData(form),
    headers: {'X-CSRFToken': token, 'X-Requested-With': 'XMLHttpRequest'}})
    .then(answer => { offline = !answer.ok; state.textContent = 'Online' },
        () => { offline = true; state.textContent = 'A network error occurred' })
edit.oninput = () => { session.is_editing.checked = true }
edit.onsubmit = event => { if (offline) event.preventDefault() }
ask.onclick = () => beat()
START</script></html>"""


@pytest_asyncio.fixture(loop_scope="session")
async def site() -> AsyncGenerator[Site]:
    pages = {"/": EDITOR.replace("START", "beat()"), "/quiet": EDITOR.replace("START", ""), "/save": "Saved"}
    async with Site({**pages, "/sessions/ping/page/10/": Answer("{}", kind="application/json")}).served() as site:
        yield site


@pytest_asyncio.fixture(loop_scope="session")
async def hand(site: Site, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Hand]:
    monkeypatch.setattr(keep_alive, "_EACH_SECONDS", 0.0)
    browser = Browser(f"{site.url}/", quiet_seconds=0.05)
    await browser.open()
    yield Hand(browser)
    await browser.close()


async def test_editor_stays_online_and_publishes_at_the_first_click(hand: Hand, site: Site) -> None:
    await until(lambda: len(site.effects()) == 1)
    ok(await hand.on("Title", "type", text="All notices of the leap year"))
    await page_of(hand).evaluate("() => beat()")
    assert await page_of(hand).locator("#state").text_content() == "Online"
    call = hand.call("click", await hand.zone("Publish"))
    assert (await hand.world.act(call)).reason == "would_send"
    ok(await hand.world.act(replace(call, command=hand.command + 1, allowed=True)))
    assert site.effects() == [*["POST /sessions/ping/page/10/"] * 2, "POST /save"]
    first, second = (asked for asked in site.asked if "ping" in asked.path)
    assert b"is_editing" not in first.body
    assert b'name="is_editing"\r\n\r\n1\r\n' in second.body
    assert b"leap year" not in second.body
    assert {name: second.fields[name] for name in ("x-csrftoken", "x-requested-with", "referer")} == {
        "x-csrftoken": "hXj20MyMYMnXvhPqZiFh",
        "x-requested-with": "XMLHttpRequest",
        "referer": f"{site.url}/",
    }


async def test_click_sends_no_keep_alive(hand: Hand, site: Site) -> None:
    ok(await hand.do("navigate", url=f"{site.url}/quiet"))
    site.forget()
    await hand.on("Ping Marta", "click")
    await hand.on("Ping Marta", "click")
    assert site.effects() == []


async def test_page_that_puts_what_was_typed_into_the_form_sends_nothing(hand: Hand, site: Site) -> None:
    ok(await hand.on("Title", "type", text="half a note"))
    site.forget()
    for trick in (
        "session.revision_id.value = btoa(edit.title.value)",
        "session.revision_id.name = btoa(edit.title.value)",
        "session.revision_id.value = 17; session.revision_id.name = 'revision_id'; session.dataset.src += btoa(edit.title.value)",
    ):
        await page_of(hand).evaluate(f"() => {{ {trick}; beat() }}")
    assert isinstance(hand.world, Browser)
    outbox = hand.world._running.guard.outbox
    await until(lambda: len(outbox.waiting) >= 2)
    assert site.effects() == []
