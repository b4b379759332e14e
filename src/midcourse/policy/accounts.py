"""Where did the money go? Keeps what a run has spent by role, plan and model, in few lines however long it takes."""

from midcourse.domain.budget import FREE
from midcourse.domain.replace import replace
from midcourse.domain.spending import Spent

MOST_LINES = 60
"""A run has to stay small. Of more, the earliest plans become one line a role and model."""


def booked(lines: tuple[Spent, ...], more: tuple[Spent, ...]) -> tuple[Spent, ...]:
    """With this added. Nothing is lost: the lines always add up to what was spent."""
    kept = lines
    for spent in more:
        if spent.cost != FREE:
            kept = _with(kept, spent)
    while len(kept) > MOST_LINES and (early := _earliest(kept)) is not None:
        kept = _with(tuple(line for line in kept if line is not early), replace(early, version=0))
    return kept


def _with(lines: tuple[Spent, ...], spent: Spent) -> tuple[Spent, ...]:
    for place, line in enumerate(lines):
        if (line.role, line.version, line.model) == (spent.role, spent.version, spent.model):
            return (*lines[:place], replace(line, cost=line.cost.plus(spent.cost)), *lines[place + 1 :])
    return (*lines, spent)


def _earliest(lines: tuple[Spent, ...]) -> Spent | None:
    return min((line for line in lines if line.version), key=lambda line: line.version, default=None)
