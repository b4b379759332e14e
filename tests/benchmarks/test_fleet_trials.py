"""The trials of a fleet at a small size. The nightly sizes are in the justfile."""

import json
import subprocess
import sys
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SIZES = {"kill": 4, "points": 5, "freeze": 2, "temporal": 2, "budget": 3, "big": 10, "waiting": 300}

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("fleet trials")]


@pytest.fixture(scope="module")
def told() -> dict[str, dict[str, Any]]:
    """All of them share one set of servers."""
    trials = ",".join(f"{name}:{runs}" for name, runs in SIZES.items())
    words = ["--trial", trials, "--first-seed", "43", "--heartbeat", "2", "--json"]
    command = [sys.executable, "benchmarks/chaos.py", *words]
    with subprocess.Popen(command, cwd=ROOT, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, text=True) as process:
        try:
            said, complained = process.communicate(timeout=480)
        except subprocess.TimeoutExpired:
            process.terminate()  # so that it stops its servers
            said, complained = process.communicate()
    found = {one["trial"]: one for one in map(json.loads, said.splitlines())}
    assert process.returncode == 0, f"{found}\n{complained[-20_000:]}"
    return found


@pytest.mark.parametrize("trial", [name for name in SIZES if name != "waiting"])
def test_nothing_is_lost_repeated_or_done_twice(told: dict[str, dict[str, Any]], trial: str) -> None:
    one = told[trial]
    claims = ("lost", "repeated", "irreversible_twice", "reversible_twice", "over", "unrecorded")
    assert [one[claim] for claim in claims] == [0] * len(claims)
    assert one["asked"] <= one["asked_bar"]


@pytest.mark.parametrize("trial", SIZES)
def test_journals_and_histories_replay_and_a_changed_director_does_not(
    told: dict[str, dict[str, Any]], trial: str
) -> None:
    one = told[trial]
    assert one["again"]["replayed"] == one["runs"]
    assert one["again"]["differing"] == one["replays"]["nondeterministic"] == 0
    assert one["replays"]["control_failed"] == one["replays"]["control"] > 0


def test_workers_died_while_commands_of_theirs_were_under_way(told: dict[str, dict[str, Any]]) -> None:
    assert told["kill"]["killed_runs"] >= 3
    assert told["kill"]["kills_at_points"].get("row", 0) > 0


def test_what_died_before_dispatch_recovers_and_what_nobody_can_decide_is_asked(
    told: dict[str, dict[str, Any]],
) -> None:
    points = told["points"]
    assert points["crashed"] == points["to_crash"] > 0
    assert points["before_dispatch_recovered"] == points["before_dispatch"] > 0
    assert points["before_dispatch_asked"] == 0
    assert points["undecidable_asked"] == points["undecidable"] > 0


def test_a_frozen_worker_never_acts_late(told: dict[str, dict[str, Any]]) -> None:
    assert sum(told["freeze"]["frozen"].values()) >= 2
    assert told["freeze"]["late"] == 0


def test_the_server_was_really_away(told: dict[str, dict[str, Any]]) -> None:
    assert told["temporal"]["outages"] > 0


def test_a_long_run_keeps_its_histories_short_and_what_it_saw_out_of_them(told: dict[str, dict[str, Any]]) -> None:
    big = told["big"]
    assert big["observed_mb"] >= 2 * SIZES["big"]
    assert big["most_history_bytes"] < 100_000


def test_waiting_runs_leave_the_worker_alone_and_go_on_at_once(told: dict[str, dict[str, Any]]) -> None:
    waiting = told["waiting"]
    assert waiting["cached_max"] <= waiting["cached_setting"] < SIZES["waiting"]
    assert waiting["goes_on_median_seconds"] < 1.0
