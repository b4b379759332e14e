"""The states of runs, for lists."""

from collections.abc import Sequence

from midcourse.domain.records.summary import SUCCESSES, RunSummary
from midcourse.home.folder import Catalogue


def local_state(store: Catalogue, run: RunSummary) -> str:
    """The state of a run on this machine: `interrupted` if it has not ended and no process drives it."""
    ended = run.phase == "ended" and run.final_reason
    return driven_state(run) if ended or store.is_claimed(run.id) else "interrupted"


def driven_state(run: RunSummary) -> str:
    """The state of a run that has ended, or that a process or worker drives."""
    if run.phase == "ended" and run.final_reason:
        if run.final_reason not in SUCCESSES:
            return "failed"
        if run.verified or run.final_reason == "goal_reached":
            return "done, verified"
        return "returned" if run.sending == "call" else "done, not verified"
    return {"asking": "asking", "paused": "paused"}.get(run.phase, "running")


def batch_of(run_id: str, batches: Sequence[str]) -> str | None:
    """The batch that the run belongs to; None if it is not a row of a batch."""
    head, dash, number = run_id.rpartition("-")
    return head if dash and number.isdigit() and head in batches else None
