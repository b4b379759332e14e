"""Another director, as after a deploy: it waits a moment before each first plan."""

import dataclasses

from midcourse.director.decide import ENTER
from midcourse.director.segment import ask_planner
from midcourse.director.turn import Turn
from midcourse.domain.moves import AskPlanner, BackOff
from midcourse.domain.run import Run


def use_another_director() -> None:
    """Replace the director in this process permanently."""
    ENTER[AskPlanner] = hesitate


def hesitate(run: Run, move: AskPlanner) -> Turn:
    """Wait before the first question to the planner."""
    if move.turn == 0:
        return run, BackOff(seconds=0.05, then=dataclasses.replace(move, turn=1))
    return ask_planner(run, move)
