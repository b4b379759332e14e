"""A connection to AT-SPI, the bus on which programs describe their windows, with the calls that this world needs."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from midcourse.errors import TaskInvalid

if TYPE_CHECKING:
    from dbus_fast import Message
    from dbus_fast.aio import MessageBus

Ref: TypeAlias = tuple[str, str]
"""A program's name on the bus, and the path of one of its objects."""

_A = "org.a11y.atspi."
_ROOT = "/org/a11y/atspi/accessible/root"
_REGISTRY = f"{_A}Registry"
_PROPERTIES = "org.freedesktop.DBus.Properties"
_EVENTS = (
    "window:create",
    "window:destroy",
    "window:activate",
    "object:children-changed",
    "object:state-changed",
    "object:text-changed",
    "object:property-change",
)
_MOST_CALLS = 32
"""The maximum number of calls that wait for an answer. More of them block some programs."""
_ANSWERS_WITHIN = 10.0
_SILENT_ANSWERS_WITHIN = 0.5
"""The time limit, in seconds, for a program that did not answer the last time."""
_CONNECTS_WITHIN = 60.0
_MOST_CHILDREN = 1000
"""The children of a node with more than this are not read: the table of a spreadsheet has millions, and its program would hang."""

STATES = {
    "active": 1,
    "checked": 4,
    "editable": 7,
    "enabled": 8,
    "expandable": 9,
    "expanded": 10,
    "focused": 12,
    "modal": 16,
    "multi_line": 17,
    "pressed": 20,
    "selected": 23,
    "sensitive": 24,
    "showing": 25,
    "visible": 30,
    "manages_descendants": 31,
    "default": 39,
}
"""Bits of an AT-SPI state set."""
_LABELLED_BY = 2
_SCREEN = 0
"""The number with which AT-SPI is asked for extents in coordinates of the screen."""


class NoAnswer(Exception):
    """A program did not answer, or the object is gone."""


class Late(NoAnswer):
    """No answer came in time, because the program is busy or hangs."""


@dataclass(frozen=True, kw_only=True)
class Node:
    """One object of a program, as AT-SPI describes it."""

    ref: Ref
    parent: str
    """The path of the parent."""
    index: int
    role: int
    name: str
    description: str
    interfaces: frozenset[str]
    states: int
    children: int

    def is_(self, state: str) -> bool:
        return bool(self.states >> STATES[state] & 1)

    def can(self, interface: str) -> bool:
        return f"{_A}{interface}" in self.interfaces


@dataclass(kw_only=True)
class Program:
    """One program and its nodes by path."""

    bus_name: str
    name: str
    pid: int
    nodes: dict[str, Node] = field(default_factory=dict[str, Node])
    windows: tuple[str, ...] = ()
    """The paths of its windows."""
    silent: bool = False
    """Whether the program does not answer."""

    def children(self, path: str) -> list[Node]:
        return sorted((node for node in self.nodes.values() if node.parent == path), key=lambda node: node.index)


