"""Runs and follows a batch, for `midcourse run TASK --inputs rows.csv` and `midcourse resume BATCH`."""

import asyncio
import time
from pathlib import Path

from rich.text import Text

from midcourse.agent.start import new_run_id
from midcourse.agent.wiring import Job
from midcourse.batch.batch import Batch, BatchRow, new_batch
from midcourse.batch.rows import rows_text
from midcourse.batch.runner import Summary, run_batch
from midcourse.cli.options import LEFT, Verbosity
from midcourse.cli.session.local import log_to
from midcourse.cli.session.screen import LiveView, NoScreen
from midcourse.cli.session.signals import handle_signals
from midcourse.cli.view.batch import BatchVerdict, Board, summary_json
from midcourse.errors import TaskInvalid
from midcourse.home.stores import LocalStore, open_store
from midcourse.ports.approver import Approver
from midcourse.presentation.vocabulary import pluralize
from midcourse.terminal.approver import OneAtATime, TerminalApprover
from midcourse.terminal.output import print_object, print_outcome, terminal
from midcourse.terminal.prompt import Keyboard, open_prompt

HINT = "Ctrl-C begins no more rows"
WINDING_DOWN = "finishing the rows that have begun; Ctrl-C again leaves them to be resumed"


def create_batch(job: Job, inputs: str, *, batch_id: str, results: str, concurrency: int | None) -> Batch:
    """Create the batch of a command line and store it, so that it can be resumed."""
    copy = Path(results) if results else None
    if copy is not None and not copy.absolute().parent.is_dir():
        raise TaskInvalid(f"--results {results}: there is no folder '{copy.parent}'")
    rows = rows_text(Path(inputs))
    return new_batch(job, rows, batch_id or new_run_id(), file=inputs, copy=copy, concurrency=concurrency)


async def follow_batch(batch: Batch, verbosity: Verbosity, *, again: bool = False) -> int:
    with open_store(batch.job.settings.home) as store:
        return await BatchSession(batch, store, verbosity).follow(again=again)


class BatchSession:
    """A batch followed from the command line, in a terminal or without one."""

    def __init__(self, batch: Batch, store: LocalStore, verbosity: Verbosity) -> None:
        self._batch = batch
        self._store = store
        self._verbosity = verbosity
        self._terminal = where = terminal(silent=verbosity.silent)
        keyboard = Keyboard()
        self._prompt = open_prompt(where, keyboard)
        lines = None if where.live or verbosity.silent else where.console
        self._board = Board(batch, store, where.marks, lines)
        self._screen = LiveView(where.console, self._board, keyboard, HINT) if where.live else NoScreen()
        self._one_at_a_time = asyncio.Lock()
        self._winding_down = asyncio.Event()
        self._work: asyncio.Task[Summary] | None = None
        self._left = False

    async def follow(self, *, again: bool) -> int:
        began = time.monotonic()
        self._announce()
        work = run_batch(
            self._batch,
            self._store,
            approver_for=self._approver_for,
            watcher=self._board,
            winding_down=self._winding_down,
            again=again,
        )
        self._work = asyncio.create_task(work, name="batch")
        with (
            log_to(self._batch.folder / "batch.log"),
            handle_signals(interrupt=self._interrupt, terminate=self._leave),
            self._screen.open(),
        ):
            await asyncio.wait({self._work})
        if self._work.cancelled() or self._work.result().left:
            return self._print_left()
        return self._print_summary(self._work.result(), time.monotonic() - began)

    def _announce(self) -> None:
        if not self._terminal.live and not self._verbosity.silent:
            rows = pluralize(len(self._batch.rows), "row")
            line = f"batch {self._batch.id}: {self._batch.job.name}, {rows}, {self._batch.concurrency} at a time"
            self._terminal.say(line)

    def _print_summary(self, summary: Summary, seconds: float) -> int:
        verdict = BatchVerdict(summary=summary, seconds=seconds, unattended=self._prompt is None)
        if self._verbosity.json:
            print_object(summary_json(summary))
        elif self._verbosity.quiet:
            self._terminal.say(verdict.line(self._terminal.marks))
        else:
            verdict.print(self._terminal.console, self._terminal.marks)
        every = summary.rows
        return self._verbosity.exit_code(success=summary.succeeded == every, verified=summary.verified == every)

    def _print_left(self) -> int:
        how = f"midcourse resume {self._batch.id}"
        ended, rows = self._board.ended_rows, self._board.rows
        left = f"left with {ended} of {rows} rows ended"
        problem = {"error": f"{left}; {how} continues it", "batch": self._batch.id, "rows": rows, "ended": ended}
        print_outcome(problem, (left, "bold yellow"), f"; to continue: {how}", json=self._verbosity.json)
        return LEFT

    # --- questions

    def _approver_for(self, row: BatchRow) -> Approver | None:
        if self._prompt is None:
            return None
        asks = TerminalApprover(
            prompt=self._prompt,
            make_room=self._screen.make_room,
            interrupted=self._handle_question_interrupt,
            ended=self._leave,
            heading=f"Row {row.number} of {len(self._batch.rows)}: {row.label}",
        )
        return OneAtATime(asks, self._one_at_a_time)

    async def _handle_question_interrupt(self) -> bool:
        """The first Ctrl-C keeps the question, because its row has begun; the second leaves everything."""
        if self._prompt is not None and not self._left:
            self._prompt.print(Text(WINDING_DOWN, "yellow"))
        return not self._left

    # --- Ctrl-C

    def _leave(self) -> None:
        """Stop driving the rows. Interrupted steps are verified when the batch is resumed."""
        self._left = True
        if self._work is not None:
            self._work.cancel()

    def _interrupt(self) -> None:
        if self._winding_down.is_set():
            self._leave()
        self._winding_down.set()
        if isinstance(self._screen, LiveView):
            self._screen.hint = WINDING_DOWN
        elif not self._verbosity.silent:
            self._terminal.say(WINDING_DOWN)
        if self._prompt is not None:
            self._prompt.keyboard.interrupt()  # the open question reports it, too
