"""The trials of a fleet at a small size. The nightly sizes are in the justfile."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.benchmarks.scripts import measure_each

CRASHES = {
    "kill": 3,
    "points": 5,
    "freeze": 3,
    "temporal": 1,
    "budget": 1,
    "deploy": 1,
    "big": 2,
    "waiting": 30,
    "wakeups": 4,
}
OUTAGES = {"host": 2, "outage": 1}

Results = Mapping[str, Mapping[str, Any]]


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [CRASHES, OUTAGES], ids=["crashes", "outages"])
def test_every_trial_of_a_fleet_keeps_its_promises(sizes: Mapping[str, int], subtests: pytest.Subtests) -> None:
    """One test for each group of trials, since those of a group share one set of servers."""
    results = carry_out(sizes)
    checks = (
        (workers_died, crash_points, freezes, long_runs, waiting_runs, wake_ups) if sizes is CRASHES else (outages,)
    )
    for trial, one in results.items():
        with subtests.test("nothing is lost, repeated or done twice", trial=trial):
            claims = ("lost", "repeated", "irreversible_twice", "reversible_twice", "over", "unrecorded")
            assert [one[claim] for claim in claims] == [0] * len(claims)
            assert one["asked"] <= one["asked_bar"]
        with subtests.test("journals and histories replay, and not through a changed supervisor", trial=trial):
            assert one["again"]["replayed"] == (0 if trial == "deploy" else one["runs"])
            assert one["again"]["differing"] == one["replays"]["nondeterministic"] == 0
            assert one["replays"]["control_failed"] == one["replays"]["control"] > 0
    for check in checks:
        with subtests.test(check.__name__):
            check(results)


def carry_out(sizes: Mapping[str, int]) -> Results:
    trials = ",".join(f"{name}:{runs}" for name, runs in sizes.items())
    words = ["--trial", trials, "--first-seed", "43", "--heartbeat", "2", "--away", "5"]
    results = {one["trial"]: one for one in measure_each("chaos", *words)}
    assert set(results) == set(sizes)
    return results


def workers_died(results: Results) -> None:
    """While commands of theirs were under way: of how many runs depends on how busy the machine is."""
    assert results["kill"]["killed_runs"] > 0


def crash_points(results: Results) -> None:
    """A kill before dispatch recovers, and an undecidable outcome is asked about."""
    points = results["points"]
    assert points["crashed"] == points["to_crash"] > 0
    assert points["before_dispatch_recovered"] == points["before_dispatch"] > 0
    assert points["before_dispatch_asked"] == 0
    assert points["undecidable_asked"] == points["undecidable"] > 0


def freezes(results: Results) -> None:
    """A frozen worker never acts late, and Temporal was really away."""
    assert results["temporal"]["outages"] > 0
    assert sum(results["freeze"]["frozen"].values()) > 0  # how many are under way depends on the machine
    assert results["freeze"]["late"] == 0


def outages(results: Results) -> None:
    """The servers were really away, and runs with a shorter limit have ended."""
    assert results["host"]["outages"] > 0
    outage = results["outage"]
    assert set(outage["under_way"]) == {"host", "postgres", "temporal", "model"}
    assert all(outage["under_way"].values())
    assert outage["limited_ended"] == outage["limited"] > 0


def long_runs(results: Results) -> None:
    """Histories stay short, and what was seen stays out of them."""
    big = results["big"]
    assert big["observed_mb"] >= 2 * CRASHES["big"]
    assert big["most_history_bytes"] < 100_000


def waiting_runs(results: Results) -> None:
    """They leave the worker alone. How soon they continue depends on the machine, so only the benchmark checks it."""
    waiting = results["waiting"]
    assert waiting["cached_max"] <= waiting["cached_setting"] < CRASHES["waiting"]


def wake_ups(results: Results) -> None:
    """Signals and notifications were dropped, and no run was left waiting."""
    wakeups = results["wakeups"]
    assert wakeups["left_waiting"] == 0
    assert 0 < wakeups["signals_dropped"] < wakeups["signals"]
    assert 0 < wakeups["heard_dropped"] < wakeups["heard"]
