"""Values that pass through Temporal, and so into every history: as small as possible, and never a screen."""

from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

from pydantic import Discriminator

from midcourse.domain.command import Command
from midcourse.domain.event import ApprovalDecided, CancelAsked, Event, Guided, PauseAsked, ResumeAsked
from midcourse.domain.run import Run
from midcourse.ports.store import Happened

WORKFLOW = "run"
ACTIVITY = "perform"
UPDATE = "tell"
ELSEWHERE = "elsewhere"
"""The type of the error with which a worker turns work down that is for another one."""

Word: TypeAlias = Annotated[
    ApprovalDecided | PauseAsked | ResumeAsked | CancelAsked | Guided,
    Discriminator("kind"),
]
"""What people may tell a run."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How patient the engine is. It travels with the run, so that a replay sees what the run saw."""

    heartbeat_seconds: float = 10.0
    """Without a heartbeat for this long, the worker of a command counts as lost."""
    session_seconds: float = 2.0
    """How long a command waits for the worker that holds the world's session before any other may take it."""
    margin_seconds: float = 30.0
    """Seconds on top of a command's time limit: for reaching the world and writing records."""
    continue_after: int = 2000
    """Events of history after which the run continues in a new execution."""
    rest_after: int = 100
    """The same, if a person is waited for anyway."""


@dataclass(frozen=True, kw_only=True)
class Start:
    """A run to drive from this state on: new, continued, or picked up from the store."""

    run: Run
    pace: Pace = field(default_factory=Pace)
    unwritten: tuple[Happened, ...] = ()
    picked_up: bool = False
    """Pending commands were under way when an earlier execution broke: their results are unknown."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """A command, the place in the journal that its answer will take, and rows that are not written yet."""

    command: Command
    seq: int
    rows: tuple[Happened, ...] = ()
    holder: str = ""
    """The worker that holds the world's session, if one does: only that worker may perform it."""


@dataclass(frozen=True, kw_only=True)
class Done:
    """The result of a command. `holder` is the worker that has just taken the world's session."""

    event: Event
    holder: str = ""
    gone: bool = False
    """There was no session to perform it in: it is time to look at the world."""


def queue_of(tenant: str) -> str:
    return f"midcourse-{tenant}"


def session_queue(holder: str) -> str:
    """By which a worker is sent what has to do with the sessions that it holds."""
    return f"session-{holder}"


def workflow_id(tenant: str, run_id: str) -> str:
    return f"{tenant}/{run_id}"


def run_id_of(workflow: str) -> str:
    return workflow.partition("/")[2]
