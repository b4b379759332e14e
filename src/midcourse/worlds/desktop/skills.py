"""The skills and probes of the desktop world. `world.py` holds those of their acts that need approval."""

import asyncio
import time
from collections.abc import Mapping
from typing import Annotated, Literal

from midcourse.domain.argument import Scalar
from midcourse.domain.outcome import Outcome
from midcourse.worlds.base import BaseWorld, Zone, failed, no_effect, not_sent, probe, skill
from midcourse.worlds.desktop.accessibility import NoAnswer, Node
from midcourse.worlds.desktop.display import ProgramNotStarted
from midcourse.worlds.desktop.evidence import Files, MailUnreadable, Snapshot, describe_differences, has_mail
from midcourse.worlds.desktop.session import DesktopSession, SessionOptions

_CLICKS = ("click", "press", "activate", "jump", "toggle")
"""AT-SPI actions that do what a click does, the best first, in small letters."""
_BY_ACTION = ("menu", "tab", "checkbox", "radio", "combobox", "slider", "spinbutton")
"""Roles that are clicked by an accessibility action. All others are clicked with the mouse.

A program that opens a dialog within an accessibility action describes nothing until that dialog is closed (mousepad's menu item
'Save As…', the button 'Attach' of claws-mail). A click with the mouse also selects, or sets the focus.
"""
_GLANCE = 0.05
_UNDER_WAY = 15.0
"""Seconds within which the program may still send a mail that is in the queue."""


