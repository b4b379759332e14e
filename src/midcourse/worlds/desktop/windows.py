"""The windows of a desktop: as an observation, the one in front as zones and the others by name, and as values that an act would send."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

from midcourse.domain.argument import Scalar
from midcourse.domain.observation import Zone
from midcourse.worlds.base import Scene
from midcourse.worlds.desktop.accessibility import Accessibility, NoAnswer, Node, Program, Ref

DESKTOP = "desktop"
"""The id and role of the zone that represents the whole screen."""

_ROLES = {
    "alert": "alert",
    "check box": "checkbox",
    "check menu item": "menuitemcheckbox",
    "combo box": "combobox",
    "dialog": "dialog",
    "drawing area": "canvas",
    "entry": "textbox",
    "file chooser": "dialog",
    "frame": "window",
    "heading": "heading",
    "icon": "icon",
    "info bar": "alert",
    "label": "text",
    "link": "link",
    "list item": "listitem",
    "menu": "menu",
    "menu item": "menuitem",
    "page tab": "tab",
    "paragraph": "textbox",
    "password text": "textbox",
    "progress bar": "progressbar",
    "push button": "button",
    "push button menu": "button",
    "radio button": "radio",
    "radio menu item": "menuitemradio",
    "slider": "slider",
    "spin button": "spinbutton",
    "static": "text",
    "status bar": "status",
    "statusbar": "status",
    "table cell": "cell",
    "table column header": "columnheader",
    "table row header": "rowheader",
    "tearoff menu item": "menuitem",
    "terminal": "textbox",
    "text": "textbox",
    "toggle button": "button",
    "tool tip": "tooltip",
    "tree item": "treeitem",
    "window": "window",
}
"""The roles of zones, by the roles of AT-SPI. Objects with other roles are containers or only decoration."""
_ONLY_NAMED = ("text", "status", "cell", "icon", "menuitem", "menu", "tab", "alert", "progressbar", "listitem")
"""Roles that are left out if they have no label, because there is nothing to say about them."""
_OUT_OF_SIGHT = ("textbox", "checkbox", "radio", "button", "spinbutton")
"""Roles that are zones even while they are scrolled out of sight, since accessibility reaches them there."""
_SCROLLED = (49, 68)
"""The numbers of AT-SPI's roles scroll pane and viewport."""
_TOP = ("window", "dialog", "alert")
_CANVAS = 80
"""The width and height from which a panel without children counts as something that the program draws itself."""
_LONGEST = 10_000
"""The maximum number of characters of a text that an observation shows."""
_MOST_ROWS = 200


@dataclass(frozen=True, kw_only=True)
class Window:
    """One window of a program."""

    program: Program
    node: Node
    role: str

    @property
    def title(self) -> str:
        return self.node.name or self.program.name

    def walk(self, *, hidden: bool = False) -> Iterator[Node]:
        """Yield the nodes of the window, parents first. Hidden nodes are on other tabs, or in closed menus."""
        queue = [(self.node, False)]
        while queue:
            node, scrolled = queue.pop(0)
            if hidden or node.is_("showing") or (scrolled and node.is_("visible")):
                yield node
                inside = scrolled or node.role in _SCROLLED
                queue = [(each, inside) for each in self.program.children(node.ref[1])] + queue


@dataclass(kw_only=True)
class DesktopView:
    """All windows at one moment, and which zone stands for which node."""

    front: Window | None = None
    popups: tuple[Window, ...] = ()
    """Menus and tooltips above the window in front."""
    others: tuple[Window, ...] = ()
    silent: tuple[str, ...] = ()
    """Programs that do not answer."""
    nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    windows: dict[str, Window] = field(default_factory=dict[str, Window])
    scene: Scene = field(default_factory=lambda: Scene("Desktop", Zone(id=DESKTOP, role=DESKTOP, label="Desktop")))

    @property
    def is_empty(self) -> bool:
        """Whether there is a window in front with nothing in it."""
        inside = (zone_id for zone_id, window in self.windows.items() if window is self.front)
        return self.front is not None and all(self.nodes[zone_id] is self.front.node for zone_id in inside)


