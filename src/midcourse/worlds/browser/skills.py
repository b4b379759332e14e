"""The skills and probes of the browser world. `page/input.py` carries them out; `egress/guard.py` holds what they send."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, assert_never

from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Scalar
from midcourse.domain.outcome import Outcome
from midcourse.ports.world import WOULD_SEND, Call
from midcourse.worlds.base import BaseWorld, Zone, failed, no_effect, not_sent, probe, skill
from midcourse.worlds.browser.egress.address import PAGES, AddressRefused
from midcourse.worlds.browser.page.capture import shows_text
from midcourse.worlds.browser.page.forms import read_form_commit
from midcourse.worlds.browser.page.input import Input
from midcourse.worlds.browser.page.tabs import Tab
from midcourse.worlds.browser.session import BrowserSession, LandedElsewhere, SessionOptions, is_blank
from midcourse.worlds.file_text import FileUnreadable, read_file_text

Kind: TypeAlias = Literal["string", "integer", "number", "boolean"]

_NUMBER = re.compile(r"[-−+]?\d[\d.,'\u00a0\u202f ]*")
_YES = ("true", "yes", "on", "1", "checked", "✓", "✔")
_NO = ("false", "no", "off", "0", "unchecked", "", "✗", "✘")
_CHECKED = ("role:checkbox", "role:radio", "role:switch", "role:menuitemcheckbox")
_OPTIONS = ("option", "menuitem", "menuitemradio", "treeitem")
_MOST_OPTIONS = 20
"""Options that are named if the wanted one is not among them."""
_GLANCE, _GLANCES = 0.05, 20
_LIST_SETTLES = 10.0
"""Seconds by which a page that lists effects may be behind, as one that a replica, an index or a cache serves."""
_WAYS = {"down": (0, 1), "up": (0, -1), "right": (1, 0), "left": (-1, 0)}


class Skills(BaseWorld):
    """The skills that a planner may use. Each works on the tab in front of the open session."""

    def __init__(self, options: SessionOptions) -> None:
        super().__init__()
        self._options = options
        self._session: BrowserSession | None = None

    @property
    def _running(self) -> BrowserSession:
        assert self._session is not None, "the browser is not open"
        return self._session

    @property
    def _tab(self) -> Tab:
        return self._running.tab

    @property
    def _input(self) -> Input:
        return Input(self._tab)

    # --- skills: going places

    @skill(transition=True, undo="go_back")
    async def navigate(self, url: str) -> Outcome | None:
        """Go to an address."""
        try:
            address, _ = self._options.origins.check(url, PAGES)
        except AddressRefused as refused:
            return failed("not_permitted", str(refused))
        return await self._running.go(address.url)

    @skill(transition=True)
    async def go_back(self) -> Outcome | None:
        """Go back a page."""
        tab = self._tab
        if not await tab.perform(tab.frames.has_page_before()):
            return no_effect("there is no page before this one")
        await tab.perform(tab.page.go_back(wait_until="commit"))
        return None

    @skill(transition=True, offered_with=("zone:tab[0-9]*",))
    async def switch_tab(self, zone: Zone) -> Outcome | None:
        """Bring another tab to the front."""
        tab = self._running.tabs.find(zone.id) if zone.role == "tab" else None
        if tab is None:
            return failed("wrong_target", f"{zone.role} '{zone.label}' is not a tab")
        return await self._running.tabs.switch(tab)

    @skill(transition=True, offered_with=("zone:tab[0-9]*",))
    async def close_tab(self, zone: Zone) -> Outcome | None:
        """Close a tab, or with the zone `page` the one in front."""
        tab = self._running.tabs.find(zone.id) if zone.role in ("tab", "page") else None
        if tab is None:
            return failed("wrong_target", f"{zone.role} '{zone.label}' is not a tab")
        if len(self._running.tabs) == 1:
            return failed("last_tab", "the last tab stays open")
        return await tab.page.close()

    # --- skills: mouse and keyboard

    @skill(transition=True, by_position=True)
    async def click(self, zone: Zone, button: Literal["left", "right"] = "left", times: int = 1) -> Outcome | None:
        """Click it."""
        return await self._input.click(zone, button=button, times=times)

    @skill(undo="clear", by_position=True)
    async def type(self, zone: Zone, text: str) -> Outcome | None:
        """Replace the text of a field."""
        if zone.role != "combobox" or not text:
            return await self._input.write(zone, text)
        before = await self._list_shown_options()
        outcome = await self._input.write(zone, text)
        # It suggests values only after a pause in typing, in which nothing else changes.
        for _ in range(_GLANCES):
            if outcome is not None or await self._list_shown_options() != before:
                break
            await asyncio.sleep(_GLANCE)
        return outcome

    @skill(by_position=True, offered_with=("state:multiline",))
    async def append(self, zone: Zone, text: str, after: Annotated[str, "a part of its text"] = "") -> Outcome | None:
        """Add text to a field, at its end or after this part."""
        return await self._input.append(zone, text, after)

    @skill(by_position=True)
    async def clear(self, zone: Zone) -> Outcome | None:
        """Empty a field."""
        return await self._input.write(zone, "")

    @skill(transition=True)
    async def press(self, zone: Zone, keys: Annotated[str, "such as Control+A"]) -> Outcome | None:
        """Press keys on it."""
        return await self._input.press(keys, None if zone.role == "page" else zone)

    @skill(transition=True)
    async def press_keys(self, keys: str) -> Outcome | None:
        """Press keys where the focus is."""
        return await self._input.press(keys)

    @skill(by_position=True)
    async def hover(self, zone: Zone) -> Outcome | None:
        """Move the mouse over it."""
        return await self._input.hover(zone)

    @skill(by_position=True)
    async def scroll(
        self,
        zone: Zone,
        direction: Literal["down", "up", "right", "left"] = "down",
        amount: Annotated[float, "in screens"] = 0.8,
    ) -> Outcome | None:
        """Scroll what it is in, or the zone `page`."""
        right, down = _WAYS[direction]
        return await self._input.scroll(zone, right * amount, down * amount)

    @skill(by_position=True)
    async def drag(
        self,
        zone: Zone,
        to: str = "",
        right: float = 0.0,
        down: float = 0.0,
    ) -> Outcome | None:
        """Drag it to the zone `to`, or by pixels."""
        target = await self._find(to) if to else None
        if to and target is None:
            return Outcome(status="unreachable", reason="target_not_visible", detail=f"there is no zone '{to}'")
        return await self._input.drag(zone, target, right, down)

    # --- skills: fields and dialogs

    @skill(offered_with=("role:combobox", "role:listbox"))
    async def select(self, zone: Zone, option: Annotated[str, "several: A | B"]) -> Outcome | None:
        """Select only this option."""
        names = [name.strip() for name in option.split(" | ")]
        outcome = await self._input.choose(zone, names)
        if outcome is None or outcome.reason != "wrong_target":
            return outcome
        if zone.get("options") and zone.role in ("textbox", "combobox", "searchbox"):
            return await self._input.write(zone, option)
        return await self._select_drawn_option(zone, option)

    async def _select_drawn_option(self, zone: Zone, option: str) -> Outcome | None:
        """Select an option of a list that the page draws itself and that opens with a click."""
        before = await self._list_shown_options()
        found, after = None, before
        if zone.get("expanded") is not False:
            found = await self._find_option(zone, option, before)
        if found is None:
            await self._input.click(zone)
            await self._running.settle()
            after = await self._list_shown_options()
            known = {shown.id for shown in before}
            new = [shown for shown in after if shown.id not in known]
            found = await self._find_option(zone, option, new) or await self._find_option(zone, option, after)
        if found is None:
            names = ", ".join(f"'{shown.label}'" for shown in after[:_MOST_OPTIONS])
            detail = f"no option '{option}' showed at {zone.role} '{zone.label}'"
            return failed(
                "no_such_option", f"{detail}; there {'is' if len(after) == 1 else 'are'} {names}" if names else detail
            )
        return await self._input.click(found)

    async def _list_shown_options(self) -> list[Zone]:
        scene = await self._running.look()
        return [zone for zone in scene.zones if zone.role in _OPTIONS]

    async def _find_option(self, zone: Zone, label: str, options: list[Zone]) -> Zone | None:
        """Find the option with this label, in this list if it has options, since other lists may have options of the same name."""
        own = await self._input.find_own_options(zone, options) or options
        same = next((option for option in own if option.label == label), None)
        alike = [option for option in own if option.label.casefold() == label.casefold()]
        return same or (alike[0] if len(alike) == 1 else None)

    @skill(undo="uncheck", offered_with=_CHECKED)
    async def check(self, zone: Zone) -> Outcome | None:
        """Make sure it is checked."""
        return await self._input.set_checked(zone, True, self._running.settle)

    @skill(undo="check", offered_with=_CHECKED)
    async def uncheck(self, zone: Zone) -> Outcome | None:
        """Make sure it is not checked."""
        return await self._input.set_checked(zone, False, self._running.settle)

    @skill(offered_with=("file", "role:file", "role:download"))
    async def upload(self, zone: Zone, path: str) -> Outcome | None:
        """Give a file to a file field, or to a button that asks for one. Many pages send it at once, so it needs `says`."""
        file = self._find_upload(path)
        if not await asyncio.to_thread(file.is_file):
            return failed("no_such_file", f"there is no file '{path}'")
        return await self._input.upload(zone, file)

    def _find_upload(self, path: str) -> Path:
        """The file of this path, which may begin in the folder for uploads."""
        return Path(self._options.uploads or "") / path

    async def _refuse_file(self, call: Call) -> Outcome | None:
        """Return a failure if the model has chosen a file that the task does not name. Nothing of the file is read, not even whether it exists."""
        path = dict(call.arguments).get("path")
        if call.skill != "upload" or not isinstance(path, str):
            return None
        folder = self._options.uploads
        if folder is None:
            downloaded = (str(each.path) for each in self._running.tabs.downloads if each.path)
            allowed = "path" in call.named_files or path in downloaded
            detail = (
                f"the task does not name the file '{path}': only its files ($file.NAME) may be uploaded. "
                'A person names one with --file PATH, or files = ["PATH"] in a task file; a folder with --files FOLDER'
            )
        else:
            allowed = await asyncio.to_thread(_is_below, self._find_upload(path), folder)
            detail = f"{f'files below {folder}' if folder else 'no files'} may be uploaded from this machine"
        return None if allowed else not_sent("not_allowed", detail)

    @skill(transition=True, offered_with=("zone:dialog",))
    async def accept(self, zone: Zone, text: Annotated[str, "if it asks for some"] = "") -> Outcome | None:
        """Answer the browser's own dialog with yes."""
        return await self._answer(zone, accept=True, text=text)

    @skill(transition=True, offered_with=("zone:dialog",))
    async def dismiss(self, zone: Zone) -> Outcome | None:
        """Answer the browser's own dialog with no."""
        return await self._answer(zone, accept=False)

    async def _answer(self, zone: Zone, *, accept: bool, text: str = "") -> Outcome | None:
        if zone.id != "dialog":
            return failed("wrong_target", f"{zone.role} '{zone.label}' is on the page; click its buttons")
        return await self._tab.answer(accept, text)

    # --- skills: sending

    @skill(effect="irreversible", transition=True, commit_set="form_sends", offered_with=("role:form",))
    async def submit(self, zone: Zone) -> Outcome | None:
        """Submit its form."""
        form = await self._read_form(zone)
        if form is None:
            return failed("wrong_target", f"{zone.role} '{zone.label}' is not part of a form")
        if form["pressed"]:
            return await self._input.click(zone)
        return await self._input.ask("submit", zone)

    async def form_sends(self, zone: Zone) -> CommitSet | None:
        form = await self._read_form(zone)
        return None if form is None else read_form_commit(form)

    async def _read_form(self, zone: Zone) -> dict[str, Any] | None:
        await self._input.load("forms.js", zone)
        return await self._input.ask("form", zone)

    @skill(effect="irreversible", transition=True, commit_set="request_sends", offered_with=("role:request",))
    async def send(self, zone: Zone) -> Outcome | None:
        """Send a waiting request, once the user has approved it. One of the page's own only if the task needs it."""
        held = self._running.guard.find_request(zone.id)
        if held is None:
            return failed("wrong_target", f"{zone.role} '{zone.label}' is not a held request")
        if held.behind is not None and held.behind.waits:
            return not_sent("behind", f"it can leave only after {held.behind.zone_id}, which waits in the same socket")
        return Outcome(status="no_effect", reason=WOULD_SEND, detail="it needs approval first")

    async def request_sends(self, zone: Zone) -> CommitSet | None:
        held = self._running.guard.find_request(zone.id)
        return None if held is None else held.request.commit

    # --- skills: reading

    @skill(effect="read")
    async def wait_for(self, text: str, seconds: float = 10.0) -> Outcome | None:
        """Wait until a text is visible."""
        try:
            async with asyncio.timeout(seconds):
                while not shows_text(seen := await self._running.look(), text):
                    if not is_blank(seen):
                        self._running.guard.drop_first_changes()  # the page may wait for it
                    await self._wait_for_change()
        except TimeoutError:
            return failed("not_seen", f"'{text}' did not show within {seconds:g} s")
        return None

    async def _wait_for_change(self) -> None:
        """Wait until something may have changed, at most a second, because values that a script sets leave no trace."""
        before = await self._running.change_stamp()
        for _ in range(_GLANCES):
            await asyncio.sleep(_GLANCE)
            if await self._running.change_stamp() != before:
                return

    @skill(effect="read", by_position=True)
    async def read(self, zone: Zone) -> Mapping[str, Scalar] | Outcome:
        """Read all its text. After a click that downloads, the file is the zone `download:*`."""
        text = await self._input.read(zone)
        if zone.role != "download":
            return {"text": text}
        path = Path(text)
        try:
            return {"text": await asyncio.to_thread(read_file_text, path)}
        except FileUnreadable as trouble:
            return failed(trouble.reason, str(trouble))
        except OSError as problem:
            return failed("not_readable", f"'{path.name}' cannot be read: {problem.strerror}")

    @skill(effect="read", offered_with=("output",), by_position=True)
    async def extract(
        self, zone: Zone, name: Annotated[str, "of the output"], kind: Kind = "string"
    ) -> Mapping[str, Scalar] | Outcome:
        """Read its text, or the path of a download, as a value of the task's output."""
        text = await self._input.read(zone)
        try:
            return {name: read_as(kind, text)}
        except ValueUnreadable as trouble:
            return failed("unreadable", str(trouble))

    # --- probes

    @probe(settles_after=_LIST_SETTLES, looks_for="text")
    async def page_shows(self, url: str, text: str) -> bool | Literal["elsewhere"] | None:
        """Whether this page, or a next page of its list, shows this text, which was entered."""
        address, _ = self._options.origins.check(url, PAGES)
        try:
            return await self._running.is_shown_at(address.url, text)
        except LandedElsewhere:
            return "elsewhere"


