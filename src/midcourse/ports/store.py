"""Port of the store: state, journal, plans, observations and ledger of runs. What a method wrote is on disk when it returns."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from midcourse.domain.approval import Consequence, Question
from midcourse.domain.command import Command
from midcourse.domain.event import Event
from midcourse.domain.observation import Observation
from midcourse.domain.plan import PlanVersion
from midcourse.domain.records.answers import Answered, Asked
from midcourse.domain.records.audit import AuditLog, Head
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.domain.task import Task


@dataclass(frozen=True, kw_only=True)
class JournalRow:
    """One turn: the event that came in and the commands that went out."""

    seq: int
    event: Event
    commands: tuple[Command, ...]


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    id: str
    goal: str
    phase: str
    final_reason: str
    began_at: float


class Store(Protocol):
    async def begin(self, run: Run, task: Task, *, after: str = "") -> None:
        """Enter a new run. A second one of the same id is refused with `TaskInvalid`.

        A task with a business key is refused with `KeyTaken` unless `after` is the latest run under this key, or is
        nothing and there is none. Looking and entering are one: of several that come after the same run, one gets in.
        """
        ...

    async def run_with_key(self, key: str) -> str | None:
        """The latest run under this business key."""
        ...

    async def keep(self, run: Run, event: Event, commands: tuple[Command, ...]) -> None:
        """The turn that led to this state: journal row `run.seq` and the state, in one transaction."""
        ...

    async def load(self, run_id: str) -> tuple[Run, Task]:
        """The latest state. Raises `RunUnknown`, or `FormatUnknown` for a state this version cannot read."""
        ...

    async def runs(self) -> tuple[RunSummary, ...]:
        """All runs, newest first."""
        ...

    async def opening(self, run_id: str) -> Run:
        """The state a run began with: what its journal starts from."""
        ...

    async def journal(self, run_id: str) -> tuple[JournalRow, ...]: ...

    async def save_session(self, run_id: str, handle: str) -> None: ...

    async def session(self, run_id: str) -> str:
        """The world's handle, or nothing."""
        ...

    async def save_observation(self, run_id: str, observation: Observation) -> None: ...

    async def observation(self, run_id: str, observation_id: str) -> Observation | None: ...

    async def save_plan(self, run_id: str, plan: PlanVersion) -> None:
        """Saving a version again replaces it: a refused draft never became a plan.

        One that an earlier command made comes too late and changes nothing.
        """
        ...

    async def plan(self, run_id: str, version: int, made_by: int = 0) -> PlanVersion | None:
        """As it is now; or only the one that this command made."""
        ...

    async def plans(self, run_id: str, since: int = 0) -> tuple[PlanVersion, ...]:
        """All from this version on, in order. Once a later version is saved, a version stays as it is."""
        ...

    async def save_consequence(self, run_id: str, digest: str, consequence: Consequence) -> None: ...

    async def consequence(self, run_id: str, digest: str) -> Consequence | None: ...

    async def write_ledger(self, run_id: str, entry: LedgerEntry) -> None:
        """Insert or replace the entry of `entry.command`. Once a later command has an entry, it stays as it is."""
        ...

    async def ledger_entry(self, run_id: str, command: int) -> LedgerEntry | None: ...

    async def ledger(self, run_id: str, since: int = 0) -> tuple[LedgerEntry, ...]:
        """All entries from this command on, oldest command first."""
        ...

    async def save_result(self, result: Result) -> None: ...

    async def result(self, run_id: str) -> Result | None: ...

    async def save_asked(self, asked: tuple[Asked, ...]) -> None:
        """That people are asked about these. Saving them again changes nothing."""
        ...

    async def asked(self, run_id: str) -> tuple[Asked, ...]:
        """What people were asked about in this run, by question."""
        ...

    async def answered(self, shape: str, limit: int) -> tuple[Answered, ...]:
        """Decisions about consequences of this shape, in any run, from the audit log: the latest first."""
        ...

    async def audit(self) -> AuditLog:
        """Events that people sent to runs, from the first on, and what confirms them; `verify_log` checks it.

        An event is in the log once it is in a journal: they are written together. The log is append-only.
        """
        ...

    async def audit_head(self) -> Head:
        """Its last row by now."""
        ...


@dataclass(frozen=True, kw_only=True)
class Happened:
    """An event at its place in a run's journal."""

    seq: int
    event: Event


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The state of a run for lists of runs: what it waits for, and why it ended if it did."""

    phase: str
    final_reason: str = ""


class Batch(Store, Protocol):
    """A store whose writes wait for `flush` and then become one transaction. What was written here can be read here.

    Only a ledger entry that is dispatched and has no outcome yet is written immediately: it must be there before the act.
    """

    async def append(self, run_id: str, happened: tuple[Happened, ...], standing: Standing | None = None) -> None:
        """Events without the state they led to: a reader computes it with the director.

        Writing to a place again replaces what is there. `standing` is how the run stands after them, as far as the writer
        knows; without it the list of runs stays as it is.
        """
        ...

    async def flush(self) -> None: ...


class FleetStore(Store, Protocol):
    """A store that many workers share."""

    async def ping(self) -> None:
        """Raises `ConnectionError` if the database cannot be reached."""
        ...

    def batch(self, run_id: str = "", turn: int = 0, attempt: int = 0) -> Batch:
        """On behalf of `turn`, the place in this run's journal that the writer's own event will take.

        A writer is behind once another has written with a later turn, or with a later attempt at the same turn: all that it
        writes is refused with `RunBusy`. Without a turn no writer is refused.
        """
        ...

    async def open_question(self, run_id: str) -> Question | None:
        """The one that this run is waiting with; a run asks one at a time."""
        ...


@runtime_checkable
class Claimable(Protocol):
    """A store that can also tell whether a process drives a run."""

    def claim(self, run_id: str) -> AbstractContextManager[None]:
        """Hold a run while driving it; `RunBusy` if another process does."""
        ...
