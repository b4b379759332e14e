"""Settling: not before the page is done, and not never, even if the page keeps changing."""

import asyncio
import time
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest
import pytest_asyncio

from midcourse.worlds.browser.page.frames import Frames
from midcourse.worlds.browser.page.tabs import Patience, Tab, settle
from tests.pages import Pages
from tests.worlds.browser.visitor import Visitor, ok, page_of, visiting

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

STILL = 60_000
"""Milliseconds without a change: nothing but the network can keep such a page from being settled."""
PATIENCE = 40.0
"""Much longer than an act takes, even on a slow machine."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def visitor(pages: Pages) -> AsyncGenerator[Visitor]:
    async with visiting(pages, settle_seconds=PATIENCE) as hand:
        yield hand


async def test_settling_waits_for_requests_of_the_click(visitor: Visitor):
    visitor.pages.show("/slow", "<html>answer", seconds=0.6)
    fetching = "fetch('/slow').then((r) => r.text()).then((t) => { x.textContent = 'Got it' })"
    await visitor.visit(f'<p id=x>-</p><button onclick="{fetching}">Fetch</button>')
    ok(await visitor.on("Fetch", "click"))
    assert "Got it" in await visitor.labels("text")


async def test_settling_waits_for_the_page_that_a_click_opens(visitor: Visitor):
    there = visitor.pages.show("/slow-page", "<p>There</p>", title="There", seconds=0.6)
    await visitor.visit(f"<a href='{there}'>Go</a>")
    ok(await visitor.on("Go", "click"))
    assert await visitor.title() == "There"


async def test_settling_does_not_wait_for_earlier_requests(visitor: Visitor):
    """As a page that long-polls for news."""
    visitor.pages.show("/news", "<html>", seconds=300)
    await visitor.visit("<button>Press</button>")
    await page_of(visitor).evaluate("() => { fetch('/news') }")
    while "GET /news" not in visitor.pages.hits:
        await asyncio.sleep(0.01)
    begun = time.monotonic()
    ok(await visitor.on("Press", "click"))
    assert time.monotonic() - begun < PATIENCE


async def test_settling_ends_on_a_page_that_never_rests(visitor: Visitor):
    await visitor.visit(
        """<button>Press</button><div id=x></div><script>
        setInterval(() => { x.style.left = Math.random() + 'px'; x.innerHTML = '<i></i>' }, 10)</script>"""
    )
    begun = time.monotonic()
    ok(await visitor.on("Press", "click"))
    assert time.monotonic() - begun < PATIENCE


async def test_settling_waits_for_a_navigation_before_its_request(monkeypatch: pytest.MonkeyPatch):
    """Chromium reports immediately that a frame will leave; on a busy machine the request comes later."""
    url = "http://shop.test/orders"
    frames = Frames(Mock(), Mock(), Mock())
    monkeypatch.setattr(frames, "ask_all", AsyncMock(return_value=[STILL]))
    tab: Any = SimpleNamespace(
        interrupted=False, silent=False, in_flight=set(), frames=frames, perform=lambda work: work
    )
    await settle(tab, Patience(quiet=0.01))
    overs = (
        lambda: frames.mark_requested(url),
        lambda: frames._on_staying({"frameId": "f"}),
        lambda: frames._on_detached({"frameId": "f"}),
    )
    for over in overs:
        frames._on_leaving({"frameId": "f", "url": f"{url}#here", "disposition": "currentTab"})
        settling = asyncio.create_task(settle(tab, Patience(quiet=0.01)))
        await asyncio.sleep(0.1)
        assert not settling.done()
        over()
        assert not frames.is_leaving
        await settling


async def test_settling_does_not_wait_for_a_mailto_link(visitor: Visitor):
    await visitor.visit("<a href='mailto:shop@shop.test'>Write to us</a>")
    begun = time.monotonic()
    ok(await visitor.on("Write to us", "click"))
    assert time.monotonic() - begun < PATIENCE


async def test_a_silent_page_gets_more_time_with_each_silence() -> None:
    tab = Tab(Mock(), 1)
    granted: list[float] = []
    for silences in range(7):
        tab._silences = silences
        granted.append(tab._time_limit)
    assert granted == [20, 2, 4, 8, 16, 20, 20]
