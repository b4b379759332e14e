"""Judges whether planning again fixed a failure: one verdict per run and failure.

`fixed`: a plan that was made because of the failure, or a later one, was carried out to its last step, and the failure did
not recur. `unhelpful`: it recurred, or no plan avoided it. Verdicts are made in hindsight and replaced each time. There
is none if the run ended for another reason or never planned again.
"""

from collections.abc import Iterable, Sequence

from midcourse.domain.argument import Argument, Reference
from midcourse.domain.moves import DEAD_ENDS, FinalReason
from midcourse.domain.plan import REPLAN, PlanVersion, Step
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.records.lesson import Lesson, LessonVerdict, Untrusted
from midcourse.policy.failure.signature import trigram_embedding

LONGEST_FIX = 400

RUNTIME_REASONS = ("held", "lost", "not_dispatched", "stale_target", "unknown_skill", "bad_arguments", "world_lost")
"""Reasons that concern the runtime, the planner or the connection, so no lessons are kept for them."""


def can_teach(reason: str) -> bool:
    return reason not in RUNTIME_REASONS


def judge_lessons(
    plans: Sequence[PlanVersion], entries: Sequence[LedgerEntry], ended: FinalReason | None = None
) -> tuple[LessonVerdict, ...]:
    """Verdicts in the order in which the failures were first met. `ended`: why the run is over, if it is."""
    met = dict.fromkeys(entry.lesson for entry in entries if entry.lesson)
    return tuple(_judge_lesson(key, plans, entries, ended) for key in met)


def _judge_lesson(
    key: str, plans: Sequence[PlanVersion], entries: Sequence[LedgerEntry], ended: FinalReason | None
) -> LessonVerdict:
    error_plans = [
        plan.version for plan in plans if plan.cause == "error" and _last_lesson(entries, plan.version - 1) == key
    ]
    gave_up = ended == "empty_plan" and bool(entries) and entries[-1].lesson == key
    if not error_plans:
        return LessonVerdict(lesson=key, verdict="unhelpful" if gave_up else None)
    first, latest = error_plans[0], error_plans[-1]
    recurred = any(entry.lesson == key and entry.version >= latest for entry in entries)
    if not recurred and any(_was_carried_out(plan, entries) for plan in plans if plan.version >= latest):
        fixing = next(plan for plan in plans if plan.version == latest)
        steps = "; ".join(_describe_step(step) for step in fixing.steps if step.zone != REPLAN)
        return LessonVerdict(lesson=key, verdict="fixed", fix=Untrusted(text=steps[:LONGEST_FIX]))
    recurred_at_all = any(entry.lesson == key and entry.version >= first for entry in entries)
    return LessonVerdict(lesson=key, verdict="unhelpful" if recurred_at_all or ended in DEAD_ENDS else None)


def _last_lesson(entries: Sequence[LedgerEntry], version: int) -> str:
    """The lesson key of the failure that ended the plan of this version, or an empty string."""
    tries = [entry for entry in entries if entry.version == version]
    return tries[-1].lesson if tries else ""


def _was_carried_out(plan: PlanVersion, entries: Sequence[LedgerEntry]) -> bool:
    last = max((step.index for step in plan.steps if step.zone != REPLAN), default=-1)
    return any(
        (entry.version, entry.index) == (plan.version, last)
        and entry.outcome is not None
        and entry.outcome.status == "ok"
        for entry in entries
    )


def _describe_step(step: Step) -> str:
    target = f" {step.target.role} '{step.target.label}'" if step.target.role or step.target.label else ""
    given = ", ".join(f"{name}={_value(value)}" for name, value in step.arguments)
    return f"{step.skill}{target} ({given})" if given else f"{step.skill}{target}"


def _value(value: Argument) -> str:
    """The argument as a plan writes it: inputs and secrets by name."""
    return f"${value.source}.{value.name}" if isinstance(value, Reference) else str(value)


def rank_by_task(
    lessons: Iterable[Lesson], error_type: str, task: str, *, above: float, limit: int
) -> tuple[tuple[Lesson, float], ...]:
    """Lessons of this error type by the similarity of their tasks, which is below 1: only the same signature is the same failure."""
    wanted = trigram_embedding(task).values
    near = [
        (lesson, min(0.99, sum(a * b for a, b in zip(wanted, trigram_embedding(lesson.task.text).values, strict=True))))
        for lesson in lessons
        if lesson.error_type == error_type and lesson.task.text
    ]
    return tuple(sorted((pair for pair in near if pair[1] >= above), key=lambda pair: -pair[1])[:limit])
