"""One desktop session: its display, its connection to the programs, and its input and pictures, from start to end."""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from midcourse.domain.observation import Zone
from midcourse.files import private_folder
from midcourse.worlds.desktop.accessibility import Accessibility, NoAnswer, Node, Ref
from midcourse.worlds.desktop.display import OWN, Display, ProgramNotStarted, Size
from midcourse.worlds.desktop.input import Input
from midcourse.worlds.desktop.screen import Screen
from midcourse.worlds.desktop.windows import DesktopView, Windows

_GLANCE = 0.03
_EMPTY_FOR = 2.0
"""Seconds after which the program of an empty window counts as one that describes nothing in it."""
_SHOWS_WITHIN = 30.0
"""Seconds to wait until a program that was started shows a window. The next look shows if it does not."""


@dataclass(frozen=True, kw_only=True)
class SessionOptions:
    """The options of a session. `Desktop` documents them."""

    start: tuple[str, ...] = ()
    display: str = OWN
    home: str = ""
    size: Size = field(default_factory=Size)
    quiet_seconds: float = 0.15
    settle_seconds: float = 5.0


class DesktopSession:
    """A running desktop with its programs."""

    def __init__(self, options: SessionOptions, home: Path, display: Display, accessibility: Accessibility) -> None:
        self._options = options
        self._display = display
        self._temporary = not options.home
        self.home = home
        self.bus = accessibility
        self.windows = Windows(accessibility)
        self.input = Input(display.environment)
        self.screen = Screen(display.environment, display.folder / "Xvfb_screen0" if display.own else None)
        self.view = DesktopView()
        """The view of the last look."""
        self._empty: set[Ref] = set()
        """The windows in which programs describe nothing."""

    @classmethod
    async def begin(cls, options: SessionOptions) -> "DesktopSession":
        """Start the display and the first programs.

        Raise `TaskInvalid` or `ConnectionError` if there is no display or no accessibility bus, `ProgramNotStarted` if a program fails.
        """
        home = await asyncio.to_thread(_prepare_home, options)
        display = await Display.start(options.display, home, options.size)
        try:
            bus = await Accessibility.connect(display.environment["DBUS_SESSION_BUS_ADDRESS"])
        except BaseException:
            await display.close()
            raise
        session = cls(options, home, display, bus)
        try:
            for command in options.start:
                await session.start(command.split())
        except BaseException:
            await session.end()
            raise
        return session

    async def end(self) -> None:
        self.bus.close()
        await self._display.close()
        if self._temporary and self._display.own:
            await asyncio.to_thread(shutil.rmtree, self.home, ignore_errors=True)

    @property
    def alive(self) -> bool:
        return self._display.alive and self.bus.connected

    @property
    def display(self) -> str:
        return self._display.environment.get("DISPLAY", "")

    async def look(self) -> DesktopView:
        """Read the screen. Wait while the window in front is empty, like a window that is closing. Raise `NoAnswer` if no answer comes."""
        view, until = await self.windows.look(), time.monotonic() + _EMPTY_FOR
        while (front := view.front) is not None and front.node.ref not in self._empty and view.is_empty:
            if time.monotonic() > until:
                self._empty.add(front.node.ref)
            else:
                await asyncio.sleep(_GLANCE)
                view = await self.windows.look()
        self.view = view
        return view

    async def find(self, zone_id: str) -> Zone | None:
        view = await self.look()
        return next((zone for zone in view.scene.zones if zone.id == zone_id), None)

    def find_node(self, zone: Zone) -> Node | None:
        return self.view.nodes.get(zone.id)

    async def start(self, command: Sequence[str]) -> None:
        """Start a program and wait until it shows another window. Raise `ProgramNotStarted` if it cannot be started or ends without one."""
        before = await self._list_titles()
        pid = await self._display.run(command)
        until = time.monotonic() + _SHOWS_WITHIN
        while time.monotonic() < until:
            if await self._list_titles() - before:
                break
            if not await self._display.is_running(pid):
                await self.settle()
                if not await self._list_titles() - before:
                    raise ProgramNotStarted(f"{command[0]} ended without showing a window")
                break
            await asyncio.sleep(_GLANCE)
        await self.settle()

    async def _list_titles(self) -> set[tuple[str, str]]:
        try:
            view = await self.look()
        except NoAnswer:
            return set()
        windows = (*((view.front,) if view.front else ()), *view.others)
        return {window.node.ref for window in windows}

    async def settle(self) -> None:
        """Wait until no program has reported a change for a while, and all of them answer."""
        until = time.monotonic() + self._options.settle_seconds
        begun = time.monotonic()
        while time.monotonic() < until:
            quiet = time.monotonic() - max(self.bus.changed_at, begun)
            if quiet >= self._options.quiet_seconds:
                asked = time.monotonic()
                with suppress(NoAnswer):  # each program answers when it has nothing else to do
                    await self.bus.ping()
                if self.bus.changed_at < asked:
                    return
            await asyncio.sleep(_GLANCE)


def _prepare_home(options: SessionOptions) -> Path:
    """Return the home folder of the programs: the given one, the user's on the user's display, or one that ends with the session."""
    if options.home:
        return private_folder(Path(options.home).absolute())
    if options.display != OWN:
        return Path(os.path.expanduser("~"))
    return Path(tempfile.mkdtemp(prefix="midcourse-home-"))
