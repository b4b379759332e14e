"""The world sessions that a worker holds. Releasing one does not close it: another worker can attach to it."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from midcourse.domain.command import AskPerson, Command, OpenWorld, Record
from midcourse.perform import Ports
from midcourse.ports.world import Ordered, Turn

PortsFor: TypeAlias = Callable[[str], Awaitable[Ports]]
"""Everything that a run works with, by its id. Its world is neither open nor attached."""


@dataclass(frozen=True, kw_only=True)
class Reached:
    """What a command is performed with. `taken`: the session is ours from now on. `gone`: there is none any more."""

    ports: Ports
    taken: bool = False
    gone: bool = False


@dataclass(frozen=True)
class _Held:
    ports: Ports
    turn: Turn
    """The latest that it was reached on behalf of."""


class Sessions:
    """At most `most` at a time; those that were not needed for longest go first."""

    def __init__(self, ports_for: PortsFor, most: int) -> None:
        self._ports_for = ports_for
        self._most = most
        self._held: OrderedDict[str, _Held] = OrderedDict()

    async def reach(self, run_id: str, command: Command, *, turn: Turn, ours: bool) -> Reached:
        """`ours`: the command was sent to us as the holder. Otherwise another worker may have held the session since, and
        only a new epoch is good for anything. The world that an earlier command of ours may still use keeps its old one.
        """
        held = self._held.get(run_id)
        if isinstance(command, OpenWorld):  # on any host that is up now: the earlier one may be gone
            ports = await self._ports_for(run_id)
            self._hold(run_id, ports, turn)
            return Reached(ports=ports, taken=True)
        if held and (ours or isinstance(command, AskPerson | Record)):
            self._hold(run_id, held.ports, turn)
            return Reached(ports=held.ports)
        ports = await self._ports_for(run_id)
        if isinstance(command, AskPerson | Record):
            return Reached(ports=ports)
        handle = await ports.store.session(run_id)
        if held and not handle:  # without a handle no other worker can have taken over
            self._hold(run_id, held.ports, turn)
            return Reached(ports=held.ports)
        _come_for(ports, turn)
        gone = not await _attach(ports, handle)
        self._hold(run_id, ports, turn)
        return Reached(ports=ports, taken=True, gone=gone)

    def release(self, run_id: str) -> None:
        self._held.pop(run_id, None)

    def _hold(self, run_id: str, ports: Ports, turn: Turn) -> None:
        """Unless a later turn holds another: an attempt that was given up may get here after the one that replaced it."""
        held = self._held.get(run_id)
        if held is None or turn >= held.turn:
            _come_for(ports, turn)
            self._held[run_id] = _Held(ports, turn)
        self._held.move_to_end(run_id)
        while len(self._held) > self._most:
            self._held.popitem(last=False)


def _come_for(ports: Ports, turn: Turn) -> None:
    if isinstance(ports.world, Ordered):
        ports.world.come_for(turn)


async def _attach(ports: Ports, handle: str) -> bool:
    if not handle:
        return False
    try:
        return await asyncio.wait_for(ports.world.attach(handle), ports.task.limits.look_timeout_seconds)
    except Exception:
        return False
