"""What a server does with the runs of one tenant: start, follow, control and list them."""

from collections.abc import Mapping
from dataclasses import dataclass
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
from midcourse.ports.store import Listing, Prunable, RunQuery, RunStatus, RunSummary
from midcourse.ports.viewing import Gesture, Handled, View

RunState: TypeAlias = Literal["running", "asking", "paused", "interrupted", "done", "failed"]
"""`interrupted`: it has not ended, and nothing drives it."""


class RunsStore(FollowedStore, Listing, Prunable, Protocol):
    """The methods of a store that they need."""


class TenantRuns(Protocol):
    """The runs of one tenant. The message of every `MidcourseError` that a method raises says what to do."""

    @property
    def kind(self) -> Literal["local", "fleet"]: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def store(self) -> RunsStore: ...

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
        """Close them. Runs that this process drives stop, and can be resumed."""
        ...


def driven_state(run: RunSummary) -> RunState:
    """The state of a run that has ended, or that a process or worker drives."""
    if run.phase == "ended" and run.final_reason:
        return "done" if run.final_reason in SUCCESSES else "failed"
    if run.phase == "asking":
        return "asking"
    return "paused" if run.phase == "paused" else "running"


NOT_ENDED: tuple[RunStatus, ...] = ("running", "asking", "paused")
STATUSES: dict[RunState, tuple[RunStatus, ...]] = {
    "running": ("running",),
    "asking": ("asking",),
    "paused": ("paused",),
    "interrupted": NOT_ENDED,
    "done": ("done",),
    "failed": ("failed",),
}
"""For each state, the statuses that a store may report. A store does not know whether something drives a run."""
MOST_OPEN = 1000
"""The maximum number of unended runs for which counting checks whether something drives them."""


@dataclass(frozen=True, kw_only=True)
class PageQuery:
    states: tuple[RunState, ...] = ()
    """Empty: any."""
    world: str = ""
    text: str = ""
    before: int | None = None
    limit: int = 50


@dataclass(frozen=True, kw_only=True)
class Page:
    runs: tuple[RunSummary, ...]
    following: int | None
    """`before` of the next page; None: this is the last."""


async def list_page(tenant_runs: TenantRuns, query: PageQuery) -> Page:
    """The newest runs that match. Pages have no gaps: a run that begins between two requests is on no later page."""
    wanted: dict[RunStatus, None] = {status: None for state in query.states for status in STATUSES[state]}
    found: list[RunSummary] = []
    before = query.before
    while len(found) <= query.limit:
        most = query.limit + 1
        asked = RunQuery(status=tuple(wanted), world=query.world, text=query.text, before=before, limit=most)
        batch = await tenant_runs.store.find_runs(asked)
        found += [run for run in batch if not query.states or tenant_runs.state_of(run) in query.states]
        if len(batch) < most:
            break
        before = batch[-1].place
    shown = tuple(found[: query.limit])
    return Page(runs=shown, following=shown[-1].place if len(found) > query.limit else None)


async def count_states(tenant_runs: TenantRuns) -> dict[RunState, int]:
    """The number of runs in each state."""
    counted = await tenant_runs.store.count_runs()
    states: dict[RunState, int] = dict.fromkeys(STATUSES, 0)
    states["done"], states["failed"] = counted.get("done", 0), counted.get("failed", 0)
    if any(counted.get(status) for status in NOT_ENDED):
        for run in await tenant_runs.store.find_runs(RunQuery(status=NOT_ENDED, limit=MOST_OPEN)):
            states[tenant_runs.state_of(run)] += 1
    return states
