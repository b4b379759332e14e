"""The board of a batch as text, at the sizes that people have."""

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from midcourse.agent.wiring import load_job
from midcourse.batch.batch import Batch, BatchRow, new_batch
from midcourse.batch.results import RowEnd
from midcourse.cli.view.batch import Board
from midcourse.domain.result import Result
from midcourse.terminal.output import ASCII, UNICODE, Marks
from midcourse.testing import MemoryStore
from midcourse.testing.conformance.store_samples import result
from tests.cli.samples import make_plan, make_turns


@pytest.fixture
def batch(tmp_path: Path) -> Batch:
    rows = "reference,item\n" + "".join(f"PO-{number},Desk lamp\n" for number in range(1, 121))
    return new_batch(load_job("order", {"home": str(tmp_path)}), rows, "week-7")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def end_row(row: BatchRow, reason: str = "", detail: str = "", verified: bool = True) -> RowEnd:
    if reason == "key_taken":
        return RowEnd(row=row.number, run=row.run, problem=reason, detail=detail)
    values: dict[str, Any] = {**vars(result(row.run)), "success": not reason, "verified": verified and not reason}
    values |= {"final_reason": reason or "goal_reached", "final_detail": detail}
    return RowEnd(row=row.number, run=row.run, result=Result(**values))


async def make_board(batch: Batch, marks: Marks = UNICODE, lines: Console | None = None) -> tuple[Board, Clock]:
    """Two rows ended before; of 43 in this process 2 failed, and 4 are under way."""
    clock = Clock()
    board = Board(batch, MemoryStore(), marks, lines, clock)
    for row in batch.rows[:2]:
        board.found(row, end_row(row))
    for row in batch.rows[2:45]:
        board.began(row, resumed=False)
        clock.now += 1
        reason = {20: "needs_human", 44: "key_taken"}.get(row.number, "")
        board.ended(row, end_row(row, reason, "see what it left" if reason else "", verified=row.number != 43))
    plan = make_plan()
    for row in batch.rows[45:49]:
        board.began(row, resumed=False)
        running = board._running[row.number]
        for turn in make_turns(plan):
            running.view.add_turn(turn, plan if running.view.narrator.new_plan_version(turn.event) else None)
    return board, clock


def draw(board: Board, width: int, height: int, now: float) -> list[str]:
    console = Console(record=True, width=width, height=height, file=io.StringIO())
    console.print(board.render(width=width, height=height, now=now, hint="Ctrl-C begins no more rows"))
    return console.export_text().splitlines()


async def test_a_batch_fits_a_small_terminal_with_its_counts_and_failures(batch: Batch) -> None:
    board, clock = await make_board(batch)
    lines = draw(board, 80, 23, clock.now)
    assert len(lines) <= 23
    assert "45/120   38%" in lines[1]
    assert "71 waiting · 4 running · 43 done (42 verified)" in lines[2]
    assert "2 failed: 1 needs_human, 1 key_taken" in lines[3]
    assert "0:43 · about 1:15 left · 2 rows had ended before" in lines[4]
    (running,) = [line for line in lines if " 46 " in line]
    assert "PO-46, Desk lamp" in running
    assert "Click the file name" in running
    (failed,) = [line for line in lines if "✗  44" in line]
    assert "failed: key_taken, see what it" in failed
    (unverified,) = [line for line in lines if "○  43" in line]
    assert "done, not verified" in unverified


@pytest.mark.parametrize(("width", "height"), [(80, 23), (120, 40), (200, 60), (60, 12), (40, 8), (80, 6)])
@pytest.mark.parametrize("marks", [UNICODE, ASCII])
async def test_it_never_outgrows_the_terminal(batch: Batch, width: int, height: int, marks: Marks) -> None:
    board, clock = await make_board(batch, marks)
    lines = draw(board, width, height, clock.now)
    assert len(lines) <= height
    assert max(len(line) for line in lines) <= width
    assert "45/120" in lines[1]
    assert marks is UNICODE or "\n".join(lines).isascii()


async def test_remaining_time_is_unknown_before_a_row_has_ended(batch: Batch) -> None:
    board = Board(batch, MemoryStore(), now=lambda: 1000.0)
    assert board.seconds_left(1010.0) is None
    assert "left" not in "\n".join(draw(board, 80, 23, 1010.0))


async def test_without_a_terminal_each_row_that_ends_is_a_line(batch: Batch) -> None:
    log = io.StringIO()
    await make_board(batch, lines=Console(file=log, width=60))
    lines = log.getvalue().splitlines()
    assert lines[0] == " 0:01  3/120  row 3 done, verified: PO-3, Desk lamp"
    assert lines[-2] == " 0:42  44/120  row 44 failed: key_taken: PO-44, Desk lamp (see what it left)"
    assert len(lines) == 43
