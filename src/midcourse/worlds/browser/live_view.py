"""Takes pictures of the page for persons, on request, if it has changed, and only while the run itself does not use it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from hashlib import sha256

from midcourse.ports.viewing import View
from midcourse.worlds.browser.page.frames import DocumentGone
from midcourse.worlds.browser.page.redaction import SecretLocator
from midcourse.worlds.browser.page.screenshots import ScreenshotRefused, read_view, take_screenshot, take_uncovered
from midcourse.worlds.browser.page.tabs import PageInterrupted
from midcourse.worlds.browser.session import BrowserSession

QUALITY = 60
"""JPEG quality: text stays readable, at about 60 kB for a page of 1280 x 800."""
WITHIN = 3.0
"""The time limit of a picture, in seconds. The run may be waiting for the page meanwhile."""


class LiveView:
    """Takes pictures of the page for persons who watch or use it.

    Covering secrets changes the page for a moment. So no picture is taken during a look or an act, and a look or an act waits for
    a picture that is being taken.
    """

    def __init__(self, secrets: SecretLocator) -> None:
        self._secrets = secrets
        self._lock = asyncio.Lock()
        self._uses = 0

    @asynccontextmanager
    async def use(self) -> AsyncGenerator[None]:
        """Mark the page as used by the run while this context is open."""
        async with self._lock:
            self._uses += 1
            yield

    async def take(self, session: BrowserSession, since: str, *, uncovered: bool = False) -> View:
        """Take a picture, unless nothing has changed since that stamp, the run uses the page, or a secret might be visible.

        With `uncovered`, secrets are visible. This is only for the person to whom the browser is handed over.
        """
        from playwright.async_api import Error

        if not self._uses or (
            self._lock.locked() and not uncovered
        ):  # before the first look the world may not know its secrets
            return View(stamp=since)
        # The person in control may wait here for a watcher's picture, and give the browser back meanwhile.
        async with self._lock:
            if uncovered and not session.attended:
                return View(stamp="")
            try:
                async with asyncio.timeout(WITHIN):
                    return await self._take(session, since, uncovered)
            except (PageInterrupted, DocumentGone, ScreenshotRefused, Error, TimeoutError):
                return View(stamp="")

    async def _take(self, session: BrowserSession, since: str, uncovered: bool) -> View:
        tab = session.tab
        if tab.interrupted or tab.silent or (since and await self._make_stamp(session) == since):
            return View(stamp=since)
        taking = take_uncovered(tab, QUALITY) if uncovered else take_screenshot(tab, self._secrets, quality=QUALITY)
        picture = await tab.perform(taking)
        # Covering secrets counts as a change, so the stamp is read afterwards.
        return View(stamp=await self._make_stamp(session), picture=picture)

    async def _make_stamp(self, session: BrowserSession) -> str:
        """Return a stamp that changes with the page.

        Typed text does not change the document, so acts are counted as well. The stamp is hashed, since a URL may contain a secret.
        """
        seen = (self._uses, await session.change_stamp(), await read_view(session.tab))
        return sha256(repr(seen).encode()).hexdigest()[:16]
