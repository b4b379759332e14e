"""Words for causes, reasons, steps, durations and amounts, as people read them."""

from midcourse.domain.argument import Argument, Reference
from midcourse.domain.budget import Cost
from midcourse.domain.moves import FinalReason
from midcourse.domain.plan import REPLAN, Cause, PlanVersion, Step
from midcourse.presentation.moments import format_time as format_time

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
    "contradicted": "it says that it is done, but the records contradict it",
    "replan_exhausted": "the replans are used up",
    "replan_no_change": "the planner came back with what had failed or was finished",
    "structural_failure": "no plan can fix this",
    "budget_exhausted": "the budget is used up",
    "empty_plan": "the planner had nothing left to try",
    "rejected": "it was not approved",
    "needs_human": "a person must find out what happened",
    "planner_unavailable": "the planner could not be reached",
    "outage": "something it needs was unavailable for too long",
    "world_lost": "the world was lost",
    "deadline_exceeded": "the deadline has passed",
    "cancelled": "it was cancelled",
    "internal_error": "Midcourse made a mistake",
}


def plan_reason(plan: PlanVersion) -> str:
    """Why a plan version was made."""
    cause = CAUSES[plan.cause]
    if plan.reused is not None:
        return f"{cause}, as plan {plan.reused.version} of run {plan.reused.run}: the planner was not asked"
    return (
        f"{cause}: {plan.why}"
        if plan.cause in ("error", "guided", "reopened", "detour", "amended", "taken_over") and plan.why
        else cause
    )


def describe_step(step: Step) -> str:
    if step.zone == REPLAN:
        return LOOK_AGAIN
    return step.says or f"{step.skill} {step.target.label}".strip()


def describe_call(step: Step) -> str:
    """Skill and target of a step, as text to show below or beside its words."""
    if step.zone == REPLAN:
        return ""
    return f"{step.skill} '{step.target.label}'" if step.target.label else step.skill


def format_seconds(value: float) -> str:
    if value < 10:
        return f"{value:.1f} s"
    if value < 120:
        return f"{value:.0f} s"
    if value < 2 * 3600:
        return f"{value / 60:.0f} min"
    return f"{value / 3600:.1f} h"


def format_elapsed(value: float) -> str:
    whole = max(0, int(value))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def format_cost(cost: Cost) -> str:
    """An amount exactly, such as `$0.50` or `30 calls and 2000 tokens`."""
    dollars = f"{cost.microusd / 1e6:.6f}".rstrip("0")
    dollars += "0" * (2 - len(dollars.partition(".")[2]))
    amounts = (
        f"${dollars}" if cost.microusd else "",
        pluralize(cost.calls, "call") if cost.calls else "",
        pluralize(cost.tokens, "token") if cost.tokens else "",
    )
    return " and ".join(filter(None, amounts)) or "nothing"


def pluralize(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def format_argument(value: Argument) -> str:
    if isinstance(value, Reference):
        return f"<{value.source} {value.name}>"
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
