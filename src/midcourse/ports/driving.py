"""Port of driving: claims, turns that only the latest claim may write, rest, and who is told of turns.

One locked record per run decides every turn, message and rest, so no message can arrive unnoticed between two of them.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from midcourse.domain.command import Command
from midcourse.domain.event import Event
from midcourse.domain.run import Run
from midcourse.ports.inbox import Inbox
from midcourse.ports.store import Store


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The right to drive a run, until the next claim."""

    run: str
    epoch: int
    """Grows with every claim."""
    holder: str = ""
    """Random: a database that lost its last commits may give out an epoch again, but not to the same holder."""
    decided: int = 0
    """The number of the last message that is in the journal."""
    rested_at: int = -1
    """The turn after which the last driver rested with no command under way; -1: it did not."""


class MessageWaiting(Exception):
    """A turn was refused: a message was accepted on the state before it, so that message is decided first."""


class Turns(Protocol):
    """Where a driver writes its turns."""

    async def keep(
        self,
        run: Run,
        event: Event,
        commands: tuple[Command, ...],
        *,
        claim: Claim | None = None,
        known: int | None = None,
        message: int = 0,
    ) -> None:
        """As `Store.keep`. Nothing is written if it is refused.

        Raises `RunBusy` if the run was claimed since, and `MessageWaiting` if there are messages above `known`. `message` is
        the number of this event if it is one.
        """
        ...


class Driving(Inbox, Turns, Protocol):
    """What a driver needs of a store."""

    async def claim_run(self, run_id: str, *, placed: int = 0) -> Claim:
        """Claim a run: from now on earlier claims write nothing.

        `placed` is the time at which a supervisor placed this driver. Raises `RunBusy` if one that was placed later has
        claimed it: a worker that was frozen before its claim must not shut out its replacement.
        """
        ...

    async def rest(self, claim: Claim, *, seq: int, known: int, wake_at: float | None = None) -> bool:
        """Record that no driver runs the run after turn `seq`, with no command under way but timers, the first due at `wake_at`.

        False: there are messages above `known`, so the driver continues. Raises `RunBusy` if the run was claimed since.
        """
        ...


class Records(Turns, Store, Protocol):
    """What one command writes. It is stored together with the turn of the command's answer, or earlier."""


class Batching(Protocol):
    """A store that writes a command's records and its turn in one transaction."""

    def records(self, claim: Claim) -> Records: ...


class Durable(Protocol):
    """A store that can tell whether its server keeps what it has confirmed."""

    async def check_durability(self) -> None:
        """Raises `FleetUnavailable` if it may not."""
        ...


class SharedStore(Store, Inbox, Protocol):
    """A store in which the workers of a fleet drive runs."""

    async def unread(self, known: dict[str, int]) -> list[str]:
        """Those of these runs that have messages above the known number."""
        ...

    async def to_wake(self) -> list[tuple[str, int]]:
        """Runs that rest although they have messages, with the number of the last one."""
        ...

    async def take_due(self, now: float, again_at: float) -> list[tuple[str, int]]:
        """Runs that rest although their `wake_at` has come, with the number of their last message.

        Each is returned once; it counts as due again at `again_at`, in case its waking is lost.
        """
        ...

    async def listen(self, on_message: Callable[[str], None]) -> None:
        """Call `on_message` with the id of every run that gets a message, until cancelled. Some may be missed."""
        ...


class Telemetry(Protocol):
    """What a driver tells of every turn. It must not fail or delay the run."""

    def follow(self, run: Run) -> AbstractContextManager[None]:
        """Entered while this process drives the run, beginning with this state."""
        ...

    def tell(self, event: Event, run: Run, commands: tuple[Command, ...]) -> None:
        """A turn was stored: the event, the state that it led to, and the commands issued."""
        ...
