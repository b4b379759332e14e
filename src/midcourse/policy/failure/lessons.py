"""Judges whether planning again fixed a failure: one verdict a run for each failure that it met.

`mended`: a plan that was made because of the failure, or a later one, was carried out to its last step, and the failure did
not come back. `in_vain`: it came back, or no plan led out of it. Verdicts are made with hindsight and replaced each time. There
is none where the run ended for another reason or never planned again.
"""

from collections.abc import Sequence

from midcourse.domain.move import NO_WAY_ON, FinalReason
from midcourse.domain.plan import REPLAN, PlanVersion, Step
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.records.lesson import Untrusted, Word

LONGEST_FIX = 400

OUR_OWN = ("held", "lost", "not_dispatched", "stale_target", "unknown_skill", "bad_arguments", "world_lost")
"""Reasons that are about the runtime, the planner or the connection, and so teach nothing about the world."""


def teaches(reason: str) -> bool:
    return reason not in OUR_OWN


def judge_lessons(
    plans: Sequence[PlanVersion], entries: Sequence[LedgerEntry], ended: FinalReason | None = None
) -> tuple[Word, ...]:
    """In the order in which the failures were first met. `ended`: why the run is over, if it is."""
    met = dict.fromkeys(entry.lesson for entry in entries if entry.lesson)
    return tuple(_word(key, plans, entries, ended) for key in met)


def _word(key: str, plans: Sequence[PlanVersion], entries: Sequence[LedgerEntry], ended: FinalReason | None) -> Word:
    because = [plan.version for plan in plans if plan.cause == "error" and _last_of(entries, plan.version - 1) == key]
    gave_up = ended == "empty_plan" and bool(entries) and entries[-1].lesson == key
    if not because:
        return Word(lesson=key, verdict="in_vain" if gave_up else None)
    first, latest = because[0], because[-1]
    came_back = any(entry.lesson == key and entry.version >= latest for entry in entries)
    if not came_back and any(_carried_out(plan, entries) for plan in plans if plan.version >= latest):
        made = next(plan for plan in plans if plan.version == latest)
        return Word(lesson=key, verdict="mended", fix=Untrusted(text=_in_words(made.steps)))
    again = any(entry.lesson == key and entry.version >= first for entry in entries)
    return Word(lesson=key, verdict="in_vain" if again or ended in NO_WAY_ON else None)


def _last_of(entries: Sequence[LedgerEntry], version: int) -> str:
    """What the plan of this version failed of, if it did: the lesson of its last try."""
    tries = [entry for entry in entries if entry.version == version]
    return tries[-1].lesson if tries else ""


def _carried_out(plan: PlanVersion, entries: Sequence[LedgerEntry]) -> bool:
    last = max((step.index for step in plan.steps if step.zone != REPLAN), default=-1)
    return any(
        (entry.version, entry.index) == (plan.version, last)
        and entry.outcome is not None
        and entry.outcome.status == "ok"
        for entry in entries
    )


def _in_words(steps: Sequence[Step]) -> str:
    return "; ".join(_said(step) for step in steps if step.zone != REPLAN)[:LONGEST_FIX]


def _said(step: Step) -> str:
    """Without arguments: those are for this one time."""
    target = f" {step.target.role} '{step.target.label}'" if step.target.role or step.target.label else ""
    return f"{step.skill}{target}"
