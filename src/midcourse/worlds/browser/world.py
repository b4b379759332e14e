"""The browser as a world: its session, what it can do and what it can be asked."""

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

from midcourse.domain.outcome import Outcome
from midcourse.ports.world import Call
from midcourse.worlds.base import BaseWorld, Scene, Unseen, Zone, failed, skill
from midcourse.worlds.browser.capture import Capture
from midcourse.worlds.browser.chromium import Chromium
from midcourse.worlds.browser.frames import Gone, script
from midcourse.worlds.browser.hands import Hands, Unreached
from midcourse.worlds.browser.settle import Patience, settle
from midcourse.worlds.browser.tabs import Interrupted, Tab, Tabs


class Browser(BaseWorld):
    """A session in a Chromium of its own. It begins at `start`."""

    name = "browser"
    blocks = False

    def __init__(
        self,
        start: str,
        *,
        headed: bool = False,
        executable: str = "",
        width: int = 1280,
        height: int = 800,
        quiet_seconds: float = 0.1,
        settle_seconds: float = 5.0,
        navigate_seconds: float = 30.0,
    ) -> None:
        super().__init__()
        self._start = start
        self._viewport = {"width": width, "height": height}
        self._patience = Patience(quiet=quiet_seconds, most=settle_seconds)
        self._navigate_seconds = navigate_seconds
        self._chromium = Chromium(executable=executable, headed=headed)
        self._capture = Capture()
        self._downloads = ""
        self._tabs: Tabs | None = None

    # --- the session

    async def open(self) -> str:
        await super().open()
        context = await self._chromium.start(viewport=self._viewport, accept_downloads=True)
        await context.add_init_script(script("listeners.js"))
        self._downloads = tempfile.mkdtemp(prefix="midcourse-downloads-")
        self._tabs = Tabs(context, Path(self._downloads))
        await self._tabs.begin()
        await self._go(self._start)
        await self._settle()
        return ""

    async def close(self) -> None:
        self._tabs = None
        await self._chromium.close()
        if self._downloads:
            shutil.rmtree(self._downloads, ignore_errors=True)
            self._downloads = ""

    async def look(self) -> Scene | Unseen:
        if self._tabs is None:
            return Unseen(reason="world_lost", detail="the browser is not open")
        return await self._capture.look(self._tabs)

    async def _attempt(self, call: Call) -> Outcome:
        """Whatever comes up meanwhile is to be seen afterwards, and no exception."""
        from playwright.async_api import Error

        if self._tabs is None:
            return failed("world_lost", "the browser is not open")
        self._tabs.acting = True
        try:
            await self._tell_acting(True)
            outcome = await super()._attempt(call)
            await self._settle()
        except Unreached as unreached:
            return unreached.outcome
        except Interrupted:
            outcome = Outcome()
        except Gone as gone:
            outcome = Outcome(status="unknown", reason="error", detail=str(gone))
        except Error as error:
            outcome = Outcome(status="unknown", reason="error", detail=error.message)
        finally:
            self._tabs.acting = False
        if self._tab.crashed and call.skill not in ("switch_tab", "close_tab"):
            return failed("page_crashed", f"the page crashed: {self._tab.page.url}")
        await self._tell_acting(False)
        return outcome

    async def _settle(self) -> None:
        await settle(self._tab, self._patience)
        assert self._tabs is not None
        await self._tabs.settled()

    async def _tell_acting(self, acting: bool) -> None:
        """So that the page can tell what changes by itself from what an act changes."""
        tab = self._tab
        if tab.interrupted:
            return
        try:
            await tab.doing(tab.frames.ask("acts", acting))
        except (Gone, Interrupted):
            return

    async def _go(self, url: str) -> Outcome | None:
        from playwright.async_api import Error
        from playwright.async_api import TimeoutError as TimedOut

        assert self._tabs is not None
        if not self._tab.alive:
            await self._replace_tab()
        tab = self._tab
        try:
            await tab.doing(tab.page.goto(url, wait_until="commit", timeout=1000 * self._navigate_seconds))
        except TimedOut:
            return Outcome(status="unknown", reason="timeout", detail=f"no answer from {url}")
        except Error as error:
            tab.trouble = error.message.partition("\n")[0]
            return failed("not_reached", tab.trouble)
        return None

    async def _replace_tab(self) -> None:
        """A page that crashed cannot be brought back."""
        assert self._tabs is not None
        dead = self._tab
        await self._tabs.open()
        await dead.page.close()

    @property
    def _tab(self) -> Tab:
        assert self._tabs is not None, "the browser is not open"
        return self._tabs.front

    @property
    def _hands(self) -> Hands:
        return Hands(self._tab)

    # --- skills

    @skill(transition=True)
    async def navigate(self, url: str) -> Outcome | None:
        """Go to an address."""
        return await self._go(url)

    @skill(transition=True)
    async def click(self, zone: Zone) -> Outcome | None:
        """Click on it."""
        return await self._hands.click(zone)

    @skill(undo="clear")
    async def type(self, zone: Zone, text: str) -> Outcome | None:
        """Type text into a field, in place of what is there."""
        return await self._hands.write(zone, text)

    @skill
    async def clear(self, zone: Zone) -> Outcome | None:
        """Empty a field."""
        return await self._hands.write(zone, "")

    @skill(transition=True)
    async def press(self, zone: Zone, keys: Annotated[str, "such as Enter, ArrowDown or Control+A"]) -> Outcome | None:
        """Press keys on it."""
        return await self._hands.press(keys, zone)

    @skill(transition=True)
    async def press_keys(self, keys: Annotated[str, "such as Escape or Control+A"]) -> Outcome | None:
        """Press keys, wherever the focus is."""
        return await self._hands.press(keys)

    @skill
    async def select(self, zone: Zone, option: Annotated[str, "several with ' | ' between them"]) -> Outcome | None:
        """Select an option, and only it."""
        return await self._hands.choose(zone, [name.strip() for name in option.split(" | ")])

    @skill(undo="uncheck")
    async def check(self, zone: Zone) -> Outcome | None:
        """Make sure that it is checked."""
        return await self._hands.set_checked(zone, True)

    @skill(undo="check")
    async def uncheck(self, zone: Zone) -> Outcome | None:
        """Make sure that it is not checked."""
        return await self._hands.set_checked(zone, False)
