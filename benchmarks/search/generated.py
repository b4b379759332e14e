"""Applications by the hundred: the same seed, the same menus, dialogs and misplaced entries.

Most things are where their name suggests, and some are not: a fourth of the entries was filed under another topic. So a
searcher that goes by the words is right most of the time, and must step back for the rest.
"""

import re
from dataclasses import dataclass
from random import Random

from midcourse.worlds.simulated.application import MAIN, Application, Control, View

TOPICS: dict[str, tuple[str, ...]] = {
    "File": ("Open", "Import", "Export", "Add Files", "Batch Processing", "Recent Documents", "Archive", "Templates"),
    "Edit": ("Find", "Replace", "Clipboard", "Selection", "Undo History", "Spelling", "Bookmarks", "Links"),
    "View": ("Zoom", "Toolbars", "Side Panel", "Layout", "Rulers", "Full Screen", "Colour Theme", "Status Bar"),
    "Format": ("Font", "Paragraph", "Styles", "Borders", "Columns", "Bullets", "Page Margins", "Language"),
    "Tools": ("Settings", "Macros", "Extensions", "Shortcuts", "Dictionary", "Word Count", "Compare", "Automation"),
    "Data": ("Sort Order", "Filter", "Query", "Chart", "Validation", "Pivot", "Refresh Rate", "Formulas"),
    "Network": ("Proxy", "Accounts", "Synchronise", "Sharing", "Downloads", "Certificates", "Bandwidth", "Servers"),
    "Security": ("Password", "Encryption", "Permissions", "Signature", "Privacy", "Audit Trail", "Trust", "Backup"),
    "Help": ("About", "Updates", "Licence", "Feedback", "Tutorial", "Diagnostics", "Release Notes", "Support"),
}
MISFILED = 0.25
"""The share of entries that are under another topic than their own."""
DETAILS = ("Advanced", "Details", "More", "Defaults", "Custom", "Rules")
BOXES = ("Remember", "Show Warnings", "Use Defaults", "Keep a Copy", "Notify Me", "Start Automatically")
FIELDS = ("Name", "Path", "Limit", "Comment", "Author", "Interval")
KEYS = ("Ctrl+O", "Ctrl+P", "Ctrl+K", "F4", "F8", "Ctrl+Shift+E")


@dataclass(frozen=True, kw_only=True)
class Generated:
    application: Application
    goal: str
    """The view that a task is to open: never the first, always reachable."""
    title: str


def generate_application(seed: int) -> Generated:
    return _Builder(Random(f"application {seed}")).build()


def related(label: str, goal: str) -> float:
    """How much a label has to do with a goal, by the meaning of its words: 0 nothing, 1 the same."""
    if label == goal:
        return 1.0
    wanted = _words(goal)
    if shared := _words(label) & wanted:
        return 0.6 + 0.3 * len(shared) / len(wanted)
    return 0.5 if any(_about(label, topic) and _about(goal, topic) for topic in TOPICS) else 0.0


def _about(label: str, topic: str) -> bool:
    words = {word for name in (topic, *TOPICS[topic]) for word in _words(name)}
    return bool(_words(label) & words)


def _words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+|[0-9]+", text.lower())) - {word.lower() for word in DETAILS}


class _Builder:
    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._views: list[View] = []
        self._numbers = 0

    def build(self) -> Generated:
        chance = self._chance
        topics = chance.sample(sorted(TOPICS), chance.randint(5, 7))
        shelves = self._filed(topics)
        menus = [Control(label=topic, role="menu", opens=self._menu(topic, shelves[topic])) for topic in topics]
        rows = [self._row(n, topics) for n in range(1, chance.randint(2, 4))]
        tools = (Control(label="Bold", role="checkbox"), Control(label="Insert Page", counts=True))
        search = Control(label="Search", role="textbox", value=chance.choice(("", "draft")))
        send = Control(label="Send Report", sends=True)
        main = View(name=MAIN, title="Untitled", kind="window", controls=(*menus, *tools, search, *rows, send))
        dialogs = [view.name for view in self._views if view.kind == "dialog"]
        keys = chance.sample(KEYS, 2)
        shortcuts = tuple(zip(keys, chance.sample(dialogs, 2), strict=True))
        application = Application(views=(main, *self._views), shortcuts=shortcuts)
        goal = chance.choice([name for name in dialogs if application.steps_to(name, (MAIN,)) > 1])
        return Generated(application=application, goal=goal, title=application.view(goal).title)

    def _filed(self, topics: list[str]) -> dict[str, list[str]]:
        """Which entries are under which topic."""
        shelves: dict[str, list[str]] = {topic: [] for topic in topics}
        for topic in topics:
            for entry in self._chance.sample(TOPICS[topic], self._chance.randint(4, 6)):
                lost = self._chance.random() < MISFILED
                shelves[self._chance.choice(topics) if lost else topic].append(entry)
        return shelves

    def _menu(self, title: str, entries: list[str], depth: int = 0) -> str:
        """Some entries are one menu further down."""
        chance, controls = self._chance, list[Control]()
        entries = chance.sample(entries, len(entries))
        deeper = entries[4:] if depth == 0 and len(entries) > 5 else []
        for entry in entries[: len(entries) - len(deeper)]:
            kind = chance.random()
            if kind < 0.75:
                controls.append(Control(label=entry, role="menuitem", opens=self._dialog(entry, depth=0)))
            else:
                controls.append(Control(label=entry, role="menuitem", counts=kind > 0.9))
        if deeper:
            controls.append(Control(label="More", role="menuitem", opens=self._menu("More", deeper, depth + 1)))
        return self._view(title, "menu", controls)

    def _dialog(self, title: str, depth: int) -> str:
        chance = self._chance
        controls = [Control(label=box, role="checkbox", checked=chance.random() < 0.5) for box in self._some(BOXES, 3)]
        controls += [
            Control(label=name, role="textbox", value=chance.choice(("", "10"))) for name in self._some(FIELDS, 2)
        ]
        if depth < 2:
            for detail in self._some(DETAILS, 2 - depth):
                nested = f"{title} {detail}"
                controls.append(Control(label=f"{detail}…", opens=self._dialog(nested, depth + 1)))
        if chance.random() < 0.3:
            controls.append(Control(label="Apply Now", counts=True))
        controls += [
            Control(label="OK", closes="keep"),
            Control(label=chance.choice(("Cancel", "Close")), closes="discard"),
        ]
        return self._view(title, "dialog", controls)

    def _row(self, number: int, topics: list[str]) -> Control:
        topic = self._chance.choice(topics)
        entries = [f"{entry} of Page {number}" for entry in self._chance.sample(TOPICS[topic], 3)]
        return Control(label=f"Page {number}", role="row", context=self._menu(f"Page {number}", entries, depth=1))

    def _some(self, names: tuple[str, ...], most: int) -> list[str]:
        return self._chance.sample(names, self._chance.randint(0, most))

    def _view(self, title: str, kind: str, controls: list[Control]) -> str:
        self._numbers += 1
        name = f"v{self._numbers}"
        self._views.append(
            View(name=name, title=title, kind="menu" if kind == "menu" else "dialog", controls=tuple(controls))
        )
        return name
