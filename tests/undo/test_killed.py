"""Runs of ten effects that are undone while the process is killed with -9 at random points."""

import os
import random
from pathlib import Path

import pytest

from tests.forked import PATIENCE, PROCESSES
from tests.undo.files import TEN, agent, create, log, state, undo_and_die

KILLED = -9
RUNS = int(os.environ.get("UNDO_RUNS", "1"))
LINES = 35_000
"""A process is killed after at most so many lines of Midcourse's code; all inverses together run more than twice as many."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(RUNS))
def test_the_state_after_is_the_state_before(seed: int, tmp_path: Path) -> None:
    create(tmp_path)
    before = state(tmp_path)
    done = agent(tmp_path, *TEN).run_sync("Tidy up")
    sent = len(log(tmp_path))
    chance, kills = random.Random(seed), 0
    while undo_in_process(tmp_path, done.run, chance.randrange(LINES)) == KILLED:
        kills += 1
    report = agent(tmp_path).undo_sync(done.run)
    assert kills > 1
    assert state(tmp_path) == before
    assert [act.number for act in report.left] == [5]
    assert len(set(log(tmp_path)[sent:])) == 9  # a line may be there twice: it is written before the effect


def undo_in_process(folder: Path, run_id: str, lines: int) -> int | None:
    """Undo the run in a process that is killed after so many lines, and return its exit code."""
    process = PROCESSES.Process(target=undo_and_die, args=(str(folder), run_id, lines))
    process.start()
    process.join(PATIENCE)
    return process.exitcode
