"""MiniWoB++ from pictures alone: the tasks are those that were frozen, and a reader in its own process is enough for some of them."""

import pytest

from benchmarks.vision_tasks.tasks import TASKS, check_frozen
from tests.benchmarks.scripts import measure

SOME = ("click-option", "enter-password")


def test_the_tasks_are_frozen() -> None:
    check_frozen()
    assert len(TASKS) == 20


@pytest.mark.slow
def test_tasks_are_solved_from_the_picture_as_from_the_tree() -> None:
    result = measure("vision", "--seeds", "1", "--first-seed", "1", "--tasks", *SOME)
    assert {row["task"]: (row["tree"]["share"], row["picture"]["share"]) for row in result["rows"]} == dict.fromkeys(
        SOME, (1, 1)
    )
    assert all(row["pictures"] >= 2 for row in result["rows"])
