"""Computes the turns of a run from its journal while that is still being written."""

from collections.abc import Iterable

from midcourse.domain.run import Run
from midcourse.drive import Progress
from midcourse.ports.store import JournalEvent
from midcourse.replay import take_turn


class Trail:
    """The states of a run, computed with the director by a process that follows it."""

    def __init__(self, opening: Run) -> None:
        self.run = opening

    def take(self, rows: Iterable[JournalEvent]) -> tuple[Progress, ...]:
        """Compute the turns of these rows, which must follow the rows taken before."""
        turns: list[Progress] = []
        for row in rows:
            self.run, commands = take_turn(self.run, row.event)
            turns.append(Progress(event=row.event, run=self.run, commands=commands))
        return tuple(turns)
