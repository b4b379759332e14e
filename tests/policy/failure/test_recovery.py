"""The choice of recovery after a failure, and the length of waits."""

from itertools import product
from typing import Any

import pytest

from midcourse.agent.start import new_run
from midcourse.domain.budget import Limits
from midcourse.domain.failure import Failure, FailureRule, Track
from midcourse.domain.replace import replace
from midcourse.domain.run import Counts, Run
from midcourse.domain.task import Task
from midcourse.errors import TaskInvalid
from midcourse.policy.failure.classification import classify
from midcourse.policy.failure.recovery import (
    Recovery,
    choose_recovery,
    find_ineffective_setting,
    replan_delay,
    retry_delay,
)
from tests.harness import a_step

STRUCTURAL = ("unreachable", "not_permitted", "impossible")
TRANSIENT = ("busy", "grasp_slipped", "no_effect", "not_dispatched", "object_moved", "timeout", "network")
STEP = a_step()


def a_run(counts: Counts | None = None, **limits: Any) -> Run:
    limits.setdefault("backoff_jitter", 0.0)
    return Run(id="run", limits=Limits(**limits), counts=counts or Counts())


def decided(run: Run, reason: str, tries: int = 0, step: Any = STEP, detail: str = "", **more: Any) -> Recovery:
    found = classify(reason, detail, run.limits.failures)
    return choose_recovery(run, Failure(reason=reason, detail=detail, found=found, tries=tries), step, **more)


def answer(reason: str, tries: int = 0, **limits: Any) -> str:
    return decided(a_run(**limits), reason, tries).answer


@pytest.mark.parametrize(("reason", "tries"), list(product(TRANSIENT, range(5))))
def test_what_may_pass_is_retried_three_times_and_then_counts_as_high(reason: str, tries: int) -> None:
    assert answer(reason, tries) == ("retry" if tries < 3 else "replan")
    assert answer(reason, tries, replan_on_high=False) == ("retry" if tries < 3 else "stop")


@pytest.mark.parametrize("reason", STRUCTURAL)
def test_structural_failures_stop_where_no_plan_without_the_step_may_be_made(reason: str) -> None:
    stop = Recovery(answer="stop", hopeless=True)
    assert decided(a_run(), reason).answer == "replan"
    assert decided(replace(a_run(), format=3), reason) == stop
    assert decided(a_run(), reason, step=None) == stop
    for name in ("max_error_replans", "auto_replan", "max_replans", "max_calls"):
        assert decided(replace(a_run(), limits=replace(Limits(), **{name: 0})), reason) == stop
    assert answer(reason, structural_stop=False) == "replan"


@pytest.mark.parametrize("reason", ["target_not_visible", "stale_target"])
def test_what_is_not_there_is_looked_for_once(reason: str) -> None:
    assert answer(reason) == "look_and_retry"
    assert answer(reason, 1) == "replan"
    assert answer(reason, max_step_retries=0) == "replan"


def test_other_and_unclassified_failures_are_planned_again() -> None:
    for reason in ("permission", "expectation_unmet", "something new"):
        assert answer(reason) == "replan"
        assert answer(reason, replan_on_high=False) == "stop"
    assert answer("busy", max_step_retries=0) == "replan"


def test_an_unimportant_failure_is_passed_over_unless_the_step_is_irreversible() -> None:
    assert answer("not_needed") == "continue"
    assert decided(a_run(), "not_needed", step=a_step("pay", "irreversible")).answer == "replan"


SEVERITY_OF = {"missing_dependency": "critical", "permission": "high", "busy": "medium", "not_needed": "low"}
TRIGGERS = ("replan_on_critical", "replan_on_high", "replan_on_medium")


@pytest.mark.parametrize("settings", list(product([False, True], repeat=3)), ids=str)
@pytest.mark.parametrize("reason", SEVERITY_OF)
def test_each_severity_under_each_trigger_setting(reason: str, settings: tuple[bool, bool, bool]) -> None:
    critical, high, medium = settings
    unmended = {"low": "continue", "medium": "replan" if medium or high else "stop"}
    expected = unmended | {"critical": "replan" if critical else "stop", "high": "replan" if high else "stop"}
    limits = dict(zip(TRIGGERS, settings, strict=True))
    severity = SEVERITY_OF[reason]
    assert answer(reason, tries=3, **limits) == expected[severity]
    if severity == "medium":
        assert answer(reason, **limits) == ("replan" if medium else "retry"), "retried first, or planned again at once"


def test_why_nothing_more_is_tried_is_said() -> None:
    assert decided(a_run(replan_on_high=False), "permission").because == "replan_on_high is off"
    assert decided(a_run(auto_replan=False), "permission").because == "auto_replan is off"


def test_a_person_is_asked_after_the_set_number_of_plans_that_did_not_help() -> None:
    two = Counts(error_replans=2)
    assert decided(a_run(two), "permission").answer == "replan", "off unless set"
    assert decided(a_run(two, human_after=3), "permission").answer == "replan"
    assert decided(a_run(two, human_after=2), "permission").answer == "ask"
    assert decided(a_run(Counts(error_replans=2, helped=2), human_after=2), "permission").answer == "replan"
    assert decided(a_run(Counts(error_replans=4, helped=2), human_after=2), "permission").answer == "ask"


