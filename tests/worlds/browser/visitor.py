"""Acts and observes in a real browser, on pages that a test defines."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

from playwright.async_api import Page

from midcourse.domain.argument import Scalar
from midcourse.worlds.browser import Browser
from midcourse.worlds.browser.page.tabs import Tabs
from tests.pages import Pages
from tests.worlds.support import Hand, ok

_numbers = count(1)


class Visitor(Hand):
    def __init__(self, browser: Browser, pages: Pages) -> None:
        super().__init__(browser)
        self.pages = pages

    async def visit(self, body: str, *, title: str = "Page", **answer: Any) -> str:
        """Serve this page, navigate to it, and return its path."""
        path = f"/{next(_numbers)}"
        await self.do("navigate", url=self.pages.show(path, body, title=title, **answer))
        return path

    async def labels(self, role: str = "") -> list[str]:
        return [zone.label for zone in (await self.see()).zones if role in ("", zone.role)]

    async def state(self, label: str, name: str) -> Scalar:
        return (await self.zone(label)).get(name)

    async def fingerprint(self) -> str:
        return (await self.see()).fingerprint


def page_of(hand: Hand) -> Page:
    """The Playwright page of the active tab, to act on it without the world."""
    assert isinstance(hand.world, Browser)
    return hand.world._tab.page


def tabs_of(hand: Hand) -> Tabs:
    assert isinstance(hand.world, Browser)
    return hand.world._running.tabs


@asynccontextmanager
async def visiting(pages: Pages, **options: Any) -> AsyncGenerator[Visitor]:
    given: dict[str, Any] = {"quiet_seconds": 0.03, **options}
    browser = Browser(pages.show("/", "<h1>Start</h1>", title="Start"), **given)
    await browser.open()
    try:
        yield Visitor(browser, pages)
    finally:
        await browser.close()


__all__ = ["Visitor", "ok", "page_of", "tabs_of", "visiting"]
