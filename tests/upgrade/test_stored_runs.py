"""A home that version 0.1.0 wrote is listed, shown and finished by the present one, and no effect is repeated.

tests/upgrade/make_home.py has made the archives: each has a finished run, one that was killed at its question, and one that was
killed right after the shop had stored its order.
"""

import json
import os
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.docs.reader import in_terminal
from tests.forked import run_forked

pytestmark = pytest.mark.slow
HOMES = sorted((Path(__file__).parents[1] / "fixtures" / "homes").glob("*.tar.gz"))


@pytest.fixture(params=HOMES, ids=lambda path: path.name.removesuffix(".tar.gz"))
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder in which an earlier version has worked, as if it had been here."""
    with tarfile.open(request.param) as archive:
        archive.extractall(tmp_path, filter="data")
    database = tmp_path / ".midcourse" / "midcourse.db"
    with closing(sqlite3.connect(database)) as store, store:
        store.execute(
            "UPDATE runs SET place = ?", (str(database.stat().st_ino),)
        )  # or each run would be that of a copy
    return tmp_path


@pytest.fixture
def midcourse(folder: Path) -> Callable[..., Any]:
    def midcourse(*words: str) -> Any:
        done = run_forked("midcourse", *words, "--json", cwd=folder, environment=usual())
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return midcourse


def usual() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("MIDCOURSE_")}


def orders(folder: Path) -> dict[str, int]:
    """How many orders the shop of each run has in its own log."""
    logs = (folder / ".midcourse" / "runs").glob("*/effects.jsonl")
    return {log.parent.name: len(log.read_text().splitlines()) for log in logs}


def test_runs_are_listed_and_shown(midcourse: Callable[..., Any]) -> None:
    (listed,) = midcourse("runs")
    stands = {run["run"]: (run["state"], run["task_state"]) for run in listed}
    assert stands == {
        "finished": ("done, verified", "COMPLETED"),
        "waiting": ("interrupted", "PENDING_APPROVAL"),
        "interrupted": ("interrupted", "APPROVED"),
    }
    for run in stands:
        (shown,) = midcourse("show", run)
        assert [plan["version"] for plan in shown["plans"]][:2] == [1, 2]
        assert (shown["result"] or {}).get("success", False) is (run == "finished")


def test_runs_are_finished_without_repeating_an_effect(folder: Path, midcourse: Callable[..., Any]) -> None:
    assert orders(folder) == {"finished": 1, "interrupted": 1}
    (again,) = midcourse("run", "lamp.toml")
    assert (again["run"], again["success"]) == ("finished", True), "its business key is taken"
    (resumed,) = midcourse("resume", "interrupted")
    assert (resumed["success"], resumed["verified"]) == (True, True)
    printed = in_terminal(["python", "-m", "midcourse", "resume", "waiting"], folder, usual())
    assert "May this be done?" in printed
    assert "done, and verified" in printed
    assert orders(folder) == {"finished": 1, "interrupted": 1, "waiting": 1}
    midcourse("audit", "verify")
