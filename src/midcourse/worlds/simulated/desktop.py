"""A desktop with a start menu and Notepad, as in the story of three segments: open, write, save."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, Unpack

from midcourse.domain.argument import Pairs
from midcourse.domain.observation import Zone
from midcourse.domain.outcome import Outcome
from midcourse.ports.world import Call
from midcourse.worlds.base import Scene, no_effect, probe, skill
from midcourse.worlds.simulated.base import Overlay, SimulatedWorld, Simulation

Front: TypeAlias = Literal["desktop", "start", "notepad", "save_as"]
Focus: TypeAlias = Literal["", "query", "text", "file_name"]
"""The field of the state that typing goes to."""
_FORBIDDEN = frozenset('*?<>|:"/\\')


@dataclass(frozen=True, kw_only=True)
class DesktopState:
    front: Front = "desktop"
    behind: Front = "desktop"
    """The window that is shown again when the start menu closes."""
    focus: Focus = ""
    selected: bool = False
    """All of the focused field is selected: typing replaces it."""
    query: str = ""
    notepad_open: bool = False
    text: str = ""
    saved_as: str = ""
    folder: str = "Desktop"
    file_name: str = "*.txt"


class Desktop(SimulatedWorld[DesktopState]):
    """A simulated desktop with a start menu and Notepad."""

    name = "notepad"
    kind = "desktop"
    stores = ("press", "click")
    popup = Overlay(kind="popup", title="Update available", text="A new version is ready to install.", button="OK")
    error = Overlay(kind="error", title="Notepad", text="The file could not be saved, please try again.", button="OK")

    def __init__(self, **simulation: Unpack[Simulation]) -> None:
        super().__init__(DesktopState(), **simulation)

    @skill
    def press(self, key: str) -> None:
        """Press a key or a shortcut: Win, Enter, Escape, Ctrl+S, Ctrl+A, Alt+Tab. Others do nothing."""
        match key.lower():
            case "win":
                self._toggle_start()
            case "enter":
                self._enter()
            case "escape":
                self.state = self.without_dialog() or self.state
            case "ctrl+s" if self.state.front == "notepad":
                self._ask_to_save()
            case "ctrl+a" if self.state.focus:
                self.state = replace(self.state, selected=True)
            case "alt+tab" if self.state.notepad_open and self.state.front in ("desktop", "notepad"):
                self._show("desktop" if self.state.front == "notepad" else "notepad")
            case _:
                pass

    @skill
    def type_text(self, text: str) -> Outcome | None:
        """Type text into the control that has the focus."""
        if not self.state.focus:
            return no_effect("nothing has the focus")
        self._type(text)
        return None

    @probe
    def file_saved(self, name: str, text: str | None) -> bool:
        """Whether there is a file of this name, with this text if one is given."""
        files = {file.get("name"): file.get("text") for file in self.happened("file_saved")}
        return name in files and text in (None, files[name])

    def clicked(self, zone: Zone) -> Outcome | None:
        match self.state.front, zone.id:
            case _, "taskbar_start":
                self._toggle_start()
            case _, "taskbar_notepad" | "app_notepad" | "result_notepad":
                self._open_notepad()
            case "notepad", "editor":
                self.state = replace(self.state, focus="text", selected=False)
            case "notepad", "tool_save":
                self._ask_to_save()
            case "notepad", "btn_minimise":
                self._show("desktop")
            case "notepad", "btn_close":
                self.state = DesktopState()
            case "save_as", "field_file_name":
                self.state = replace(self.state, focus="file_name", selected=False)
            case "save_as", "btn_save":
                self._save(self.state.file_name)
            case "save_as", "btn_cancel" | "btn_close":
                self._show("notepad")
            case "save_as", _ if zone.role == "folder":
                self.state = replace(self.state, folder=zone.label, focus="", selected=False)
            case _:
                pass
        return None

    def blocked(self, over: Overlay, call: Call) -> Outcome | None:
        """The dialog has the keyboard. Enter and Escape close it; every other key is ignored silently."""
        key = str(dict(call.arguments).get("key", "")).lower()
        if over.button and key in ("enter", "escape"):
            self._overlays.pop()
        return no_effect(f"'{over.title}' has the focus") if call.skill == "type_text" else Outcome()

    def without_dialog(self) -> DesktopState | None:
        match self.state.front:
            case "start":
                front = self.state.behind
            case "save_as":
                front = "notepad"
            case _:
                return None
        return replace(self.state, front=front, focus="", selected=False, query="")

    def scene(self) -> Scene:
        state = self.state
        match state.front:
            case "desktop":
                return Scene("Desktop", *build_desktop())
            case "start":
                return Scene("Start", *build_start_menu(state.query))
            case "notepad":
                title = f"{state.saved_as} - Notepad" if state.saved_as else "Notepad"
                focused = state.focus == "text"
                zones = build_notepad(title, state.text, focused=focused, selected=focused and state.selected)
                return Scene(title, *zones)
            case "save_as":
                return Scene("Save As", *self._build_dialog())

    def _build_dialog(self) -> tuple[Zone, ...]:
        state = self.state
        saved = (file for file in self.happened("file_saved") if file.get("folder") == state.folder)
        files = tuple(dict.fromkeys(str(file.get("name")) for file in saved))
        focused = state.focus == "file_name"
        return build_save_as(state.folder, state.file_name, files, focused=focused, selected=focused and state.selected)

    def _show(self, front: Front) -> None:
        self.state = replace(self.state, front=front, focus="", selected=False, query="")

    def _toggle_start(self) -> None:
        state = self.state
        if state.front == "start":
            self._show(state.behind)
        elif state.front != "save_as":
            self._show("start")
            self.state = replace(self.state, behind=state.front, focus="query")

    def _open_notepad(self) -> None:
        self._show("notepad")
        self.state = replace(self.state, notepad_open=True)

    def _enter(self) -> None:
        state = self.state
        if state.front == "start" and find_apps(state.query)[:1] == ("Notepad",):
            self._open_notepad()
        elif state.front == "save_as":
            self._save(state.file_name)
        elif state.focus == "text":
            self._type("\n")

    def _type(self, text: str) -> None:
        state = self.state
        match state.focus:
            case "query":
                self.state = replace(state, query=("" if state.selected else state.query) + text, selected=False)
            case "text":
                self.state = replace(state, text=("" if state.selected else state.text) + text, selected=False)
            case "file_name":
                name = ("" if state.selected else state.file_name) + text
                self.state = replace(state, file_name=name, selected=False)
            case "":
                pass

    def _ask_to_save(self) -> None:
        if self.state.saved_as:
            self._save(self.state.saved_as)
        else:
            self._show("save_as")

    def _save(self, name: str) -> None:
        """Save the file and close the dialog, unless no file can have this name."""
        if not name.strip() or _FORBIDDEN & set(name):
            return
        self.store("file_saved", folder=self.state.folder, name=name, text=self.state.text)
        self._show("notepad")
        self.state = replace(self.state, saved_as=name)


# --- what is on the screens: 22 zones at rest, 50 in Notepad, 35 in its Save As dialog


FOLDERS = (
    "Quick access",
    "Desktop",
    "Documents",
    "Downloads",
    "Pictures",
    "Music",
    "Videos",
    "This PC",
    "Local Disk (C:)",
    "Network",
)
FILE_ROWS = 5
_TASKBAR = ("Start", "Search", "Task View", "File Explorer", "Browser", "Code", "Notepad", "Mail")
_TRAY = (
    "Show hidden icons",
    "Network",
    "Volume",
    "Battery",
    "Language",
    "Clock",
    "Notifications",
    "Show desktop",
)
_APPS = ("Notepad", "Calculator", "Paint", "Settings", "Terminal", "Code", "Mail", "Calendar")
_TOOLS = (
    "New",
    "Open",
    "Save",
    "Print",
    "Cut",
    "Copy",
    "Paste",
    "Undo",
    "Redo",
    "Find",
    "Replace",
    "Go to",
    "Select all",
    "Time and date",
    "Font",
    "Zoom in",
    "Zoom out",
    "Word wrap",
)


def build_shell() -> tuple[Zone, ...]:
    """Taskbar and tray, under every window but a dialog."""
    return (*_build_zones("taskbar", "taskbar_button", _TASKBAR), *_build_zones("tray", "tray_icon", _TRAY))


def build_desktop() -> tuple[Zone, ...]:
    return (
        *_build_zones("icon", "icon", ("Recycle Bin", "This PC", "Documents", "Browser")),
        Zone(id="window_code", role="window", label="Code"),
        Zone(id="code_editor", role="document", label="main.py"),
        *build_shell(),
    )


def build_start_menu(query: str) -> tuple[Zone, ...]:
    """Return the start menu: a search box with the query, and the programs that begin with it."""
    found = find_apps(query)
    return (
        Zone(id="search_box", role="textbox", label="Type here to search", state=_build_state(query, focused=True)),
        *_build_zones("result", "menu_item", found),
        *(() if query else _build_zones("app", "menu_item", _APPS)),
        *_build_zones("start", "button", ("Account", "Power")),
        *build_shell(),
    )


def find_apps(query: str) -> tuple[str, ...]:
    return tuple(app for app in _APPS if query and app.lower().startswith(query.strip().lower()))


def build_notepad(title: str, text: str, *, focused: bool, selected: bool) -> tuple[Zone, ...]:
    return (
        Zone(id="title_bar", role="title_bar", label=title),
        *_build_zones("btn", "button", ("Minimise", "Maximise", "Close")),
        *_build_zones("menu", "menu", ("File", "Edit", "Format", "View", "Help")),
        *_build_zones("tool", "toolbar_button", _TOOLS),
        Zone(
            id="editor",
            role="document",
            label="Text editor",
            state=_build_state(text, focused=focused, selected=selected),
        ),
        *_build_zones("scroll", "scrollbar", ("Vertical", "Horizontal")),
        *_build_zones("status", "status", ("Line and column", "Zoom level", "Line ending", "Encoding")),
        *build_shell(),
    )


def build_save_as(
    folder: str, file_name: str, files: tuple[str, ...], *, focused: bool, selected: bool
) -> tuple[Zone, ...]:
    rows = (*files, "readme.txt", "todo.txt", "ideas.txt", "minutes.txt", "draft.txt")[:FILE_ROWS]
    return (
        Zone(id="dialog_title", role="title_bar", label="Save As"),
        *_build_zones("btn", "button", ("Close",)),
        *_build_zones("nav", "button", ("Back", "Forward", "Up", "Refresh")),
        Zone(id="address_bar", role="textbox", label="Address", state=(("text", folder),)),
        Zone(id="search_files", role="textbox", label="Search"),
        *_build_zones("tool", "toolbar_button", ("Organise", "New folder", "View")),
        *(
            Zone(id=f"folder_{_make_slug(name)}", role="folder", label=name, state=(("open", name == folder),))
            for name in FOLDERS
        ),
        *_build_zones("column", "column_header", ("Name", "Date modified", "Type")),
        *(Zone(id=f"file_{row}", role="file", label=name) for row, name in enumerate(rows, start=1)),
        Zone(
            id="field_file_name",
            role="textbox",
            label="File name",
            state=_build_state(file_name, focused=focused, selected=selected),
        ),
        *_build_zones("field", "combobox", ("Save as type", "Encoding")),
        *_build_zones("btn", "button", ("Hide folders", "Save", "Cancel")),
    )


def _build_zones(prefix: str, role: str, labels: tuple[str, ...]) -> tuple[Zone, ...]:
    return tuple(Zone(id=f"{prefix}_{_make_slug(label)}", role=role, label=label) for label in labels)


def _make_slug(label: str) -> str:
    return "".join(letter if letter.isalnum() else " " for letter in label.lower()).strip().replace(" ", "_")


def _build_state(text: str, *, focused: bool, selected: bool = False) -> Pairs:
    return (("text", text), ("focused", focused), ("selected", selected))
