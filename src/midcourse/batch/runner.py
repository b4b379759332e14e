"""Runs a batch in one process: several rows in parallel, each as one run. Results are written as soon as rows end."""

import asyncio
import logging
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from midcourse.agent.agent import build_agent
from midcourse.agent.live_run import LiveRun
from midcourse.agent.start import StartedRun, find_earlier, is_stored, prepare_run
from midcourse.batch.batch import RESULTS_FILE, Batch, BatchRow
from midcourse.batch.results import RowEnd, results_csv
from midcourse.domain.result import Result
from midcourse.drive import Progress
from midcourse.errors import MidcourseError, RunBusy, RunEnded
from midcourse.files import atomic_write
from midcourse.history.journal import export
from midcourse.home.folder import run_folder
from midcourse.home.stores import LocalStore
from midcourse.ports.approver import Approver
from midcourse.ports.store import Store

log = logging.getLogger(__name__)


class Watcher:
    """Receives the progress of a batch, and ignores what it does not override.

    For a row that had already ended it gets `found`; for others `began`, `on_progress` and `ended`.
    """

    def found(self, row: BatchRow, end: RowEnd) -> None: ...

    def began(self, row: BatchRow, *, resumed: bool) -> None: ...

    async def on_progress(self, row: BatchRow, progress: Progress) -> None: ...

    def ended(self, row: BatchRow, end: RowEnd) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The results of a batch so far, counted."""

    batch: str
    rows: int
    succeeded: int
    verified: int
    failed: int
    """The number of rows that ended without success."""
    by_reason: Mapping[str, int]
    """The number of failed rows by reason, the most frequent first."""
    failures: tuple[RowEnd, ...]
    """The failed rows, in the order of the rows."""
    results: Path

    @property
    def left(self) -> int:
        """Rows that have not ended."""
        return self.rows - self.succeeded - self.failed


def summary_of(batch: Batch, ends: Iterable[RowEnd]) -> Summary:
    ends = list(ends)
    failed = Counter(end.reason for end in ends if not end.success)
    return Summary(
        batch=batch.id,
        rows=len(batch.rows),
        succeeded=sum(end.success for end in ends),
        verified=sum(end.verified for end in ends),
        failed=failed.total(),
        by_reason=dict(failed.most_common()),
        failures=tuple(sorted((end for end in ends if not end.success), key=lambda end: end.row)),
        results=batch.results,
    )


async def run_batch(
    batch: Batch,
    store: LocalStore,
    *,
    approver_for: Callable[[BatchRow], Approver | None] = lambda row: None,
    watcher: Watcher | None = None,
    winding_down: asyncio.Event | None = None,
    again: bool = False,
) -> Summary:
    """Run the rows that have not ended, and return the summary of all rows.

    Interrupted rows are resumed. Without an approver, nothing irreversible that needs approval is allowed. Once `winding_down`
    is set, no further row begins. After a cancellation, the rows can be resumed. Raises `RunBusy` if another process runs this
    batch.
    """
    # build the agent of the first row, so that a wrong world or planner is reported once instead of for each row
    build_agent(batch.rows[0].job, batch.rows[0].folder, None)
    try:
        with store.claim(f"batch {batch.id}"):
            work = _Work(batch, store, approver_for, watcher or Watcher(), winding_down or asyncio.Event(), again)
            return await work.run_rows()
    except RunBusy:
        raise RunBusy(f"another process carries out batch {batch.id} right now") from None


@dataclass
class _Work:
    """The rows of a batch that have not ended, and the ends of the others."""

    batch: Batch
    store: Store
    approver_for: Callable[[BatchRow], Approver | None]
    watcher: Watcher
    winding_down: asyncio.Event
    again: bool
    _ends: dict[int, RowEnd] = field(default_factory=dict[int, RowEnd], init=False)
    _keys: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock), init=False)

    async def run_rows(self) -> Summary:
        waiting = [row for row in self.batch.rows if not await self._load_earlier_end(row)]
        self._write_results()
        rows = iter(waiting)
        try:
            async with asyncio.TaskGroup() as workers:
                for number in range(min(self.batch.concurrency, len(waiting))):
                    workers.create_task(self._work_through(rows), name=f"worker {number}")
        except ExceptionGroup as errors:  # for example a full disk: the first error represents all
            raise errors.exceptions[0] from None
        return summary_of(self.batch, self._ends.values())

    async def _load_earlier_end(self, row: BatchRow) -> bool:
        """Load the result of a row that ended before. Returns whether there is one."""
        result = await self.store.result(row.run)
        if result is None:
            return False
        if not (row.folder / "result.json").is_file():
            await export(self.store, row.run, row.folder)
        self._ends[row.number] = end = RowEnd(row=row.number, run=row.run, result=result)
        self.watcher.found(row, end)
        return True

    async def _work_through(self, rows: Iterable[BatchRow]) -> None:
        for row in rows:
            if self.winding_down.is_set():
                return
            self._ends[row.number] = end = await self._carry_out(row)
            self._write_results()
            self.watcher.ended(row, end)

    def _write_results(self) -> None:
        output = [field.name for field in self.batch.job.file.task.output]
        text = results_csv(self._ends.values(), output)
        atomic_write(self.batch.folder / RESULTS_FILE, text)
        if self.batch.copy:
            atomic_write(self.batch.copy, text, private=False)

    async def _carry_out(self, row: BatchRow) -> RowEnd:
        """Run one row; its failure does not stop the others."""
        key = row.job.task.key
        try:
            if not key:
                return await self._run(row)
            async with self._keys[key]:  # rows with the same business key wait for each other
                return await self._run(row)
        except MidcourseError as refusal:
            slug = re.sub(r"(?<!^)(?=[A-Z])", "_", type(refusal).__name__).lower()
            return RowEnd(row=row.number, run=row.run, problem=slug, detail=str(refusal))
        except Exception as error:
            log.exception("row %s could not be run", row.number)
            detail = f"{type(error).__name__}: {error}"
            return RowEnd(row=row.number, run=row.run, problem="error", detail=detail)

    async def _run(self, row: BatchRow) -> RowEnd:
        own = await is_stored(self.store, row.run)
        entry = StartedRun(run=row.run, job=row.job) if own else await self._enter(row)
        result = entry.result
        if result is None:
            folder = run_folder(entry.job.settings, entry.run)
            agent = replace(build_agent(entry.job, folder, self.approver_for(row)), store=self.store)
            self.watcher.began(row, resumed=own or entry.earlier)
            try:
                result = await self._follow(row, agent.pick_up(entry.run))
            except RunEnded:  # another process ran it to its end first
                result = await self.store.result(entry.run)
                if result is None:
                    raise
            await export(self.store, entry.run, folder)
        return RowEnd(row=row.number, run=entry.run, result=result)

    async def _enter(self, row: BatchRow) -> StartedRun:
        found = await find_earlier(row.job, self.store, again=self.again)
        if isinstance(found, StartedRun):
            return found
        async with prepare_run(row.job, row.run, self.store) as prepared:
            build_agent(row.job, prepared.folder, None)  # what cannot be built leaves no run behind
            return await prepared.begin(again=self.again)

    async def _follow(self, row: BatchRow, live: LiveRun) -> Result:
        outcome = asyncio.ensure_future(live.result())
        try:
            async for progress in live:
                await self.watcher.on_progress(row, progress)
            return await outcome
        finally:
            outcome.cancel()
            await asyncio.gather(outcome, return_exceptions=True)
