"""Compares two plan versions of a run."""

from dataclasses import dataclass

from midcourse.domain.plan import PlanVersion
from midcourse.errors import TaskInvalid
from midcourse.history.journal import Journal
from midcourse.policy.plan.diff import PlanDiff, compute_plan_diff
from midcourse.replay import count_carried_out


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