def test_planning_itself_may_fail_and_there_is_no_step_to_retry() -> None:
    assert decided(a_run(), "no_steps", step=None).answer == "replan"
    assert decided(a_run(replan_on_critical=False), "no_steps", step=None).answer == "stop"
    busy = (FailureRule(reason="planner_garbage", severity="MEDIUM"),)
    assert decided(a_run(failures=busy), "planner_garbage", step=None).answer == "replan"


# --- what is known from other runs


def test_a_hopeless_failure_stops_the_run_with_its_numbers() -> None:
    decision = decided(a_run(), "permission", track=Track(not_fixed=37))
    assert (decision.answer, decision.hopeless) == ("stop", True)
    assert "last 37 runs" in decision.because


@pytest.mark.parametrize("track", [None, Track(), Track(not_fixed=4), Track(fixed=1, not_fixed=99)])
def test_a_failure_met_seldom_or_fixed_once_is_planned_again(track: Track | None) -> None:
    assert decided(a_run(), "permission", track=track).answer == "replan"


@pytest.mark.parametrize("reason", ["busy", "target_not_visible"])
def test_a_transient_failure_is_retried_although_no_plan_ever_helped(reason: str) -> None:
    """Runs that got past it by trying again never planned, and so left no track."""
    decision = decided(a_run(), reason, track=Track(not_fixed=37))
    assert decision.answer in ("retry", "look_and_retry")


# --- waiting


def test_the_wait_doubles_up_to_its_ceiling() -> None:
    run = a_run(retry_delay_seconds=2.0, max_retry_delay_seconds=10.0)
    assert [retry_delay(run, "busy", n) for n in range(5)] == [2.0, 4.0, 8.0, 10.0, 10.0]
    assert retry_delay(run, "busy", 10**9) == 10.0
    assert retry_delay(a_run(retry_delay_seconds=0.0), "busy", 3) == 0.0


def test_what_needs_time_is_waited_for_three_times_as_long_each_time() -> None:
    run = a_run()
    assert [retry_delay(run, "busy", n, classify("busy")) for n in range(4)] == [6.0, 18.0, 54.0, 60.0]
    assert retry_delay(run, "no_effect", 0, classify("no_effect")) == 2.0
    assert retry_delay(run, "error", 0, classify("error", "connection refused")) == 6.0


def test_what_was_never_sent_needs_no_wait() -> None:
    assert retry_delay(a_run(), "not_dispatched", 2) == 0.0


def test_no_two_runs_come_back_at_the_same_moment() -> None:
    runs = [Run(id="run", started_at=float(n), limits=Limits(backoff_jitter=0.5)) for n in range(100)]
    waits = {retry_delay(run, "busy", 0) for run in runs}
    assert len(waits) > 80
    assert 2.0 <= min(waits) < max(waits) < 3.0
    assert retry_delay(runs[0], "busy", 0) == retry_delay(runs[0], "busy", 0)


def test_between_two_plans_after_failures_some_time_has_to_pass_more_each_time() -> None:
    def at(replans: int, passed: float) -> float:
        run = Run(id="run", now=100.0 + passed, replanned_at=100.0, counts=Counts(error_replans=replans))
        return replan_delay(run)

    assert replan_delay(Run(id="run")) == 0.0, "the first waits for nothing"
    assert [at(n, 0.0) for n in (1, 2, 3)] == [5.0, 10.0, 20.0]
    assert (at(1, 4.0), at(1, 5.0), at(1, 60.0)) == (1.0, 0.0, 0.0)
    assert at(1, 5.0 - 2e-7) == 0.0, "no wait is so short, and a look in its place would lead here again"
    assert at(30, 0.0) == 60.0


# --- settings that can never take effect


def objection(**given: Any) -> str:
    return find_ineffective_setting(Limits(**given), given)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"human_after": 5}, "human_after = 5 can never be reached: max_error_replans = 3 comes first"),
        ({"human_after": 3, "max_replans": 3}, "max_replans = 3 would leave no plan to continue with"),
        ({"max_error_replans": 9}, "max_error_replans = 9 can never be reached: max_replans = 5 comes first"),
        ({"human_after": 2, "auto_replan": False}, "human_after can never take effect: auto_replan is off"),
        ({"replan_on_high": True, "auto_replan": False}, "auto_replan is off"),
        ({"replan_interval_seconds": 9.0, "max_error_replans": 1}, "there is never a second replan"),
        ({"replan_timeout_seconds": 300.0, "plan_timeout_seconds": 20.0}, "end a replan after 115.4 s"),
    ],
)
def test_an_ineffective_setting_is_refused_with_the_reason(given: dict[str, Any], why: str) -> None:
    assert why in objection(**given)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"human_after": 3},
        {"max_error_replans": 5},
        {"auto_replan": False},
        {"replan_interval_seconds": 9.0},
        {"replan_timeout_seconds": 300.0},
    ],
)
def test_an_effective_setting_is_accepted(given: dict[str, Any]) -> None:
    assert objection(**given) == ""


def test_a_default_that_another_setting_overtakes_was_not_asked_for() -> None:
    assert find_ineffective_setting(Limits(max_replans=1, max_error_replans=3), ["max_replans"]) == ""
    assert find_ineffective_setting(Limits(auto_replan=False), ["auto_replan"]) == ""


def test_limits_made_by_hand_are_refused_as_well() -> None:
    with pytest.raises(TaskInvalid, match="human_after = 5"):
        new_run(Task(goal="x", limits=Limits(human_after=5)), "run")
