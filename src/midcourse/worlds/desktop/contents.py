"""The commit set of an act in a window: the values of all its fields, including hidden ones, which it would send or lose."""

import asyncio
from hashlib import sha256

from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Scalar
from midcourse.worlds.desktop.accessibility import Accessibility, NoAnswer, Node, Ref
from midcourse.worlds.desktop.policy import DescribedAct
from midcourse.worlds.desktop.windows import View, Window, Windows

_LONGEST = 20_000
"""The maximum number of characters of a value that a question shows. A longer value is shown as its length and digest."""
_TICKED = ("checkbox", "radio")
_MOST_ROWS = 200


async def read_commit(bus: Accessibility, windows: Windows, view: View, act: DescribedAct) -> CommitSet:
    """Read all values of the window in front, by their labels.

    For a dialog, read also the values of its program's other windows, on which it acts.
    """
    front = view.front
    values: list[tuple[str, Scalar]] = []
    if front is not None:
        values += await _Reading(bus, windows, front).read()
        if front.role != "window" or front.node.is_("modal"):
            for behind in (window for window in view.others if window.program is front.program):
                read = await _Reading(bus, windows, behind).read()
                values += [(f"{behind.title}: {name}", value) for name, value in read]
    shown = tuple((name, _shorten_value(value)) for name, value in values)
    return CommitSet(values=shown, address=act.says, abridged=any(len(str(value)) > _LONGEST for _, value in values))


class _Reading:
    def __init__(self, bus: Accessibility, windows: Windows, window: Window) -> None:
        self._bus = bus
        self._windows = windows
        self._window = window
        self.values: list[tuple[str, Scalar]] = []

    async def read(self) -> list[tuple[str, Scalar]]:
        # Combo boxes come last: one with the same label as a text field then always gets the number, in any order of the program.
        nodes = sorted(self._window.walk(hidden=True), key=lambda node: self._windows.role_of(node) == "combobox")
        for node in nodes:
            native = self._bus.roles.get(node.role, "")
            role = self._windows.role_of(node)
            if role == "textbox" and node.is_("editable"):
                await self._add_text(node)
            elif role in _TICKED and node.is_("checked"):
                self._add(f"{node.name.strip()} ({role})", "checked")
            elif role == "combobox" and node.name.strip() and node.is_("showing"):
                self._add(await self._windows.label_of(self._window, node), node.name)
            elif role == "text" and node.name.strip() and self._window.role == "alert":
                self._add("message", node.name)
            elif native in ("table", "tree table", "list", "tree") and not node.is_("showing"):
                await self._add_rows(node)
        return self.values

    def _add(self, name: str, value: Scalar) -> None:
        taken = {each for each, _ in self.values}
        numbered = (f"{name} {number}" for number in range(2, len(taken) + 3))
        self.values.append((name if name not in taken else next(n for n in numbered if n not in taken), value))

    async def _add_text(self, node: Node) -> None:
        text = await self._bus.text(node)
        if text:
            self._add(await self._windows.label_of(self._window, node) or "text", text)

    async def _add_rows(self, table: Node) -> None:
        """Add the rows of a list on a tab that is not in front, such as the attachments of a mail."""
        name = self._tab_of(table)
        try:
            count = int(await self._bus.get(table.ref, "Accessible", "ChildCount"))
            if not 0 < count <= _MOST_ROWS:
                return
            refs = await self._bus.ask(table.ref, "Accessible", "GetChildren")
            cells = await asyncio.gather(*(self._read_cell(tuple(ref)) for ref in refs))
        except NoAnswer:
            return
        if shown := [cell for cell in cells if cell.strip()]:
            self._add(name, ", ".join(shown))

    async def _read_cell(self, ref: Ref) -> str:
        if await self._bus.ask(ref, "Accessible", "GetRoleName") == "table column header":
            return ""
        return str(await self._bus.get(ref, "Accessible", "Name"))

    def _tab_of(self, node: Node) -> str:
        nodes, above = self._window.program.nodes, node
        while above.parent in nodes:
            above = nodes[above.parent]
            if self._windows.role_of(above) == "tab" and above.name.strip():
                return above.name
        return node.name.strip() or "list"


def _shorten_value(value: Scalar) -> Scalar:
    text = str(value)
    if len(text) <= _LONGEST:
        return value
    return f"{len(text)} characters, sha256 {sha256(text.encode(errors='surrogatepass')).hexdigest()}"
