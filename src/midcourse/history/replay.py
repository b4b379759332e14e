"""What is computed again from a journal: the turns of a run that another process drives, a replay, and what a plan changed.

A replay is identical if the encoded commands and states are equal; its settings are given as text.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace

from midcourse.codec import encode
from midcourse.config.recovery import PRESETS
from midcourse.config.settings import Settings
from midcourse.config.variables import check_names
from midcourse.domain.budget import Limits
from midcourse.domain.commands import Command
from midcourse.domain.plan import PlanVersion
from midcourse.domain.run import Run
from midcourse.drive import Progress
from midcourse.errors import TaskInvalid
from midcourse.history.journal import Journal
from midcourse.policy.plan.diff import PlanDiff, compute_plan_diff
from midcourse.ports.store import JournalEvent
from midcourse.replay import Replayed, count_carried_out, replay, take_turn

COMMANDS = tuple[Command, ...]
DECIDING = tuple(field.name for field in fields(Limits))
"""Settings that the director uses."""


def changed_limits(limits: Limits, changes: Mapping[str, str]) -> Limits:
    """The limits with these changes, which are given as text. The others stay as recorded."""
    check_names(changes, Settings)
    for name in changes:
        if name not in DECIDING and name != "recovery":
            raise TaskInvalid(f"--set {name}: the director does not go by it, so it changes nothing in a replay")
    read = Settings.load(overrides=changes)
    names = {*changes, *PRESETS[read.recovery]} - {"recovery"} if "recovery" in changes else changes
    return replace(limits, **{name: getattr(read, name) for name in names})


def replay_journal(journal: Journal, changes: Mapping[str, str] | None = None) -> Replayed:
    again = replay(journal.opening, journal.rows, changed_limits(journal.opening.limits, changes or {}))
    return _check_bytes(journal, again) if again.verdict == "identical" else again


def _check_bytes(journal: Journal, again: Replayed) -> Replayed:
    for row, commands in zip(journal.rows, again.commands, strict=True):
        if encode(commands, COMMANDS) != encode(row.commands, COMMANDS):
            detail = f"nondeterminism at event {row.seq}: the same commands are written down in another way"
            return replace(again, verdict="nondeterminism", at=row.seq, detail=detail)
    if encode(again.final) != encode(journal.state):
        last = journal.rows[-1].seq if journal.rows else 0
        detail = f"nondeterminism at event {last}: the same commands, but another state than the recorded one"
        return replace(again, verdict="nondeterminism", at=last, detail=detail)
    return again


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


@dataclass(frozen=True, kw_only=True)
class PlanComparison:
    before: PlanVersion
    after: PlanVersion
    """The later plan. It says why it was made and, after a failure, what was known about it (`context`)."""
    found: PlanDiff


def compare_plans(journal: Journal, earlier: int, later: int) -> PlanComparison:
    """Compare two plan versions. Raises `TaskInvalid` for an unknown version, and names those that exist."""
    before, after = _require_plan(journal, earlier), _require_plan(journal, later)
    reached = count_carried_out(journal.opening, journal.rows)
    return PlanComparison(
        before=before, after=after, found=compute_plan_diff(before, after, reached.get(before.version, 0))
    )


def _require_plan(journal: Journal, version: int) -> PlanVersion:
    plan = journal.plan(version)
    if plan is None:
        made = ", ".join(str(plan.version) for plan in journal.plans) or "none"
        raise TaskInvalid(f"run {journal.opening.id} has no plan {version}; there are: {made}")
    return plan