class Skills(BaseWorld):
    """The skills that a planner may use. Each works on the window in front."""

    def __init__(self, options: SessionOptions, programs: tuple[str, ...]) -> None:
        super().__init__()
        self._options = options
        self._programs = programs
        self._session: DesktopSession | None = None
        self._reversible: tuple[str, str, str, Snapshot] | None = None
        """The last act that can be taken back: its program, window and undo keys, and the files before it."""

    @property
    def _running(self) -> DesktopSession:
        assert self._session is not None, "the desktop is not open"
        return self._session

    @property
    def _files(self) -> Files:
        return Files(home=self._running.home)

    # --- skills: programs and windows

    @skill(transition=True)
    async def start_program(
        self, program: str, file: Annotated[str, "a file or folder to open, in the home folder"] = ""
    ) -> Outcome | None:
        """Start a program."""
        if program not in self._programs:
            allowed = ", ".join(self._programs) or "none"
            return not_sent("not_permitted", f"'{program}' may not be started; programs of this desktop: {allowed}")
        words = [program, str(self._files.find(file))] if file else [program]
        try:
            await self._running.start(words)
        except ProgramNotStarted as problem:
            return failed("not_started", str(problem))
        return None

    @skill(transition=True, offered_with=("role:window", "role:dialog", "role:alert"))
    async def switch_window(self, zone: Zone) -> Outcome | None:
        """Bring a window to the front."""
        window = self._running.view.windows.get(zone.id)
        if window is None or window.node is not self._running.find_node(zone):
            return not_sent("wrong_target", f"{zone.role} '{zone.label}' is not a window")
        return await self._running.input.raise_window(window.node.name, window.program.pid)

    @skill(transition=True, offered_with=("role:window", "role:dialog", "role:alert"))
    async def close_window(self, zone: Zone) -> Outcome | None:
        """Close a window, as its close button does; a program may ask about unsaved work first."""
        raised = await self.switch_window(zone)
        return raised or await self._running.input.press("Alt+F4")

    # --- skills: mouse and keyboard

    @skill(transition=True, by_position=True)
    async def click(self, zone: Zone, button: Literal["left", "right"] = "left", times: int = 1) -> Outcome | None:
        """Click it."""
        if zone.get("disabled"):
            return not_sent("disabled", f"{zone.role} '{zone.label}' is disabled")
        node = self._running.find_node(zone)
        plain = node is not None and button == "left" and times == 1
        if plain and zone.role in _BY_ACTION and (done := await self._activate(node)) is not None:
            return done
        clicked = await self._click_at(zone, button, times)
        if plain and clicked is not None and clicked.reason == "not_on_screen":
            # A program may have begun an action that it reports as not done.
            tried = node is not None and node.can("Action")
            return await self._activate(node) or (failed("not_on_screen", clicked.detail) if tried else clicked)
        return clicked

    async def _activate(self, node: Node | None) -> Outcome | None:
        """Do what a click does by an accessibility action. Return None if there is no such action."""
        if node is None or not node.can("Action"):
            return None
        named = {name.lower(): number for name, number in (await self._running.bus.list_actions(node)).items()}
        number = next((named[name] for name in _CLICKS if name in named), None)
        if number is None:
            return None
        try:
            done = await self._running.bus.do(node, number)
        except NoAnswer as problem:
            return Outcome(status="unknown", reason="no_answer", detail=f"the program does not answer: {problem}")
        return Outcome() if done else None

    async def _click_at(self, zone: Zone, button: str = "left", times: int = 1) -> Outcome | None:
        place = await self._find_center(zone)
        if place is None:
            return not_sent("not_on_screen", f"{zone.role} '{zone.label}' is not on the screen; scroll to it")
        return await self._running.input.click(*place, button=button, times=times)

    async def _find_center(self, zone: Zone) -> tuple[int, int] | None:
        """Return the middle of a zone once it has stopped moving, since a new window is placed a moment after it opens."""
        node, last = self._running.find_node(zone), zone.bounds
        for _ in range(10):
            await asyncio.sleep(_GLANCE)
            bounds = await self._running.bus.read_extents(node) if node is not None else last
            if bounds == last:
                break
            last = bounds
        if last is None:
            return None
        x, y, width, height = last
        place = (x + width // 2, y + height // 2)
        size = self._options.size
        return place if 0 <= place[0] < size.width and 0 <= place[1] < size.height else None

    @skill(undo="clear", by_position=True)
    async def type(self, zone: Zone, text: str) -> Outcome | None:
        """Replace the text of a field."""
        if zone.pictured:
            return await self._type_at(zone, text)
        if zone.role not in ("textbox", "combobox", "spinbutton") or zone.get("readonly"):
            return not_sent("wrong_target", f"{zone.role} '{zone.label}' is not a field to type into")
        node = self._running.find_node(zone)
        if node is None:
            return not_sent("target_not_visible", f"{zone.role} '{zone.label}' is gone")
        if node.can("EditableText"):
            await self._running.bus.focus(node)
            if await self._running.bus.write(node, text) and await self._running.bus.read_text(node) == text:
                return None
        return await self._type_at(zone, text, multi_line=node.is_("multi_line"))

    async def _type_at(self, zone: Zone, text: str, *, multi_line: bool = False) -> Outcome | None:
        """Click at a position, select all that a field there contains, and type."""
        if "\n" in text and not multi_line:
            return not_sent("bad_arguments", f"{zone.role} '{zone.label}' has only one line")
        clicked = await self._click_at(zone)
        if clicked is not None:
            return clicked
        await self._running.input.press("Control+A")
        return await self._running.input.write(text) if text else await self._running.input.press("Delete")

    @skill(by_position=True)
    async def clear(self, zone: Zone) -> Outcome | None:
        """Empty a field."""
        return await self.type(zone, "")

    @skill
    async def type_text(self, text: str) -> Outcome | None:
        """Type one line of text where the focus is."""
        if "\n" in text:
            return not_sent("bad_arguments", "press Enter with press_keys")
        return await self._running.input.write(text)

    @skill(transition=True)
    async def press(self, zone: Zone, keys: Annotated[str, "such as Control+A"]) -> Outcome | None:
        """Press keys on it."""
        node = self._running.find_node(zone)
        focused = node is not None and (node.is_("focused") or await self._running.bus.focus(node))
        if not focused and zone.role not in ("desktop", "window", "dialog", "alert"):
            clicked = await self._click_at(zone)
            if clicked is not None:
                return clicked
        return await self._running.input.press(keys)

    @skill(transition=True)
    async def press_keys(self, keys: Annotated[str, "such as Control+S"]) -> Outcome | None:
        """Press keys where the focus is."""
        return await self._running.input.press(keys)

    @skill(by_position=True)
    async def hover(self, zone: Zone) -> Outcome | None:
        """Move the mouse over it."""
        place = await self._find_center(zone)
        if place is None:
            return failed("not_on_screen", f"{zone.role} '{zone.label}' is not on the screen")
        return await self._running.input.move(*place)

    @skill(by_position=True)
    async def scroll(
        self, zone: Zone, direction: Literal["down", "up", "right", "left"] = "down", notches: int = 5
    ) -> Outcome | None:
        """Turn the mouse wheel over it."""
        place = await self._find_center(zone)
        if place is None:
            return failed("not_on_screen", f"{zone.role} '{zone.label}' is not on the screen")
        return await self._running.input.scroll(*place, direction, max(1, min(notches, 100)))

    # --- skills: taking back

    @skill(effect="reversible", transition=True)
    async def revert(self) -> Outcome | None:
        """Take back the last act that can be taken back, and check that the files are as before."""
        if self._reversible is None:
            return no_effect("there is no act to take back")
        program, title, undo, before = self._reversible
        if not undo:
            return failed("no_undo", f"{program} has no undo for it")
        if not describe_differences(before, await asyncio.to_thread(self._files.take_snapshot)):
            return no_effect("the files are as they were before it")
        view = await self._running.look()
        windows = [
            window for window in (view.front, *view.others) if window is not None and window.program.name == program
        ]
        own = next((window for window in windows if window.title == title), windows[0] if windows else None)
        if own is None:
            return failed("no_such_window", f"{program} has no window any more")
        if own is not view.front:
            await self._running.input.raise_window(own.node.name, own.program.pid)
        await self._running.input.press(undo)
        left = await self._await_files(before)
        if left:
            return failed("not_reverted", f"not as before: {'; '.join(left[:5])}")
        self._reversible = None
        return None

    async def _await_files(self, before: Snapshot) -> list[str]:
        """Wait until the files are as before, and return the differences that are left when the desktop should have settled."""
        until = time.monotonic() + self._options.settle_seconds
        while True:
            left = describe_differences(before, await asyncio.to_thread(self._files.take_snapshot))
            if not left or time.monotonic() > until:
                return left
            await asyncio.sleep(_GLANCE)

    # --- skills: reading

    @skill(effect="read")
    async def wait_for(self, text: str, seconds: float = 10.0) -> Outcome | None:
        """Wait until a text is visible."""
        until = time.monotonic() + seconds
        while True:
            scene = (await self._running.look()).scene
            lines = [scene.surface.title, *(zone.label for zone in scene.zones)]
            lines += [str(zone.get("text") or "") for zone in scene.zones]
            if any(text in line for line in lines):
                return None
            if time.monotonic() > until:
                return failed("not_seen", f"'{text}' did not show within {seconds:g} s")
            await asyncio.sleep(_GLANCE)

    @skill(effect="read")
    async def wait(self, seconds: float = 1.0) -> Outcome | None:
        """Wait."""
        await asyncio.sleep(max(0.0, min(seconds, 60.0)))
        return None

    @skill(effect="read", by_position=True)
    async def read(self, zone: Zone) -> Mapping[str, Scalar]:
        """Read all its text."""
        node = self._running.find_node(zone)
        text = await self._running.bus.read_text(node) if node is not None and node.can("Text") else None
        return {"text": zone.label if text is None or zone.get("password") else text}

    # --- probes

    @probe
    def file_exists(self, path: str) -> bool:
        """Whether there is a file or folder of this name, in the home folder of the programs."""
        return self._files.find(path).exists()

    @probe
    def file_has(self, path: str, text: str) -> bool:
        """Whether the file is there and has exactly this text, apart from white space at its end."""
        found = self._files.find(path)
        return found.is_file() and found.read_text(encoding="utf-8", errors="replace").rstrip() == text.rstrip()

    @probe
    def file_changed(self, path: str, since: float) -> bool:
        """Whether the file was written after this time, in seconds since 1970."""
        found = self._files.find(path)
        return found.is_file() and found.stat().st_mtime > since

    @probe
    async def mail_in(self, folder: str, subject: str, to: str = "", text: str = "", queued: str = "") -> bool | None:
        """Whether a mail folder (MH or Maildir) has such a mail. One in the folder `queued` is waited for, and then unclear."""
        until = time.monotonic() + _UNDER_WAY
        while True:
            try:
                waits = bool(queued) and has_mail(self._files.find(queued), subject=subject, to=to, text=text)
                if has_mail(self._files.find(folder), subject=subject, to=to, text=text):  # it comes from the queue
                    return True
            except (MailUnreadable, FileNotFoundError):  # it is being written, or moved
                waits = True
            if not waits:
                return False
            if time.monotonic() > until:
                return None
            await asyncio.sleep(_GLANCE)
