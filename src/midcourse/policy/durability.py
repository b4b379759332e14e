"""Decides which turns must survive a loss of power, for stores that flush the disk only where it matters."""

from midcourse.domain.budget import Cost, total
from midcourse.domain.commands import AskPerson, Command
from midcourse.domain.events import Acted, Event
from midcourse.domain.phases import Ended
from midcourse.domain.run import Run
from midcourse.policy.audit import is_human_input


def must_survive(run: Run, event: Event, commands: tuple[Command, ...]) -> bool:
    """Whether this turn must be on the disk before the next one, so that a power cut repeats nothing outside this computer.

    Other turns are observations, checks and plans that cost nothing, which a resumed run makes again. An act that must not be
    repeated is written to the ledger before it is sent, and the ledger is always flushed.
    """
    if isinstance(event, Acted) or is_human_input(event) or isinstance(run.phase, Ended):
        return True
    if any(isinstance(command, AskPerson) for command in commands) or _is_paid(total(getattr(event, "spent", ()))):
        return True
    issued = {command.id for command in commands}
    return any(_is_paid(pending.reserved) for pending in run.pending if pending.command.id in issued)


def _is_paid(cost: Cost) -> bool:
    """Whether a model was called. A planner that is a program costs a call and nothing else."""
    return bool(cost.tokens or cost.microusd)