class Accessibility:
    """A connection to the accessibility bus of a desktop."""

    def __init__(self, bus: "MessageBus") -> None:
        self._bus = bus
        self._calls = asyncio.Semaphore(_MOST_CALLS)
        self._names: dict[str, tuple[str, int]] = {}
        self._silent: set[str] = set()
        self.roles: dict[int, str] = {}
        self.changed_at = 0.0
        """When a program last reported a change, on the monotonic clock."""
        bus.add_message_handler(self._note)

    @classmethod
    async def connect(cls, session_bus: str) -> "Accessibility":
        """Connect to the accessibility bus. Raise `TaskInvalid` without dbus-fast, `ConnectionError` if no accessibility bus comes up."""
        try:
            from dbus_fast import DBusError
        except ModuleNotFoundError as missing:
            raise TaskInvalid('the desktop world needs dbus-fast: pip install "midcourse[desktop]"') from missing
        until = time.monotonic() + _CONNECTS_WITHIN
        while True:
            try:
                connected = await cls._connect(session_bus)
            except (NoAnswer, OSError, EOFError, DBusError) as problem:  # the bus is still starting
                if time.monotonic() > until:
                    raise ConnectionError(f"the accessibility bus does not answer: {problem}") from problem
                await asyncio.sleep(0.02)
            else:
                return connected

    @classmethod
    async def _connect(cls, session_bus: str) -> "Accessibility":
        from dbus_fast.aio import MessageBus

        session = await MessageBus(bus_address=session_bus).connect()
        try:
            (address,) = await cls(session).call(("org.a11y.Bus", "/org/a11y/bus"), "org.a11y.Bus", "GetAddress")
        finally:
            session.disconnect()
        found = cls(await MessageBus(bus_address=address).connect())
        try:
            for event in _EVENTS:  # without a listener, programs do not fill their caches
                await found.call((_REGISTRY, "/org/a11y/atspi/registry"), _REGISTRY, "RegisterEvent", "s", event)
            for kind in ("Object", "Window"):
                rule = f"type='signal',interface='{_A}Event.{kind}'"
                await found.call(
                    ("org.freedesktop.DBus", "/org/freedesktop/DBus"), "org.freedesktop.DBus", "AddMatch", "s", rule
                )
        except BaseException:
            found.close()
            raise
        return found

    def close(self) -> None:
        with suppress(Exception):  # the bus may have ended already
            self._bus.disconnect()

    @property
    def connected(self) -> bool:
        return self._bus.connected

    def _note(self, message: "Message") -> None:
        if message.interface and message.interface.startswith(f"{_A}Event."):
            self.changed_at = time.monotonic()

    async def call(
        self,
        ref: Ref,
        interface: str,
        member: str,
        signature: str = "",
        *arguments: Any,
        seconds: float = _ANSWERS_WITHIN,
    ) -> list[Any]:
        """Call a method and return the body of the answer. Raise `NoAnswer` for an error, or if no answer comes in time."""
        from dbus_fast import Message, MessageType

        message = Message(
            destination=ref[0],
            path=ref[1],
            interface=interface,
            member=member,
            signature=signature,
            body=list(arguments),
        )
        async with self._calls:
            try:
                answer = await asyncio.wait_for(self._bus.call(message), seconds)
            except TimeoutError as problem:
                raise Late(f"{member}: no answer within {seconds:g} s") from problem
            except (OSError, EOFError) as problem:
                raise NoAnswer(f"{member}: {problem or 'no answer'}") from problem
        if answer.message_type is MessageType.ERROR:
            raise NoAnswer(f"{member}: {answer.body}")
        return answer.body

    async def ask(self, ref: Ref, interface: str, member: str, signature: str = "", *arguments: Any) -> Any:
        """Call a method and return the first value of the answer. Raise `NoAnswer` like `call`."""
        answer = await self.call(ref, f"{_A}{interface}", member, signature, *arguments)
        return answer[0] if answer else None

    async def get(self, ref: Ref, interface: str, name: str, seconds: float = _ANSWERS_WITHIN) -> Any:
        """Return a property. Raise `NoAnswer` like `call`."""
        (value,) = await self.call(ref, _PROPERTIES, "Get", "ss", f"{_A}{interface}", name, seconds=seconds)
        return value.value

    # --- programs and their nodes

    async def read_programs(self) -> list[Program]:
        """Return every program that describes its windows, with its nodes."""
        children = await self.ask((_REGISTRY, _ROOT), "Accessible", "GetChildren")
        return [
            each for each in await asyncio.gather(*(self._read_program(bus_name) for bus_name, _ in children)) if each
        ]

    async def ping(self) -> None:
        """Return when every program has answered, or its time for that is over. Raise `NoAnswer` if the bus does not answer."""
        children = await self.ask((_REGISTRY, _ROOT), "Accessible", "GetChildren")
        asking = (self.get((bus_name, _ROOT), "Accessible", "ChildCount") for bus_name, _ in children)
        await asyncio.gather(*asking, return_exceptions=True)

    async def _read_program(self, bus_name: str) -> Program | None:
        try:
            if bus_name in self._silent:
                await self.get((bus_name, _ROOT), "Accessible", "ChildCount", seconds=_SILENT_ANSWERS_WITHIN)
                self._silent.discard(bus_name)
            if bus_name not in self._names:
                self._names[bus_name] = await self._identify(bus_name)
            name, pid = self._names[bus_name]
            program = Program(bus_name=bus_name, name=name, pid=pid)
            windows = await self.ask((bus_name, _ROOT), "Accessible", "GetChildren")
            program.windows = tuple(path for owner, path in windows if owner == bus_name)
            with suppress(NoAnswer):  # some toolkits have no cache
                items = await self.ask((bus_name, "/org/a11y/atspi/cache"), "Cache", "GetItems")
                for item in items:
                    node = _build_node(item)
                    program.nodes[node.ref[1]] = node
            for path in program.windows:
                await self._complete(program, path)
            new_roles = {node.role: node for node in program.nodes.values() if node.role not in self.roles}
            for role, node in new_roles.items():
                with suppress(NoAnswer):
                    self.roles[role] = await self.ask(node.ref, "Accessible", "GetRoleName")
        except Late:
            if bus_name not in self._names:
                return None
            self._silent.add(bus_name)
            name, pid = self._names[bus_name]
            return Program(bus_name=bus_name, name=name, pid=pid, silent=True)
        except NoAnswer:
            return None
        return program

    async def _identify(self, bus_name: str) -> tuple[str, int]:
        name = await self.get((bus_name, _ROOT), "Accessible", "Name")
        bus = ("org.freedesktop.DBus", "/org/freedesktop/DBus")
        (pid,) = await self.call(bus, "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", bus_name)
        return str(name), int(pid)

    async def _complete(self, program: Program, path: str) -> None:
        """Read the visible nodes below this one that the cache does not have."""
        if path not in program.nodes:
            try:
                program.nodes[path] = await self._read(program, path, "", 0)
            except NoAnswer:
                return
        node = program.nodes[path]
        if not node.is_("showing") and path not in program.windows:
            return
        known, count = {child.ref[1] for child in program.children(path)}, node.children
        with suppress(NoAnswer):
            if count < 0:  # the node manages its children by itself
                count = int(await self.get(node.ref, "Accessible", "ChildCount"))
            if len(known) < count <= _MOST_CHILDREN:
                refs = enumerate(await self.ask(node.ref, "Accessible", "GetChildren"))
                missing = [
                    (index, ref) for index, (owner, ref) in refs if owner == program.bus_name and ref not in known
                ]
                reading = (self._read(program, ref, path, index) for index, ref in missing)
                for child in await asyncio.gather(*reading, return_exceptions=True):
                    if isinstance(child, Node):
                        program.nodes[child.ref[1]] = child
        for child in program.children(path):
            await self._complete(program, child.ref[1])

    async def _read(self, program: Program, path: str, parent: str, index: int) -> Node:
        ref = (program.bus_name, path)
        name, description, role, states, interfaces, children = await asyncio.gather(
            self.get(ref, "Accessible", "Name"),
            self.get(ref, "Accessible", "Description"),
            self.ask(ref, "Accessible", "GetRole"),
            self.ask(ref, "Accessible", "GetState"),
            self.ask(ref, "Accessible", "GetInterfaces"),
            self.get(ref, "Accessible", "ChildCount"),
        )
        return Node(
            ref=ref,
            parent=parent,
            index=index,
            role=role,
            name=name,
            description=description,
            interfaces=frozenset(interfaces),
            states=_join_words(states),
            children=children,
        )

    # --- one node

    async def read_extents(self, node: Node) -> tuple[int, int, int, int] | None:
        """Return left, top, width and height of a node on the screen, or None if it is not there."""
        try:
            x, y, width, height = await self.ask(node.ref, "Component", "GetExtents", "u", _SCREEN)
        except (NoAnswer, TypeError):
            return None
        return (x, y, width, height) if width > 0 and height > 0 and x > -(1 << 20) else None

    async def read_text(self, node: Node) -> str | None:
        """Return all text of a node, or None if it has no text to read."""
        with suppress(NoAnswer):
            return str(await self.ask(node.ref, "Text", "GetText", "ii", 0, -1))
        return None

    async def read_value(self, node: Node) -> float | None:
        with suppress(NoAnswer):
            return float(await self.get(node.ref, "Value", "CurrentValue"))
        return None

    async def find_label(self, node: Node) -> Ref | None:
        """Return the object that, according to the program, labels a node."""
        with suppress(NoAnswer):
            for kind, targets in await self.ask(node.ref, "Accessible", "GetRelationSet"):
                if kind == _LABELLED_BY and targets:
                    return tuple(targets[0])
        return None

    async def list_actions(self, node: Node) -> Mapping[str, int]:
        """Return the actions of a node by name, with the number of each."""
        with suppress(NoAnswer):
            found = await self.ask(node.ref, "Action", "GetActions")
            return {name: index for index, (name, *_) in enumerate(found)}
        return {}

    async def do(self, node: Node, action: int) -> bool:
        """Perform an action. Raise `NoAnswer` if no answer comes: a program that opens a dialog may answer only after that was closed."""
        return bool(await self.ask(node.ref, "Action", "DoAction", "i", action))

    async def focus(self, node: Node) -> bool:
        with suppress(NoAnswer):
            return bool(await self.ask(node.ref, "Component", "GrabFocus"))
        return False

    async def write(self, node: Node, text: str) -> bool:
        with suppress(NoAnswer):
            return bool(await self.ask(node.ref, "EditableText", "SetTextContents", "s", text))
        return False


def _build_node(item: list[Any]) -> Node:
    """Build a node from an entry of a program's cache."""
    ref, _, parent, index, children, interfaces, name, role, description, states = item
    return Node(
        ref=(ref[0], ref[1]),
        parent=parent[1],
        index=index,
        role=role,
        name=name,
        description=description,
        interfaces=frozenset(interfaces),
        states=_join_words(states),
        children=children,
    )


def _join_words(words: list[int]) -> int:
    return words[0] | (words[1] << 32 if len(words) > 1 else 0)