def _is_below(file: Path, folder: str) -> bool:
    """Whether the file is below the folder after symbolic links are followed."""
    return bool(folder) and file.resolve().is_relative_to(Path(folder).resolve())


# --- values of a given type in the text of a page


class ValueUnreadable(Exception):
    """The text does not contain one value of this type."""


def read_as(kind: Kind, text: str) -> Scalar:
    """Read a value of this type from a text. Raise `ValueUnreadable` instead of guessing."""
    match kind:
        case "string":
            return text
        case "integer":
            number = _parse_number(text)
            if not number.is_integer():
                raise ValueUnreadable(f"'{text}' is not a whole number")
            return int(number)
        case "number":
            return _parse_number(text)
        case "boolean":
            word = text.strip().lower()
            if word not in (*_YES, *_NO):
                raise ValueUnreadable(f"'{text}' is neither yes nor no")
            return word in _YES
        case _:
            assert_never(kind)


def _parse_number(text: str) -> float:
    """Parse the only number in a text, in any notation: 1,234.50 and 1.234,50 are the same."""
    found = [number.strip(" .,'\u00a0\u202f") for number in _NUMBER.findall(text)]
    if len(found) != 1:
        raise ValueUnreadable(f"there is {'no' if not found else 'more than one'} number in '{text}'")
    digits = re.sub(r"['\u00a0\u202f ]", "", found[0]).replace("−", "-")
    comma, point = digits.rfind(","), digits.rfind(".")
    if comma >= 0 and point >= 0:
        decimal, other = (",", ".") if comma > point else (".", ",")
        return float(digits.replace(other, "").replace(decimal, "."))
    mark = "," if comma >= 0 else "."
    grouped = digits.count(mark) > 1 or (mark == "," and re.fullmatch(r"[-+]?\d{1,3},\d{3}", digits))
    return float(digits.replace(mark, "" if grouped else "."))
