"""Values that pass through Temporal and into its histories, and the names that workers and clients agree on."""

from dataclasses import dataclass
from typing import Literal

WORKFLOW = "supervise"
ACTIVITY = "drive"
WAKE = "wake"


@dataclass(frozen=True, kw_only=True)
class Placement:
    """How a supervisor places drivers."""

    heartbeat_seconds: float = 10.0
    """Seconds without a heartbeat after which the worker of a driver counts as lost."""
    slice_seconds: float = 60.0
    """Seconds after which a driver hands its run over if its worker has no room for other runs."""
    cancelled: bool = False
    """Whether the execution itself was cancelled, so that the run has to be."""


@dataclass(frozen=True, kw_only=True)
class Left:
    """How a driver left its run, for the supervisor."""

    why: Literal["ended", "waits", "slice"]
    status: str
    final_reason: str = ""
    messages: int = 0
    wake_at: float | None = None


def name_queue(tenant: str) -> str:
    return f"midcourse-{tenant}"


def name_workflow(tenant: str, run_id: str) -> str:
    return f"{tenant}/{run_id}"


def read_run_id(workflow: str) -> str:
    return workflow.partition("/")[2]


SCHEDULE = "schedule:"


def name_schedule(tenant: str, name: str) -> str:
    """Return the id of the workflows of a schedule. Temporal appends the time of each firing."""
    return f"{SCHEDULE}{tenant}/{name}@"


def name_sealing_scope(workflow: str) -> str:
    """Return the id that payloads of a workflow are bound to: its own, or for a firing of a schedule that of the schedule, which sealed its task."""
    return f"{workflow.partition('@')[0]}@" if workflow.startswith(SCHEDULE) else workflow
