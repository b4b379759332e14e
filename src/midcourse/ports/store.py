"""Port of the store: state, journal, plans, observations and ledger of runs. What a method wrote is on disk when it returns."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from midcourse.domain.approval import Consequence
from midcourse.domain.commands import Command
from midcourse.domain.events import Event
from midcourse.domain.observation import Observation
from midcourse.domain.plan import PlanVersion
from midcourse.domain.records.answers import AnsweredConsequence, AskedConsequence
from midcourse.domain.records.audit import AuditLog, Head
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.records.summary import RunQuery as RunQuery
from midcourse.domain.records.summary import RunStatus as RunStatus
from midcourse.domain.records.summary import RunSummary as RunSummary
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.domain.task import Task


@dataclass(frozen=True, kw_only=True)
class JournalRow:
    """One turn: the event that arrived and the commands that were issued."""

    seq: int
    event: Event
    commands: tuple[Command, ...]


class Store(Protocol):
    async def begin(self, run: Run, task: Task, *, after: str = "") -> None:
        """Create a run. Raises `TaskInvalid` if the id exists.

        For a task with a business key, raises `KeyTaken` unless `after` is the latest run with this key, or is empty and there
        is none. The check is atomic: of several calls with the same `after`, one succeeds.
        """
        ...

    async def run_with_key(self, key: str) -> str | None:
        """The latest run under this business key."""
        ...

    async def save_turn(self, run: Run, event: Event, commands: tuple[Command, ...]) -> None:
        """Save the turn that led to this state: journal row `run.seq` and the state, in one transaction."""
        ...

    async def load(self, run_id: str) -> tuple[Run, Task]:
        """The latest state. Raises `RunUnknown`, or `FormatUnknown` for a state this version cannot read."""
        ...

    async def runs(self) -> tuple[RunSummary, ...]:
        """All runs, newest first."""
        ...

    async def initial_state(self, run_id: str) -> Run:
        """The state that a run and its journal began with."""
        ...

    async def journal(self, run_id: str, above: int = 0) -> tuple[JournalRow, ...]:
        """The turns with numbers above this one, in order."""
        ...

    async def events(self, run_id: str, above: int) -> tuple["JournalEvent", ...]:
        """Events with numbers above this one, in order. A process reads them to follow a run that another process drives."""
        ...

    async def save_session(self, run_id: str, handle: str) -> None: ...

    async def session(self, run_id: str) -> str:
        """The handle of the world's session, or an empty string."""
        ...

    async def save_observation(self, run_id: str, observation: Observation) -> None: ...

    async def observation(self, run_id: str, observation_id: str) -> Observation | None: ...

    async def save_plan(self, run_id: str, plan: PlanVersion) -> None:
        """Save a plan. Saving a version again replaces it, since a refused draft is not a plan.

        A plan made by an earlier command than the stored one is ignored.
        """
        ...

    async def plan(self, run_id: str, version: int, made_by: int = 0) -> PlanVersion | None:
        """The stored plan of this version; with `made_by`, only if this command made it."""
        ...

    async def plans(self, run_id: str, since: int = 0) -> tuple[PlanVersion, ...]:
        """All plans from this version on, in order. Only the latest version can still change."""
        ...

    async def save_consequence(self, run_id: str, digest: str, consequence: Consequence) -> None: ...

    async def consequence(self, run_id: str, digest: str) -> Consequence | None: ...

    async def write_ledger(self, run_id: str, entry: LedgerEntry) -> None:
        """Insert or replace the entry of `entry.command`. Only the latest entry can still change, and one whose outcome is unknown."""
        ...

    async def ledger_entry(self, run_id: str, command: int) -> LedgerEntry | None: ...

    async def ledger(self, run_id: str, since: int = 0) -> tuple[LedgerEntry, ...]:
        """All entries from this command on, oldest command first."""
        ...

    async def save_result(self, result: Result) -> None: ...

    async def result(self, run_id: str) -> Result | None: ...

    async def save_asked_consequences(self, asked: tuple[AskedConsequence, ...]) -> None:
        """Record that people are asked about these. Idempotent."""
        ...

    async def asked_consequences(self, run_id: str) -> tuple[AskedConsequence, ...]:
        """What people were asked about in this run, ordered by question."""
        ...

    async def answered_consequences(self, shape: str, limit: int) -> tuple[AnsweredConsequence, ...]:
        """Decisions about consequences of this shape, in any run, from the audit log, the latest first."""
        ...

    async def audit(self) -> AuditLog:
        """All events that people sent to runs, and what confirms them; `verify_log` checks it.

        An event is written to the log and to a journal in one transaction. The log is append-only.
        """
        ...

    async def audit_head(self) -> Head:
        """The last row of the audit log."""
        ...


@dataclass(frozen=True, kw_only=True)
class JournalEvent:
    """An event with its number in a run's journal."""

    seq: int
    event: Event


class Listing(Protocol):
    """A store that lists its runs in pages, for consoles."""

    async def find_runs(self, query: RunQuery) -> tuple[RunSummary, ...]:
        """A page of the runs that match, the newest first."""
        ...

    async def count_runs(self) -> dict[RunStatus, int]:
        """The number of runs by status. A status without runs may be missing."""
        ...


class Prunable(Protocol):
    """A store that deletes the records of runs that ended long ago.

    A pruned run keeps its key, task, last state and result, the audit log, and the ledger entries of its irreversible acts, so
    that nothing is done again. `initial_state` and `journal` raise `RunPruned`; it has no plans, observations or consequences.
    """

    async def pruned_at(self, run_id: str) -> float | None:
        """The time at which this run was pruned; None if it still has all its records."""
        ...

    async def find_prunable(self, before: float, limit: int | None) -> tuple[str, ...]:
        """Runs that ended before this time and still have their records, oldest first: at most `limit`, or all if that is None."""
        ...

    async def prune(self, run_ids: tuple[str, ...], at: float) -> int:
        """Delete the records of these runs, and return how many runs were pruned. A run that has not ended is not changed."""
        ...


class Claimable(Protocol):
    """A store that can lock a run for one process."""

    def claim(self, run_id: str) -> AbstractContextManager[None]:
        """Lock a run while driving it. Raises `RunBusy` if another process drives it."""
        ...


class Restorable(Protocol):
    """A store in a file. A copy of it, or one that was restored from a backup, may lack records of effects."""

    def check_records(self, run_id: str) -> None:
        """Raise `StoreRestored` if records of the run's effects may be missing."""
        ...

    def accept_records(self, run_id: str) -> None:
        """Accept the records of a run although some may be missing, after the user has checked what was done."""
        ...
