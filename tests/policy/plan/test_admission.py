"""Admission: which plans are refused because they repeat failed or finished work."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.budget import Limits
from midcourse.domain.failure import Attempt
from midcourse.domain.outcome import SIGN_INS
from midcourse.domain.plan import Segment
from midcourse.domain.run import Run
from midcourse.policy.plan.admission import (
    goes_in_a_circle,
    is_finished,
    remember_adopted,
    remember_completed,
    repeats_failure,
    seconds_to_wait,
    why_refused,
)
from tests.harness import REPLAN_STEP, a_step, ref

READ = a_step("read", "read")
CLICK = a_step("click")
ORDER = a_step("order", "irreversible")


def tried(**more: Any) -> Attempt:
    usual: dict[str, Any] = {"call": CLICK.call, "before": "f1", "after": "f2", "reason": "rejected", "at": 100.0}
    return Attempt(**(usual | more))


def a_run(*attempts: Attempt, seen: str = "f1", now: float = 1000.0, **limits: Any) -> Run:
    return Run(id="run", limits=Limits(**limits), seen=ref(seen), attempts=attempts, now=now)


def test_a_plan_of_new_steps_may_run() -> None:
    assert why_refused(a_run(), (READ, CLICK, ORDER, REPLAN_STEP)) == ""


def test_what_is_finished_is_refused_wherever_it_stands() -> None:
    run = replace(a_run(), finished_irreversible=(ORDER.identity,))
    assert is_finished(run, ORDER)
    assert "step 1 (order) is finished already" in why_refused(run, (ORDER,))
    assert "finished already" in why_refused(run, (CLICK, READ, ORDER))


def test_a_step_whose_commit_set_is_not_known_yet_is_not_taken_for_finished() -> None:
    run = replace(a_run(), finished_irreversible=(ORDER.identity,))
    assert not is_finished(run, replace(ORDER, identity=""))


@pytest.mark.parametrize("present", ["f1", "f2"])
def test_what_failed_is_refused_on_the_screen_before_and_the_screen_after(present: str) -> None:
    assert repeats_failure(a_run(tried(), seen=present), CLICK)
    assert "failed before" in why_refused(a_run(tried(), seen=present), (CLICK,))


def test_what_failed_may_be_tried_on_another_screen_or_by_another_call() -> None:
    assert not repeats_failure(a_run(tried(), seen="f3"), CLICK)
    assert not repeats_failure(a_run(tried()), a_step("other"))
    assert not repeats_failure(replace(a_run(tried()), seen=None), CLICK)


def test_a_failed_step_is_refused_behind_steps_that_only_read() -> None:
    run = a_run(tried())
    assert why_refused(run, (READ, READ, CLICK))
    assert not why_refused(run, (a_step("other"), CLICK)), "the screen will be another one by then"


def test_a_transient_failure_is_excused_after_its_cool_down() -> None:
    once = tried(reason="busy", at=1000.0)
    assert repeats_failure(a_run(once, now=1001.9), CLICK)
    assert not repeats_failure(a_run(once, now=1002.0), CLICK)
    twice = replace(once, count=2)
    assert repeats_failure(a_run(twice, now=1003.9), CLICK)
    assert not repeats_failure(a_run(twice, now=1004.0), CLICK)


def test_a_transient_failure_is_excused_as_often_as_a_step_may_be_retried() -> None:
    assert not repeats_failure(a_run(tried(reason="busy", count=3), max_step_retries=3), CLICK)
    assert repeats_failure(a_run(tried(reason="busy", count=4), max_step_retries=3), CLICK)
    assert repeats_failure(a_run(tried(reason="busy"), max_step_retries=0), CLICK)


def test_what_is_only_too_soon_is_waited_for_and_not_refused() -> None:
    busy = tried(reason="busy", at=1000.0)
    assert seconds_to_wait(a_run(busy, now=1000.5), CLICK) == 1.5
    assert why_refused(a_run(busy, now=1000.5), (CLICK,)) == ""
    assert seconds_to_wait(a_run(busy, now=1002.0), CLICK) == 0
    assert seconds_to_wait(a_run(now=1000.5), CLICK) == 0
    for hopeless in (a_run(tried(reason="rejected")), a_run(tried(reason="busy", count=4))):
        assert seconds_to_wait(hopeless, CLICK) == 0
        assert why_refused(hopeless, (CLICK,))


def test_one_excuse_does_not_cover_another_failure() -> None:
    assert repeats_failure(a_run(tried(reason="busy"), tried(reason="rejected")), CLICK)


def test_tries_on_one_screen_count_together_whatever_came_after() -> None:
    """Else a step whose failures each lead somewhere else, or are called otherwise, is excused forever."""
    scattered = [tried(reason="busy", after=f"f{n}") for n in range(3, 6)]
    assert not repeats_failure(a_run(*scattered), CLICK)
    assert repeats_failure(a_run(*scattered, tried(reason="timeout")), CLICK)


def test_the_cool_down_is_that_of_the_last_try() -> None:
    early, late = tried(reason="busy", at=100.0), tried(reason="timeout", at=999.0, after="f3")
    assert repeats_failure(a_run(late, early, now=1002.9), CLICK)
    assert not repeats_failure(a_run(late, early, now=1003.0), CLICK)


@pytest.mark.parametrize("reason", ["target_not_visible", "stale_target"])
def test_what_could_not_be_seen_was_not_tried(reason: str) -> None:
    run = a_run(tried(reason=reason))
    assert not repeats_failure(run, CLICK)
    assert repeats_failure(replace(run, seen=ref("f1", stale=True)), CLICK)


@pytest.mark.parametrize("reason", ["expectation_unmet", "signed_out"])
def test_what_something_else_came_up_for_may_be_tried_again_once_that_is_gone(reason: str) -> None:
    unmet = tried(reason=reason)
    assert not repeats_failure(a_run(unmet, now=100.0), CLICK), "at once"
    assert repeats_failure(a_run(unmet, seen="f2"), CLICK), "what came up is still there"
    assert repeats_failure(a_run(tried(reason=reason, after="f1")), CLICK), "nothing came up"
    assert repeats_failure(a_run(replace(unmet, count=4)), CLICK), "as often as a step may be retried"


@pytest.mark.parametrize("reason", sorted(SIGN_INS))
def test_a_sign_in_may_be_tried_again_on_the_same_screen_and_not_for_ever(reason: str) -> None:
    attempt = tried(reason=reason, after="f1")
    assert not repeats_failure(a_run(attempt), CLICK)
    assert repeats_failure(a_run(replace(attempt, count=4)), CLICK), "as often as a step may be retried"


def test_a_retry_is_refused_where_the_call_failed_for_good() -> None:
    busy = tried(reason="busy", at=1000.0, count=9)
    assert not repeats_failure(a_run(busy), CLICK, retry=True), "recovery has counted and waited"
    assert repeats_failure(a_run(busy, tried(reason="rejected")), CLICK, retry=True)
    assert not repeats_failure(a_run(busy, tried(reason="rejected", before="f8", after="f9")), CLICK, retry=True)


def test_admission_can_be_switched_off_but_not_for_what_is_finished() -> None:
    run = replace(a_run(tried(), replan_admission=False), finished_irreversible=(ORDER.identity,))
    assert not repeats_failure(run, CLICK)
    assert why_refused(run, (ORDER,))


# --- going round in a circle


def walking(run: Run, *views: str) -> Run:
    """The run after it has walked the same plan to its end, scrolled so far each time."""
    for view in views:
        segment = Segment(
            version=1, cause="adaptive", made_under="f1", view=view, final=False, steps=(CLICK, REPLAN_STEP)
        )
        run = replace(run, remembered_plans=remember_adopted(run, segment))
        run = replace(run, remembered_plans=remember_completed(run, segment), seen=replace(ref("f1"), view=view))
    return run


def test_the_same_plan_on_the_same_screen_goes_round_in_a_circle() -> None:
    assert not goes_in_a_circle(walking(a_run(), "top"), (CLICK, REPLAN_STEP))
    assert goes_in_a_circle(walking(a_run(), "top", "top"), (CLICK, REPLAN_STEP))


def test_scrolling_on_is_no_circle_and_scrolling_back_and_forth_is_one() -> None:
    on = walking(a_run(), "one", "two", "three", "four")
    assert not goes_in_a_circle(replace(on, seen=replace(ref("f1"), view="five")), (CLICK, REPLAN_STEP))
    assert goes_in_a_circle(walking(a_run(), "one", "two", "one", "two"), (CLICK, REPLAN_STEP))
