"""What now, after a failure? And how long to wait."""

from itertools import product

import pytest

from midcourse.domain.budget import Limits
from midcourse.policy.classify import KINDS, kind_of
from midcourse.policy.recovery import retry_delay, what_now

STRUCTURAL = ("unreachable", "not_permitted", "impossible")
TRANSIENT = ("busy", "grasp_slipped", "no_effect", "not_dispatched", "object_moved", "timeout", "transient")


def test_every_reason_is_of_one_kind_and_unknown_ones_are_other() -> None:
    assert {reason for reason, kind in KINDS.items() if kind == "structural"} == set(STRUCTURAL)
    assert {reason for reason, kind in KINDS.items() if kind == "transient"} == set(TRANSIENT)
    for reason in ("permission", "target_not_visible", "stale_target", "expectation_unmet", "", "no such word"):
        assert kind_of(reason) == "other"


@pytest.mark.parametrize(("reason", "tries"), list(product(TRANSIENT, range(5))))
def test_transient_failures_are_retried_three_times(reason: str, tries: int) -> None:
    assert what_now(Limits(), reason, tries) == ("retry" if tries < 3 else "replan")


@pytest.mark.parametrize("reason", STRUCTURAL)
def test_structural_failures_stop_unless_told_not_to(reason: str) -> None:
    assert what_now(Limits(), reason, 0) == "stop"
    assert what_now(Limits(structural_stop=False), reason, 0) == "replan"


@pytest.mark.parametrize("reason", ["target_not_visible", "stale_target"])
def test_what_is_not_there_is_looked_for_once(reason: str) -> None:
    assert what_now(Limits(), reason, 0) == "look_and_retry"
    assert what_now(Limits(), reason, 1) == "replan"
    assert what_now(Limits(max_step_retries=0), reason, 0) == "replan"


def test_everything_else_is_planned_again() -> None:
    assert what_now(Limits(), "permission", 0) == "replan"
    assert what_now(Limits(max_step_retries=0), "busy", 0) == "replan"


def test_the_wait_doubles_up_to_its_ceiling() -> None:
    limits = Limits(retry_delay_seconds=2.0, max_retry_delay_seconds=10.0)
    assert [retry_delay(limits, "busy", n) for n in range(5)] == [2.0, 4.0, 8.0, 10.0, 10.0]
    assert retry_delay(limits, "busy", 10**9) == 10.0
    assert retry_delay(Limits(retry_delay_seconds=0.0), "busy", 3) == 0.0


def test_what_was_never_sent_needs_no_wait() -> None:
    assert retry_delay(Limits(), "not_dispatched", 2) == 0.0
