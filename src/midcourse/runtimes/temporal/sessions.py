"""The worlds' sessions that a worker holds. Letting go of one closes nothing: whoever needs it attaches to it."""

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


class Sessions:
    """At most `most` at a time; those that were not needed for longest go first."""

    def __init__(self, ports_for: PortsFor, most: int) -> None:
        self._ports_for = ports_for
        self._most = most
        self._held: OrderedDict[str, Ports] = OrderedDict()

    async def reach(self, run_id: str, command: Command, *, turn: Turn, ours: bool) -> Reached:
        """`ours`: the command was sent to us as the holder. Otherwise somebody else may have held the session since, and
        only a new epoch is good for anything. The world that an earlier command of ours may still use keeps its old one.
        """
        held = self._held.get(run_id)
        if held and (ours or isinstance(command, AskPerson | Record)):
            self._held.move_to_end(run_id)
            return Reached(ports=held)
        ports = await self._ports_for(run_id)
        if isinstance(command, AskPerson | Record):
            return Reached(ports=ports)
        if isinstance(ports.world, Ordered):
            ports.world.come_for(turn)
        handle = await ports.store.session(run_id)
        if held and not handle:
            return Reached(ports=held)  # nobody could have taken over from us: there is nothing to attach by
        gone = not isinstance(command, OpenWorld) and not await _attach(ports, handle)
        self._hold(run_id, ports)
        return Reached(ports=ports, taken=True, gone=gone)

    def release(self, run_id: str) -> None:
        self._held.pop(run_id, None)

    def _hold(self, run_id: str, ports: Ports) -> None:
        self._held[run_id] = ports
        self._held.move_to_end(run_id)
        while len(self._held) > self._most:
            self._held.popitem(last=False)


async def _attach(ports: Ports, handle: str) -> bool:
    if not handle:
        return False
    try:
        return await asyncio.wait_for(ports.world.attach(handle), ports.task.limits.look_timeout_seconds)
    except Exception:
        return False
