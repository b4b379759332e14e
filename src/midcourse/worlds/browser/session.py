"""One browser from its start to its end: its process, its context, its tabs, and what it keeps for the next one."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from midcourse.domain.outcome import Outcome
from midcourse.worlds.base import Scene, failed
from midcourse.worlds.browser.chromium import Chromium, Sandbox
from midcourse.worlds.browser.downloads import Downloads
from midcourse.worlds.browser.egress.guard import Guard
from midcourse.worlds.browser.egress.outbox import HeldRequest
from midcourse.worlds.browser.egress.policy import Origins
from midcourse.worlds.browser.egress.proxy_login import enter
from midcourse.worlds.browser.page.capture import Capture
from midcourse.worlds.browser.page.frames import Gone, script
from midcourse.worlds.browser.page.provenance import Given, read_given
from midcourse.worlds.browser.page.settle import Patience, settle
from midcourse.worlds.browser.page.tabs import Interrupted, Tab, Tabs
from midcourse.worlds.browser.storage import Storage

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Frame, Request

_CLOSES_WITHIN = 5.0


class LedElsewhere(Exception):
    """Another page came than the one that was asked for."""


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What a session is started with."""

    start: str
    headed: bool
    executable: str
    width: int
    height: int
    storage: str
    downloads: str
    origins: Origins
    authorities: str
    patience: Patience
    navigate_seconds: float
    sandbox: Sandbox = "on"
    uploads: str | None = None


