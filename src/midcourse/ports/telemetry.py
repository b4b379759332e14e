"""Port of telemetry: is told of every turn of a run while a process drives it."""

from contextlib import AbstractContextManager
from typing import Protocol

from midcourse.domain.command import Command
from midcourse.domain.event import Event
from midcourse.domain.run import Run


class Telemetry(Protocol):
    """What it does must not fail or delay the run."""

    def follow(self, run: Run) -> AbstractContextManager[None]:
        """Entered while this process drives the run, beginning with this state."""
        ...

    def tell(self, event: Event, run: Run, commands: tuple[Command, ...]) -> None:
        """A turn was stored: the event, the state that it led to, and the commands issued."""
        ...
