"""What a failure means, and the wait before another try."""

import pytest

from midcourse.domain.command import Act, MakePlan, Observe, Wait
from midcourse.domain.phase import Acting, Looking
from tests.harness import Drill, a_step

ONE, TWO = a_step("one"), a_step("two")


def test_three_retries_are_four_executions_with_doubling_waits() -> None:
    drill = Drill().to_acting(ONE, TWO)
    for _ in range(3):
        drill.acts("failed", reason="busy").waits()
    drill.acts("failed", reason="busy", detail="still busy")
    assert [wait.seconds for wait in drill.sent(Wait)] == [2.0, 4.0, 8.0]
    assert len(drill.sent(Act)) == 4
    assert (drill.run.counts.executions, drill.run.counts.steps) == (4, 1)
    assert drill.pending(MakePlan).why == "one failed: busy — still busy"


def test_a_retry_that_works_goes_on_and_the_next_step_has_all_its_retries() -> None:
    drill = Drill().to_acting(ONE, TWO).acts("failed", reason="busy").waits().acts()
    assert drill.pending(Act).index == 1
    for _ in range(3):
        drill.acts("failed", reason="busy").waits()
    assert isinstance(drill.phase, Acting)


def test_no_retries_means_none() -> None:
    drill = Drill(max_step_retries=0).to_acting(ONE).acts("failed", reason="busy")
    assert drill.pending(MakePlan).cause == "error"


def test_what_was_never_sent_is_tried_again_at_once() -> None:
    drill = Drill().to_acting(ONE).acts("no_effect", reason="not_dispatched", dispatched=False)
    assert isinstance(drill.phase, Acting)
    assert drill.run.counts.executions == 0


@pytest.mark.parametrize("reason", ["unreachable", "not_permitted", "impossible"])
def test_a_structural_failure_stops(reason: str) -> None:
    drill = Drill().to_acting(ONE).acts("unreachable", reason=reason, detail="too far")
    assert drill.ended == ("structural_failure", f"one failed: {reason} — too far")
    patient = Drill(structural_stop=False).to_acting(ONE).acts("unreachable", reason=reason)
    assert patient.pending(MakePlan).cause == "error"


def test_a_worlds_permission_denied_is_planned_around() -> None:
    drill = Drill().to_acting(ONE).acts("failed", reason="permission")
    assert drill.pending(MakePlan).cause == "error"


def test_what_is_not_there_is_looked_for_and_tried_once_more() -> None:
    drill = Drill().to_acting(ONE)
    drill.acts("unreachable", reason="target_not_visible", dispatched=False, looked=False)
    assert isinstance(drill.phase, Looking)
    drill.sees("f2")
    assert drill.pending(Act).seen == "o-f2"
    drill.acts("unreachable", reason="target_not_visible", dispatched=False, looked=False)
    assert drill.pending(MakePlan).cause == "error"
    assert len(drill.sent(Observe)) == 2


def test_a_stale_screen_is_looked_at_before_it_is_planned_from() -> None:
    drill = Drill().to_acting(ONE).acts("failed", reason="rejected", fingerprint=None)
    assert isinstance(drill.phase, Looking)
    drill.sees("f2")
    assert drill.pending(MakePlan).seen == "o-f2"


def test_a_wait_that_does_not_fit_ends_the_run_now() -> None:
    drill = Drill(max_wall_seconds=10.0, retry_delay_seconds=30.0).to_acting(ONE).acts("failed", reason="busy")
    assert drill.ended == ("budget_exhausted", "no time left to wait 30 s")


def test_a_wait_past_the_deadline_ends_the_run_now() -> None:
    drill = Drill(deadline_seconds=20.0, retry_delay_seconds=30.0).to_acting(ONE).acts("failed", reason="busy")
    assert drill.ended == ("deadline_exceeded", "no time left to wait 30 s")


def test_a_retry_is_not_sent_on_a_screen_where_the_call_failed_for_good() -> None:
    drill = Drill().to_acting(ONE).acts("failed", fingerprint="f1", reason="rejected")
    drill.plans(TWO, ONE).acts("ok", fingerprint="f2").acts("failed", fingerprint="f1", reason="busy").waits()
    assert len(drill.sent(Act)) == 3
    assert drill.pending(MakePlan).cause == "error"


def test_attempts_keep_both_screens_and_count() -> None:
    drill = Drill().to_acting(ONE).acts("failed", fingerprint="f2", reason="busy").waits()
    (attempt,) = drill.run.attempts
    assert (attempt.call, attempt.before, attempt.after, attempt.count) == ("call-one", "f1", "f2", 1)
    drill.acts("failed", fingerprint="f2", reason="busy")
    assert len(drill.run.attempts) == 2


def test_the_same_failure_again_is_counted_not_listed() -> None:
    drill = Drill().to_acting(ONE).acts("failed", reason="busy").waits().acts("failed", reason="busy")
    (attempt,) = drill.run.attempts
    assert attempt.count == 2
    assert attempt.at == drill.run.now


def test_every_screen_that_a_failure_led_to_is_remembered() -> None:
    """From f1 the try led to f2, and at another time to f3: neither is a screen to try the same on again."""
    drill = Drill(replan_admission=False).to_acting(ONE).acts("failed", fingerprint="f2", reason="rejected")
    drill.plans(TWO, ONE).acts("ok", fingerprint="f1").acts("failed", fingerprint="f3", reason="rejected")
    assert {(a.before, a.after) for a in drill.run.attempts} == {("f1", "f2"), ("f1", "f3")}
