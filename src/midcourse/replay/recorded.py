"""The input and the result of a replay."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from midcourse.domain.commands import Command
from midcourse.domain.events import Event
from midcourse.domain.moves import FinalReason
from midcourse.domain.phases import Ended
from midcourse.domain.result import SUCCESSES
from midcourse.domain.run import Run

Verdict: TypeAlias = Literal[
    "identical",
    "nondeterminism",
    "same_course",
    "ends_earlier",
    "asks_earlier",
    "undetermined",
    "not_recorded",
]

EXACT = ("ends_earlier", "asks_earlier")

Commands: TypeAlias = tuple[Command, ...]


class RecordedTurn(Protocol):
    """One recorded turn, as in a store's journal."""

    @property
    def seq(self) -> int: ...
    @property
    def event(self) -> Event: ...
    @property
    def commands(self) -> Commands: ...


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What a run has done and spent up to a point."""

    calls: int
    planner_calls: int
    executions: int
    completed: int
    """The number of completed steps."""
    seconds: float

    def minus(self, other: "Tally") -> "Tally":
        return Tally(
            calls=self.calls - other.calls,
            planner_calls=self.planner_calls - other.planner_calls,
            executions=self.executions - other.executions,
            completed=self.completed - other.completed,
            seconds=self.seconds - other.seconds,
        )


def build_tally(run: Run) -> Tally:
    return Tally(
        calls=run.budget.spent.calls,
        planner_calls=run.counts.planner_calls,
        executions=run.counts.executions,
        completed=run.counts.completed,
        seconds=max(0.0, run.now - run.started_at),
    )


@dataclass(frozen=True, kw_only=True)
class Lost:
    """What the recorded run achieved and the changed run would not have."""

    steps: int
    """The number of completed steps."""
    success: bool
    """Whether the recorded run succeeded."""


@dataclass(frozen=True, kw_only=True)
class Replayed:
    verdict: Verdict
    at: int = 0
    """The recorded event at which the two runs diverge; 0 if they do not."""
    detail: str = ""
    final: Run
    """The state after the last turn that is certain."""
    commands: tuple[Commands, ...]
    """The issued commands of each turn, up to and including the one in which the two runs diverge."""
    recorded: Tally
    """The tally of the whole recorded run."""
    until: Tally
    """The tally of the certain part of the changed run."""
    reached: FinalReason | None = None
    """How the recorded run ended, if it did."""

    @property
    def saved(self) -> Tally | None:
        """What the recorded run spent after the divergence; None if unknown."""
        return self.recorded.minus(self.until) if self.verdict in EXACT else None

    @property
    def lost(self) -> Lost | None:
        """What the recorded run achieved after the divergence; None if unknown."""
        if self.verdict not in EXACT:
            return None
        return Lost(steps=self.recorded.completed - self.until.completed, success=self.reached in SUCCESSES)


def build_result(
    verdict: Verdict, run: Run, recorded: Run, issued: Sequence[Commands], *, at: int = 0, detail: str = ""
) -> Replayed:
    return Replayed(
        verdict=verdict,
        at=at,
        detail=detail,
        final=run,
        commands=tuple(issued),
        recorded=build_tally(recorded),
        until=build_tally(run),
        reached=recorded.phase.reason if isinstance(recorded.phase, Ended) else None,
    )
