"""The state of a task in the terms of task lists, derived from the run."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from midcourse.domain.records.summary import SUCCESSES

if TYPE_CHECKING:
    from midcourse.domain.run import Run

TaskState: TypeAlias = Literal[
    "PENDING", "PLANNING", "PENDING_APPROVAL", "APPROVED", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"
]
"""`APPROVED`: there is a plan, and nothing in it awaits approval. `FAILED`: the run ended without success, or a step failed and a
new plan is being made."""


def task_state(run: "Run") -> TaskState:
    from midcourse.domain.phases import Planning  # not loaded to list runs

    if isinstance(run.phase, Planning) and run.phase.asked.cause == "error":
        return "FAILED"
    if run.segment is None and run.phase.kind == "looking":
        return "PENDING"
    return state_in_phase(run.phase.kind, getattr(run.phase, "reason", ""))


def state_in_phase(phase: str, final_reason: str) -> TaskState:
    """The state by phase alone, for lists of runs, which do not record why a plan is being made."""
    match phase:
        case "new" | "opening":
            return "PENDING"
        case "planning":
            return "PLANNING"
        case "asking":
            return "PENDING_APPROVAL"
        case "paused":
            return "PAUSED"
        case "ended":
            if final_reason in SUCCESSES:
                return "COMPLETED"
            return "CANCELLED" if final_reason == "cancelled" else "FAILED"
        case _:
            return "APPROVED"
