"""What is on the screens of the simulated desktop: 22 zones at rest, 50 in Notepad, 35 in its Save As dialog."""

from midcourse.domain.argument import Pairs
from midcourse.domain.observation import Zone

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
