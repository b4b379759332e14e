"""The interface of a desk, and the state of a run in lists."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from midcourse.agent.control import FollowedStore, RunControl
from midcourse.agent.fork import Forked
from midcourse.agent.start import StartedRun
from midcourse.agent.wiring import Job
from midcourse.config.settings import Settings
from midcourse.domain.approval import Question
from midcourse.domain.result import SUCCESSES
from midcourse.history.journal import Journal
from midcourse.ports.blobs import Blobs
from midcourse.ports.memory import Memory
from midcourse.ports.store import Listing, Prunable, RunSummary
from midcourse.ports.viewing import Gesture, Handled, View

RunState: TypeAlias = Literal["running", "asking", "paused", "interrupted", "done", "failed"]
"""`interrupted`: it has not ended, and nothing drives it."""


class DeskStore(FollowedStore, Listing, Prunable, Protocol):
    """The methods of a store that a desk needs."""


class Desk(Protocol):
    """The runs of one tenant. The message of every `MidcourseError` that a method raises says what to do."""

    @property
    def kind(self) -> Literal["local", "fleet"]: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def store(self) -> DeskStore: ...

    def state_of(self, run: RunSummary) -> RunState: ...

    def control(self, run_id: str) -> RunControl: ...

    async def refresh(self) -> None:
        """Load what `state_of` needs in addition to the store."""
        ...

    async def task_of(self, run: RunSummary) -> str:
        """The name of the task that the run was started from; empty for a run that a program started."""
        ...

    async def job_of(self, run_id: str) -> Job | None:
        """The job that the run was started from; None for a run that a program started."""
        ...

    async def start(self, job: Job, run_id: str, *, again: bool = False) -> StartedRun:
        """Store a run and start driving it, or return the earlier run with the same business key."""
        ...

    async def continue_start(self, run_id: str) -> None:
        """Start driving a stored run, if the process that stored it died before it did so."""
        ...

    async def resume(self, run_id: str) -> str:
        """End a pause, or continue an interrupted run. Returns why that has no effect, or an empty text."""
        ...

    async def open_questions(self, limit: int) -> tuple[Question, ...]:
        """Questions that can be decided now, the oldest run first."""
        ...

    @property
    def blobs(self) -> Blobs:
        """Screenshots of the runs."""
        ...

    def folder(self, run_id: str) -> Path | None:
        """The folder of the run's files; None if it is not on this machine."""
        ...

    def lessons(self, agent: str = "default") -> Memory: ...

    async def fork(
        self, journal: Journal, at: int, run_id: str, changes: Mapping[str, str], *, by: str, by_id: str
    ) -> Forked:
        """Continue a recorded run from one of its events, as a new run of this user. Raises `NotForkable`."""
        ...

    async def take_over(self, run_id: str) -> str:
        """Let a person act in the world of a paused run. Returns where to find it, or an empty text. Raises `ConnectionError`."""
        ...

    async def view(self, run_id: str, since: str) -> View | None:
        """A picture of the run's world now. None: it has no pictures for people who watch. Raises `ConnectionError`."""
        ...

    async def handle(self, run_id: str, gestures: tuple[Gesture, ...], since: str | None) -> Handled:
        """Repeat the gestures of a person who has taken over the world. Raises `NotAttended` and `ConnectionError`."""
        ...

    def driven_here(self) -> tuple[str, ...]:
        """Runs that this process drives."""
        ...

    async def has_workers(self) -> bool | None:
        """Whether the fleet has workers; None if that is unknown."""
        ...

    def broken(self) -> tuple[str, ...]:
        """Runs of a fleet that a bug stopped, as of the latest `refresh`."""
        ...

    async def ping(self) -> None:
        """Check that the store can be used. Raises `ConnectionError` or `StoreUnusable` if not."""
        ...

    async def close(self) -> None:
        """Close the desk. Runs that this process drives stop, and can be resumed."""
        ...


def driven_state(run: RunSummary) -> RunState:
    """The state of a run that has ended, or that a process or worker drives."""
    if run.phase == "ended" and run.final_reason:
        return "done" if run.final_reason in SUCCESSES else "failed"
    if run.phase == "asking":
        return "asking"
    return "paused" if run.phase == "paused" else "running"
