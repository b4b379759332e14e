"""A run's journal as turns, while it is still being written.

A place of the journal may be written again. A pause that was asked for during an act takes the place that the act's answer
was written to; a worker that wrote an answer and died may never have been heard. So the latest turns are provisional: they are
read once more, and what has changed is reported again. What was reported before is not reported twice.
"""

from collections.abc import Iterable
from dataclasses import replace

from midcourse.domain.event import Event
from midcourse.domain.run import Run
from midcourse.drive import Progress
from midcourse.ports.store import Happened
from midcourse.replay import turn

PROVISIONAL = 32
"""Turns that may still change. At most what was under way at one moment can."""


class Trail:
    def __init__(self, opening: Run) -> None:
        self._before = opening
        """The state before the turns that are provisional."""
        self._turns: list[Progress] = []
        self._taken_back: list[Event] = []
        """What was told of a place that was written again; it may turn up in another."""

    @property
    def run(self) -> Run:
        return self._turns[-1].run if self._turns else self._before

    @property
    def above(self) -> int:
        """The place from which on the journal is to be read again."""
        return self._before.seq

    def take(self, rows: Iterable[Happened]) -> tuple[Progress, ...]:
        """The turns that are news. A row that comes after a gap has led nowhere yet."""
        fresh: list[Progress] = []
        for row in rows:
            place = row.seq - self._before.seq - 1
            if place < len(self._turns):
                if self._turns[place].event == row.event:
                    continue
                self._taken_back += [turn.event for turn in self._turns[place:]]
                del self._turns[place:]
            if place > len(self._turns):
                break
            run, commands = turn(self.run, row.event)
            taken = Progress(event=row.event, run=run, commands=commands)
            self._turns.append(taken)
            fresh = self._with(fresh, taken)
        self._settle()
        return tuple(fresh)

    def _with(self, fresh: list[Progress], taken: Progress) -> list[Progress]:
        """What was told already only adds to the turn before it."""
        if taken.event not in self._taken_back or not fresh:
            return [*fresh, taken]
        self._taken_back.remove(taken.event)
        *rest, last = fresh
        return [*rest, replace(last, run=taken.run, commands=(*last.commands, *taken.commands))]

    def _settle(self) -> None:
        settled = len(self._turns) - PROVISIONAL
        if settled > 0:
            self._before = self._turns[settled - 1].run
            del self._turns[:settled]
        del self._taken_back[:-PROVISIONAL]
