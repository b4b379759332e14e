"""The benchmarks run, print a summary on their last line, and their claims hold on a few fixed seeds."""

import pytest

from tests.benchmarks.scripts import measure_runs

pytestmark = pytest.mark.slow


def test_killed_runs_lose_and_repeat_nothing():
    result = measure_runs("kill_local", "--runs", "2", "--first-seed", "500")
    assert (result["runs"], result["lost"], result["repeated"], result["irreversible_twice"]) == (2, 0, 0, 0)
    assert result["kills"] > 0


def test_detours_find_what_replanning_does_not_and_every_revert_is_verified_or_flagged():
    result = measure_runs("detour", "--runs", "2")
    assert (result["reverts_neither_verified_nor_flagged"], result["sent"]) == (0, 0)
    rows = {(row["arm"], row["noise"]): row for row in result["rows"]}
    sure = rows["detour", 0.0]
    assert sure["reached"]["share"] >= rows["replan only", 0.0]["reached"]["share"]
    assert sure["iterations"] <= 5
    assert all(row["false_done"] == 0 for row in result["rows"])


def test_invoices_of_a_killed_batch_are_booked_once():
    result = measure_runs("invoices", "--rows", "3", "--seed", "3")
    assert (result["booked_once"], result["booked_twice"], result["missing"]) == (3, 0, 0)
    assert result["kills"] > 0


def test_failures_are_answered_better_than_by_replanning_alone_in_a_world_that_is_frozen():
    result = measure_runs("recovery", "--runs", "60", "--learning", "120")
    assert result["frozen"] == "445aaf63163524e2", (
        "arms that were tuned in another world cannot be compared in this one"
    )
    assert result["kinds_behind_b"]["c"] == {}
    assert result["wasted_c_of_b"] < 0.8
    assert result["false_stop_share"]["share"] <= 0.02
    asked = {bar["asked"]: bar["reached"] for bar in result["bars"]}
    assert len(asked) == 8
    assert asked["(c) completes as many as (b) in every kind"]


def test_a_robot_recovers_from_what_a_look_can_find_and_stops_at_what_it_cannot_reach():
    result = measure_runs("robot", "--seeds", "2", "--jobs", "1")
    rows = {(row["case"], row["arm"]): row for row in result["rows"]}
    ours = {case: row for (case, arm), row in rows.items() if arm == "midcourse"}
    assert [case for case, row in ours.items() if row["completed"]["share"] < 1] == ["unreachable"]
    assert (result["false_done"]["midcourse"], result["misplaced"]["midcourse"]) == (0, 0)
    assert ours["unreachable"]["executions"] == 1
    assert rows["unreachable", "plain replan loop"]["executions"] == 4
