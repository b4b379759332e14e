"""`midcourse run TASK --inputs rows.csv`, and `midcourse resume BATCH`: many runs, one board, one table of results."""

import asyncio
import signal
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from rich.text import Text

from midcourse.app.batch.batch import Batch, Row, new_batch
from midcourse.app.batch.rows import rows_text
from midcourse.app.batch.runner import Summary, run_batch
from midcourse.app.home import open_store
from midcourse.app.start import new_run_id
from midcourse.app.wiring import Job
from midcourse.cli.session.approver import TerminalApprover
from midcourse.cli.session.keyboard import Keyboard
from midcourse.cli.session.local import FAILED, LEFT, SUCCEEDED, Manner, desk_at, logged_to
from midcourse.cli.session.screen import LiveView, Nowhere
from midcourse.cli.view.batch import Board
from midcourse.cli.view.batch_verdict import BatchVerdict, summary_json
from midcourse.cli.view.terminal import print_object, terminal
from midcourse.cli.view.vocabulary import several
from midcourse.domain.approval import Decision, Question
from midcourse.errors import TaskInvalid
from midcourse.ports.approver import Approver
from midcourse.store.sqlite import SqliteStore

HINT = "Ctrl-C begins no more rows"
WINDING_DOWN = "finishing the rows under way; Ctrl-C again leaves them to be resumed"


def begun_batch(job: Job, inputs: str, *, batch_id: str, results: str, concurrency: int | None) -> Batch:
    """The batch of a command line, kept so that it can be resumed."""
    copy = Path(results) if results else None
    if copy is not None and not copy.absolute().parent.is_dir():
        raise TaskInvalid(f"--results {results}: there is no folder '{copy.parent}'")
    rows = rows_text(Path(inputs))
    return new_batch(job, rows, batch_id or new_run_id(), file=inputs, copy=copy, concurrency=concurrency)


async def conduct_batch(batch: Batch, manner: Manner, *, again: bool = False) -> int:
    with open_store(batch.job.settings.home) as store:
        return await BatchSession(batch, store, manner).conduct(again=again)


class BatchSession:
    """One batch in front of one person, or of nobody."""

    def __init__(self, batch: Batch, store: SqliteStore, manner: Manner) -> None:
        self._batch = batch
        self._store = store
        self._manner = manner
        self._terminal = where = terminal(silent=manner.silent)
        keyboard = Keyboard()
        self._desk = desk_at(where, keyboard)
        lines = None if where.live or manner.silent else where.console
        self._board = Board(batch, store, where.marks, lines)
        self._screen = LiveView(where.console, self._board, keyboard, HINT) if where.live else Nowhere()
        self._one_at_a_time = asyncio.Lock()
        self._winding_down = asyncio.Event()
        self._work: asyncio.Task[Summary] | None = None
        self._left = False

    async def conduct(self, *, again: bool) -> int:
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
        with logged_to(self._batch.folder / "batch.log"), self._signals(), self._screen.open():
            await asyncio.wait({self._work})
        if self._work.cancelled() or self._work.result().left:
            return self._leave_word()
        return self._present(self._work.result(), time.monotonic() - began)

    def _announce(self) -> None:
        if not self._terminal.live and not self._manner.silent:
            rows = several(len(self._batch.rows), "row")
            line = f"batch {self._batch.id}: {self._batch.job.name}, {rows}, {self._batch.concurrency} at once"
            self._terminal.console.print(Text(self._terminal.marks.clean(line)), soft_wrap=True)

    def _present(self, summary: Summary, seconds: float) -> int:
        verdict = BatchVerdict(summary=summary, seconds=seconds, nobody=self._desk is None)
        if self._manner.json:
            print_object(summary_json(summary))
        elif self._manner.quiet:
            self._terminal.console.print(Text(verdict.line(self._terminal.marks)), soft_wrap=True)
        else:
            verdict.print(self._terminal.console, self._terminal.marks)
        return SUCCEEDED if summary.succeeded == summary.rows else FAILED

    def _leave_word(self) -> int:
        how = f"midcourse resume {self._batch.id}"
        ended, rows = self._board.ended_rows, self._board.rows
        if self._manner.json:
            said = f"left with {ended} of {rows} rows ended; {how} goes on"
            print_object({"error": said, "batch": self._batch.id, "rows": rows, "ended": ended})
        else:
            head = (f"left with {ended} of {rows} rows ended", "bold yellow")
            self._terminal.console.print(Text.assemble(head, f"; to go on: {how}"), soft_wrap=True)
        return LEFT

    # --- questions

    def _approver_for(self, row: Row) -> Approver | None:
        if self._desk is None:
            return None
        asks = TerminalApprover(
            desk=self._desk,
            screen=self._screen,
            interrupted=self._question_interrupted,
            ended=self._leave,
            heading=f"Row {row.number} of {len(self._batch.rows)}: {row.label}",
        )
        return OneAtATime(asks, self._one_at_a_time)

    async def _question_interrupted(self) -> bool:
        """The question stays: the row it belongs to is under way. The second time, everything is left."""
        if self._desk is not None and not self._left:
            self._desk.say(Text(WINDING_DOWN, "yellow"))
        return not self._left

    # --- Ctrl-C

    def _leave(self) -> None:
        """Stop driving, and nothing more: what was under way is looked into when it is resumed."""
        self._left = True
        if self._work is not None:
            self._work.cancel()

    def _interrupt(self) -> None:
        if self._winding_down.is_set():
            self._leave()
        self._winding_down.set()
        if isinstance(self._screen, LiveView):
            self._screen.hint = WINDING_DOWN
        elif not self._manner.silent:
            self._terminal.console.print(Text(WINDING_DOWN), soft_wrap=True)
        if self._desk is not None:
            self._desk.keyboard.interrupt()  # whoever asks says so, too

    @contextmanager
    def _signals(self) -> Generator[None]:
        loop = asyncio.get_running_loop()
        try:
            loop.add_signal_handler(signal.SIGINT, self._interrupt)
            loop.add_signal_handler(signal.SIGTERM, self._leave)
        except (NotImplementedError, ValueError, RuntimeError):  # Windows, or not the main thread
            yield
            return
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            loop.remove_signal_handler(signal.SIGTERM)


class OneAtATime:
    """Puts a question once all others have been answered. One that expires meanwhile is never seen."""

    def __init__(self, approver: Approver, turn: asyncio.Lock) -> None:
        self._approver = approver
        self._turn = turn

    async def ask(self, question: Question) -> Decision | None:
        async with self._turn:
            return await self._approver.ask(question)