class Windows:
    """Turns what programs describe into views. Each program keeps the number that it gets."""

    def __init__(self, accessibility: Accessibility) -> None:
        self._bus = accessibility
        self._numbers: dict[str, int] = {}
        self._last_front: tuple[str, str] | None = None

    async def look(self) -> DesktopView:
        """Read all programs and build a view of the screen. Raise `NoAnswer` if the accessibility bus does not answer."""
        programs = await self._bus.read_programs()
        tops = [window for program in programs for window in self._list_windows(program)]
        front = self._find_front(tops)
        view = DesktopView(front=front, silent=tuple(program.name for program in programs if program.silent))
        if front is not None:
            self._last_front = (front.program.bus_name, front.node.ref[1])
            above = [window for window in tops if window.program is front.program and window.role == "popup"]
            view.popups = tuple(above)
        view.others = tuple(window for window in tops if window is not front and window.role in _TOP)
        await self._describe(view)
        return view

    def make_id(self, node: Node) -> str:
        number = self._numbers.setdefault(node.ref[0], len(self._numbers) + 1)
        return f"{number}.{node.ref[1].rpartition('/')[2]}"

    def get_role(self, node: Node) -> str:
        return _ROLES.get(self._bus.roles.get(node.role, ""), "")

    def _list_windows(self, program: Program) -> list[Window]:
        """Return the windows of a program that are on the screen.

        A window with AT-SPI's role 'window' is not managed by the window manager: it is a menu or a tooltip.
        """
        found: list[Window] = []
        for path in program.windows:
            node = program.nodes.get(path)
            if node is not None and node.is_("showing"):
                native = self._bus.roles.get(node.role, "")
                role = "popup" if native == "window" else _ROLES.get(native, "window")
                found.append(Window(program=program, node=node, role=role if role in (*_TOP, "popup") else "window"))
        return found

    def _find_front(self, tops: list[Window]) -> Window | None:
        """Return the active window. While a menu has the keyboard, no window is active, and the last one is still in front."""
        managed = [window for window in tops if window.role != "popup"]
        active = [window for window in managed if window.node.is_("active")]
        if active:
            modal = [window for window in active if window.node.is_("modal")]
            return (modal or active)[-1]
        last = [window for window in managed if (window.program.bus_name, window.node.ref[1]) == self._last_front]
        return last[0] if last else managed[-1] if managed else None

    # --- zones

    async def _describe(self, view: DesktopView) -> None:
        zones = [
            Zone(id=DESKTOP, role=DESKTOP, label="Desktop", state={"windows": len(view.others) + bool(view.front)})
        ]
        title, program = "Desktop", ""
        if view.front is not None:
            title, program = view.front.title, view.front.program.name
            zones.append(await self._build_top_zone(view, view.front))
            for window in (view.front, *view.popups):
                zones += await self._build_zones(view, window)
        for other in view.others:
            zones.append(await self._build_top_zone(view, other, behind=True))
        for name in view.silent:
            zones.append(Zone(id=f"program:{name}", role="program", label=name, state={"silent": True}))
        if view.silent and view.front is None:
            title, program = f"{view.silent[0]} does not answer", view.silent[0]
        origin = f"program:{program}" if program else ""
        view.scene = Scene(title, *zones, address=program, origin=origin)

    async def _build_top_zone(self, view: DesktopView, window: Window, *, behind: bool = False) -> Zone:
        zone_id = self.make_id(window.node)
        view.nodes[zone_id], view.windows[zone_id] = window.node, window
        state: dict[str, Scalar] = {"program": window.program.name}
        if behind:
            state["behind"] = True
        return Zone(
            id=zone_id,
            role=window.role,
            label=window.title,
            bounds=await self._bus.read_extents(window.node),
            state=state,
        )

    async def _build_zones(self, view: DesktopView, window: Window) -> list[Zone]:
        shown = [node for node in window.walk() if node is not window.node and self._is_shown(window, node)]
        made = await asyncio.gather(*(self._build_zone(view, window, node) for node in shown))
        return _sort_menu_items([zone for zone in made if zone is not None])

    def _is_shown(self, window: Window, node: Node) -> bool:
        role = self.get_role(node)
        if not role and self._bus.roles.get(node.role) == "panel" and node.children == 0:
            return True
        if role == "window" or (role == "dialog" and node.parent != window.node.ref[1]):
            return False
        return bool(role) and (role not in _ONLY_NAMED or bool(node.name.strip()))

    async def _build_zone(self, view: DesktopView, window: Window, node: Node) -> Zone | None:
        role = self.get_role(node)
        bounds = await self._bus.read_extents(node) if node.is_("showing") else None
        if bounds is None and (node.is_("showing") or role not in _OUT_OF_SIGHT):
            return None
        if role in ("", "canvas"):
            if bounds is None or min(bounds[2:]) < _CANVAS:
                return None
            role = "canvas"
        label = await self.read_label(window, node)
        zone_id = self.make_id(node)
        view.nodes[zone_id], view.windows[zone_id] = node, window
        return Zone(
            id=zone_id, role=role, label=label, bounds=bounds, state=await self._read_state(window, node, role, label)
        )

    async def _read_state(self, window: Window, node: Node, role: str, label: str) -> dict[str, Scalar]:
        state: dict[str, Scalar] = {}
        if role == "textbox":
            text = "" if self._is_secret(node) else await self._bus.read_text(node) or ""
            state["text"] = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
            if self._is_secret(node):
                state["password"] = True
            elif not node.is_("editable"):
                state["readonly"] = True
        elif (
            role in ("slider", "spinbutton", "progressbar") and (value := await self._bus.read_value(node)) is not None
        ):
            state["value"] = value
        elif role == "combobox" and node.name and node.name != label:
            state["text"] = node.name
        if role in ("checkbox", "radio", "menuitemcheckbox", "menuitemradio") or node.is_("checked"):
            state["checked"] = node.is_("checked")
        for name in ("expanded", "focused", "selected"):
            if node.is_(name):
                state[name] = True
        if not node.is_("sensitive"):
            state["disabled"] = True
        if not node.is_("showing"):
            state["seen"] = False
        if within := self._find_group_name(window, node, label):
            state["within"] = within
        return state

    def _is_secret(self, node: Node) -> bool:
        return self._bus.roles.get(node.role) == "password text"

    def _find_group_name(self, window: Window, node: Node, label: str) -> str:
        """Return the name of the nearest group around a node."""
        above = window.program.nodes.get(node.parent)
        while above is not None and above is not window.node:
            if above.name.strip() and above.name != label:
                return above.name
            above = window.program.nodes.get(above.parent)
        return ""

    # --- values

    async def read_values(self, view: DesktopView) -> list[tuple[str, Scalar]]:
        """Read the values of all fields of the window in front, including hidden ones, by their labels.

        For a dialog, read also those of its program's other windows, on which it acts.
        """
        front = view.front
        if front is None:
            return []
        values = await self._read_window(front)
        if front.role != "window" or front.node.is_("modal"):
            for behind in (window for window in view.others if window.program is front.program):
                values += [(f"{behind.title}: {name}", value) for name, value in await self._read_window(behind)]
        return values

    async def _read_window(self, window: Window) -> list[tuple[str, Scalar]]:
        values: dict[str, Scalar] = {}

        def add(name: str, value: Scalar) -> None:
            numbered = (f"{name} {number}" for number in range(2, len(values) + 3))
            values[name if name not in values else next(each for each in numbered if each not in values)] = value

        # Combo boxes come last: one with the same label as a text field then always gets the number, in any order of the program.
        for node in sorted(window.walk(hidden=True), key=lambda node: self.get_role(node) == "combobox"):
            native, role = self._bus.roles.get(node.role, ""), self.get_role(node)
            if role == "textbox" and node.is_("editable"):
                if text := await self._bus.read_text(node):
                    add(await self.read_label(window, node) or "text", text)
            elif role in ("checkbox", "radio") and node.is_("checked"):
                add(f"{node.name.strip()} ({role})", "checked")
            elif role == "combobox" and node.name.strip() and node.is_("showing"):
                add(await self.read_label(window, node), node.name)
            elif role == "text" and node.name.strip() and window.role == "alert":
                add("message", node.name)
            elif native in ("table", "tree table", "list", "tree") and not node.is_("showing"):
                rows = await self._read_rows(node)
                if rows:
                    add(self._find_tab_name(window, node), ", ".join(rows))
        return list(values.items())

    async def _read_rows(self, table: Node) -> list[str]:
        """Read the rows of a list on a tab that is not in front, such as the attachments of a mail."""
        try:
            count = int(await self._bus.get(table.ref, "Accessible", "ChildCount"))
            if not 0 < count <= _MOST_ROWS:
                return []
            refs = await self._bus.ask(table.ref, "Accessible", "GetChildren")
            cells = await asyncio.gather(*(self._read_cell(tuple(ref)) for ref in refs))
        except NoAnswer:
            return []
        return [cell for cell in cells if cell.strip()]

    async def _read_cell(self, ref: Ref) -> str:
        if await self._bus.ask(ref, "Accessible", "GetRoleName") == "table column header":
            return ""
        return str(await self._bus.get(ref, "Accessible", "Name"))

    def _find_tab_name(self, window: Window, node: Node) -> str:
        nodes, above = window.program.nodes, node
        while above.parent in nodes:
            above = nodes[above.parent]
            if self.get_role(above) == "tab" and above.name.strip():
                return above.name
        return node.name.strip() or "list"

    # --- labels

    async def read_label(self, window: Window, node: Node) -> str:
        """Return the label of a node: its name, or that of its label, or the text beside it, or its description or that of its parent."""
        role = self.get_role(node)
        if node.name.strip() and role != "combobox":
            return _clean_label(node.name)
        if role in ("textbox", "combobox", "spinbutton", "slider", "progressbar"):
            found = await self._find_label(window, node)
            named = node.name if role == "combobox" else ""
            body = "text" if node.is_("multi_line") else ""
            return _clean_label(found or self._find_description(window, node) or named) or body
        return _clean_label(self._find_description(window, node))

    def _find_description(self, window: Window, node: Node) -> str:
        around = window.program.nodes.get(node.parent)
        return node.description or (around.description if around and around.children == 1 else "")

    async def _find_label(self, window: Window, node: Node) -> str:
        ref = await self._bus.find_label(node)
        if ref is not None:
            known = window.program.nodes.get(ref[1])
            if known is not None:
                return known.name
            try:
                return str(await self._bus.get(ref, "Accessible", "Name"))
            except NoAnswer:
                return ""
        inner = node
        for _ in range(2):
            outer = window.program.nodes.get(inner.parent)
            if outer is None:
                return ""
            if found := self._find_label_beside(window, window.program.children(outer.ref[1]), inner):
                return found
            inner = outer
        return ""

    def _find_label_beside(self, window: Window, row: list[Node], inner: Node) -> str:
        """Return the label next to a node among its siblings. It is before the node if a label comes first among them, otherwise after it."""
        kinds = ["label" if self._is_label(node) else "field" if self._has_field(window, node) else "" for node in row]
        if "label" not in kinds or kinds[row.index(inner)] != "field":
            return ""
        step = -1 if kinds.index("label") < kinds.index("field") else 1
        at = row.index(inner) + step
        return row[at].name if 0 <= at < len(row) and kinds[at] == "label" else ""

    def _is_label(self, node: Node) -> bool:
        return bool(node.name.strip()) and self._bus.roles.get(node.role) in ("label", "combo box", "check box")

    def _has_field(self, window: Window, node: Node) -> bool:
        """Whether a node is a field, or contains one directly."""
        return self._is_field(node) or any(self._is_field(each) for each in window.program.children(node.ref[1]))

    def _is_field(self, node: Node) -> bool:
        return self.get_role(node) in ("textbox", "combobox", "spinbutton", "slider") and not self._is_label(node)


def _sort_menu_items(zones: list[Zone]) -> list[Zone]:
    """Sort the items of each menu from top to bottom, since some programs list them in the order in which they were made."""
    ordered: list[Zone] = []
    for is_item, run in groupby(zones, lambda zone: zone.role.startswith("menuitem") or bool(zone.get("within"))):
        several = list(run)
        in_menu = is_item and any(zone.role.startswith("menuitem") for zone in several)
        ordered += sorted(several, key=_find_top_edge) if in_menu else several
    return ordered


def _find_top_edge(zone: Zone) -> float:
    return zone.bounds[1] if zone.bounds else 0


def _clean_label(text: str) -> str:
    return " ".join(text.split()).removesuffix(":").strip()
