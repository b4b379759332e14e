"""What slugs and numbers are called in front of people."""

from midcourse.domain.argument import Argument, Reference
from midcourse.domain.move import FinalReason
from midcourse.domain.plan import REPLAN, Cause, PlanVersion, Step
from midcourse.domain.result import Result

LOOK_AGAIN = "look again, then plan on"

CAUSES: dict[Cause, str] = {
    "initial": "first plan",
    "adaptive": "after a transition",
    "error": "after a failure",
    "guided": "after guidance",
    "reopened": "world reopened",
    "amended": "changed by a person",
    "taken_over": "after a take-over",
    "detour": "detour",
}

REASONS: dict[FinalReason, str] = {
    "goal_reached": "the goal was reached",
    "plan_complete": "every step of the plan was carried out",
    "replan_exhausted": "the replans are used up",
    "replan_no_change": "the planner came back with what had failed or was finished",
    "structural_failure": "no plan can mend this",
    "budget_exhausted": "the budget is used up",
    "empty_plan": "the planner had nothing left to try",
    "rejected": "it was not approved",
    "needs_human": "a person has to find out how things stand",
    "planner_unavailable": "the planner could not be reached",
    "outage": "something it needs was away for too long",
    "world_lost": "the world was lost",
    "deadline_exceeded": "the deadline has passed",
    "cancelled": "somebody cancelled it",
    "internal_error": "Midcourse made a mistake",
}


def headline(result: Result) -> str:
    """Success and verified are two things, and said apart."""
    if result.success:
        return "done, and verified" if result.verified else "plan carried out, not verified"
    return f"failed: {REASONS[result.final_reason]}"


def why_made(plan: PlanVersion) -> str:
    """Why a plan version was made."""
    said = CAUSES[plan.cause]
    if plan.reused is not None:
        return f"{said}, as plan {plan.reused.version} of run {plan.reused.run}: the planner was not asked"
    return (
        f"{said}: {plan.why}"
        if plan.cause in ("error", "guided", "reopened", "detour", "amended", "taken_over") and plan.why
        else said
    )


def step_words(step: Step) -> str:
    if step.zone == REPLAN:
        return LOOK_AGAIN
    return step.says or f"{step.skill} {step.target.label}".strip()


def step_call(step: Step) -> str:
    """Skill and target, as a line under or beside the words."""
    if step.zone == REPLAN:
        return ""
    return f"{step.skill} '{step.target.label}'" if step.target.label else step.skill


def seconds(value: float) -> str:
    if value < 10:
        return f"{value:.1f} s"
    if value < 120:
        return f"{value:.0f} s"
    if value < 2 * 3600:
        return f"{value / 60:.0f} min"
    return f"{value / 3600:.1f} h"


def elapsed(value: float) -> str:
    whole = max(0, int(value))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def several(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def argument(value: Argument) -> str:
    if isinstance(value, Reference):
        return f"<{value.source} {value.name}>"
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
