"""Port of driving a run: claims, turns that only the latest claim may write, rests, and telemetry about turns.

One locked record per run orders all turns, messages and rests, so no message can arrive unnoticed between two of them.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from midcourse.domain.commands import Command
from midcourse.domain.events import Event
from midcourse.domain.run import Run
from midcourse.ports.controls import Inbox
from midcourse.ports.store import Store


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The right to drive a run, until the next claim."""

    run: str
    epoch: int
    """The number of the claim, which grows with every claim."""
    holder: str = ""
    """A random id. A database that lost its last commits may assign an epoch again, but not to the same holder."""
    decided: int = 0
    """The number of the last message that is in the journal."""
    rested_at: int = -1
    """The turn after which the last driver rested with no command under way; -1 if it did not rest."""


class MessageWaiting(Exception):
    """A turn was refused: a message was accepted for the state before the turn, so that message must be decided first."""


class Turns(Protocol):
    """The interface through which a driver writes its turns."""

    async def save_turn(
        self,
        run: Run,
        event: Event,
        commands: tuple[Command, ...],
        *,
        claim: Claim | None = None,
        known: int | None = None,
        message: int = 0,
    ) -> None:
        """Save a turn like `Store.save_turn`, or write nothing and raise.

        Raises `RunBusy` if the run was claimed again since, and `MessageWaiting` if there are messages above `known`. If this
        event is a message, `message` is its number.
        """
        ...


class Driving(Inbox, Turns, Protocol):
    """The methods of a store that a driver needs."""

    async def claim_run(self, run_id: str, *, placed: int = 0) -> Claim:
        """Claim a run. From now on, earlier claims can write nothing.

        `placed` is the time at which a supervisor placed this driver. Raises `RunBusy` if a driver that was placed later has
        claimed the run: a worker that hung before its claim must not displace its replacement.
        """
        ...

    async def rest(self, claim: Claim, *, seq: int, known: int, wake_at: float | None = None) -> bool:
        """Record that no driver runs the run after turn `seq`, with no command under way but timers, the first due at `wake_at`.

        False: there are messages above `known`, so the driver continues. Raises `RunBusy` if the run was claimed since.
        """
        ...


class Records(Turns, Store, Protocol):
    """The records that one command writes. They are stored together with the turn of the command's answer, or earlier."""


class Batching(Protocol):
    """A store that writes a command's records and its turn in one transaction."""

    def records(self, claim: Claim) -> Records: ...


class Durable(Protocol):
    """A store that can tell whether its server keeps what it has confirmed."""

    async def check_durability(self) -> None:
        """Raise `FleetUnavailable` if the server may lose what it has confirmed."""
        ...


class SharedStore(Store, Inbox, Protocol):
    """A store in which the workers of a fleet drive runs."""

    async def unread(self, known: dict[str, int]) -> list[str]:
        """The runs among these that have messages above the known number."""
        ...

    async def to_wake(self) -> list[tuple[str, int]]:
        """Runs that rest although they have messages, each with the number of its last message."""
        ...

    async def take_due(self, now: float, again_at: float) -> list[tuple[str, int]]:
        """Runs that rest although their `wake_at` has come, each with the number of its last message.

        Each run is returned once. It counts as due again at `again_at`, in case it could not be woken.
        """
        ...

    async def listen(self, on_message: Callable[[str], None]) -> None:
        """Call `on_message` with the id of every run that gets a message, until cancelled. Some may be missed."""
        ...


class Telemetry(Protocol):
    """Receives every turn from the driver. It must not fail or delay the run."""

    def follow(self, run: Run) -> AbstractContextManager[None]:
        """A context that is entered while this process drives the run. `run` is the state at its beginning."""
        ...

    def tell(self, event: Event, run: Run, issued: tuple[Command, ...]) -> None:
        """Report a stored turn: the event, the state that it led to, and the commands that were issued."""
        ...