class Session:
    def __init__(
        self, terms: Terms, chromium: Chromium, context: "BrowserContext", storage: Storage, fence: Guard
    ) -> None:
        self._terms = terms
        self.fence = fence
        self._chromium = chromium
        self._context = context
        self._storage = storage
        self._capture = Capture()
        self._background: set[Request] = set()
        self.tabs = Tabs(context, Downloads(terms.downloads))

    @classmethod
    async def begin(cls, terms: Terms, chromium: Chromium | None = None) -> "Session":
        """With the first page loaded, if it loads: that it does not is to be seen on it."""
        chromium = chromium or Chromium(executable=terms.executable, headed=terms.headed, sandbox=terms.sandbox)
        storage = Storage(terms.storage)
        fence = Guard(terms.origins, authorities=terms.authorities, certificate=chromium.certificate)
        proxy = await fence.proxy.open()
        try:
            context = await chromium.start(
                proxy=proxy,
                flags=fence.proxy.flags,
                viewport={"width": terms.width, "height": terms.height},
                accept_downloads=True,
                service_workers="block",
                **storage.load(),
            )
        except BaseException:
            await fence.proxy.close()
            raise
        session = cls(terms, chromium, context, storage, fence)
        try:
            await context.add_init_script(script("listeners.js"))
            await session.tabs.begin()
            await enter(context, session.tab.page, fence.proxy.password)
            await session.go(terms.start)
            await session.rest()
        except BaseException:
            await session.end()
            raise
        return session

    async def end(self) -> None:
        with suppress(Exception):  # a browser that is gone has nothing more to keep
            await self.keep()
        await self.fence.proxy.close()
        await self._chromium.close()
        self.tabs.downloads.close()

    async def left(self) -> None:
        """Until somebody has closed every tab."""
        from playwright.async_api import Error

        with suppress(Error):  # together with the browser
            while self.tab.alive:
                await self.tab.page.wait_for_event("close", timeout=0)

    @property
    def tab(self) -> Tab:
        return self.tabs.front

    async def look(self) -> Scene:
        scene = await self._capture.look(self.tabs)
        scene.zones += tuple(held.zone for held in self.fence.outbox.waiting)
        return scene

    async def stamp(self) -> tuple[object, ...]:
        """Another one as soon as a look may show something new. It takes two milliseconds, whatever the page is like."""
        tab, changes = self.tab, [0]
        with suppress(Gone, Interrupted):
            changes = await tab.asking(tab.frames.ask_all("changes"))
        return tab.number, tab.page.url, tab.interrupted, len(self.tabs), len(self.tabs.downloads), *changes

    async def go(self, url: str) -> Outcome | None:
        if not self.tab.alive or self.tab.silent:
            await self._replace()
        return await self._go(self.tab, url)

    async def _go(
        self, tab: Tab, url: str, frame: "Frame | None" = None, referrer: str | None = None
    ) -> Outcome | None:
        from playwright.async_api import Error
        from playwright.async_api import TimeoutError as TimedOut

        within = 1000 * self._terms.navigate_seconds
        going = (frame or tab.page).goto(url, wait_until="commit", timeout=within, referer=referrer)
        try:
            await tab.doing(going)
        except TimedOut:
            return Outcome(status="unknown", reason="timeout", detail=f"no answer from {url}")
        except Error as error:
            if "Download is starting" in error.message or self.fence.outbox.waiting:
                return None
            tab.trouble = error.message.partition("\n")[0]
            return failed("not_reached", tab.trouble)
        return None

    async def let_go(self, several: Sequence[HeldRequest]) -> Outcome:
        """What was parked goes in the frame that wanted to go there, if there still is one."""
        self.fence.outbox.release(several)
        for held in several:
            if held.allowed is None:
                outcome = await self._claim(held)
                if outcome is not None:
                    return outcome
        return Outcome()

    async def _claim(self, held: HeldRequest) -> Outcome | None:
        """By going there, past the browser's cache: what is there of this address is not what was asked for."""
        request = held.request
        tab, frame = self.tabs.wanting(request.method, request.url)
        cdp: Any = await self._context.new_cdp_session(tab.page)  # Playwright leaves its types open
        try:
            await cdp.send("Network.enable")
            await cdp.send("Network.setCacheDisabled", {"cacheDisabled": True})
            return await self._go(tab, request.url, frame, referrer=held.claim)
        finally:
            with suppress(Interrupted):  # by a dialog, behind which nothing is answered
                await tab.doing(cdp.detach())

    async def _replace(self) -> None:
        """A page that crashed, or that nothing gets through to, cannot be brought back."""
        dead = self.tab
        await self.tabs.open()
        with suppress(TimeoutError):
            await asyncio.wait_for(dead.page.close(), _CLOSES_WITHIN)

    # --- a person at the browser

    async def attend(self) -> None:
        """What leaves is theirs, and nothing is held up; tabs that they open come to the front."""
        self.fence.outbox.attended = self.tabs.acting = True
        await self.tab.page.bring_to_front()

    async def left_alone(self) -> None:
        """From here on things wait again. What the person did is settled first."""
        if self.fence.outbox.attended:
            await self.rest()
            self.fence.outbox.attended = False

    # --- around an act

    async def stir(self) -> None:
        """An act begins: what changes from here on, it may have changed."""
        self.tabs.acting = True
        self._background = {request for request in self.tab.in_flight if not self._waits(request)}
        await self._tell_acting(True)

    async def rest(self) -> None:
        """Wait until the page in front is done with it, also if that is another one by now."""
        settled: Tab | None = None
        while settled is not self.tab:
            settled = self.tab
            await settle(settled, self._terms.patience, lambda one: one in self._background or self._waits(one))
            await self.tabs.settled()
            await self._close_strangers()
            await self.tab.know_status()
        self.tabs.acting = False
        await self._tell_acting(False)

    async def _close_strangers(self) -> None:
        """A tab that the act opened and that leads where nobody may go: there is nothing to be seen in it."""
        fresh, self.tabs.fresh = self.tabs.fresh, []
        for tab in fresh:
            with suppress(Gone, Interrupted):
                address = await tab.asking(tab.frames.address())
                if len(self.tabs) > 1 and self.fence.origins.turns_away(address):
                    await tab.page.close()

    def _waits(self, request: "Request") -> bool:
        return self.fence.outbox.holds(request.method, request.url)

    async def keep(self) -> None:
        """Cookies and the like, for a session after this one."""
        if not (self.tab.interrupted or self.tab.silent):
            with suppress(Interrupted):
                await self.tab.doing(self._storage.save(self._context))

    async def _tell_acting(self, acting: bool) -> None:
        with suppress(Gone, Interrupted):
            await self.tab.asking(self.tab.frames.ask_all("acts", acting))

    # --- elsewhere

    async def text_at(self, url: str) -> str | None:
        """What another page says, opened in a tab of its own. None: it did not come, or came as an error.

        Raises `LedElsewhere` if another page came in its place: a sign-in does not show that an order is missing.
        """
        tab = await self.tabs.aside()
        try:
            answer = await tab.doing(tab.page.goto(url, timeout=1000 * self._terms.navigate_seconds))
            if answer is None or not answer.ok:
                return None
            await settle(tab, self._terms.patience)
            if _place(tab.page.url) != _place(url):
                raise LedElsewhere(tab.page.url)
            return await Capture().text(tab)
        except Interrupted:
            return None
        finally:
            await tab.page.close()

    async def given(self, texts: Sequence[str]) -> tuple[Given, ...]:
        """What the page in front puts into its forms, and which of these texts are on it. Nothing if it does not answer."""
        with suppress(Gone, Interrupted):
            return read_given(await self.tab.asking(self.tab.frames.ask_all("given", list(texts))))
        return ()

    async def given_at(self, url: str) -> tuple[Given, ...]:
        """The same for a page that is loaded in a hidden tab. None if another page or an error comes back."""
        tab = await self.tabs.aside()
        try:
            answer = await tab.doing(tab.page.goto(url, timeout=1000 * self._terms.navigate_seconds))
            if answer is None or not answer.ok or _place(tab.page.url) != _place(url):
                return ()
            await settle(tab, self._terms.patience)
            return read_given(await tab.asking(tab.frames.ask_all("given", [])))
        except (Gone, Interrupted):
            return ()
        finally:
            await tab.page.close()


def _place(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    return parts.netloc, parts.path.rstrip("/"), parts.query
