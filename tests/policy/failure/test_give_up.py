"""Giving up where no new plan has ever helped, and the share of runs that still try."""

from midcourse.domain.budget import Limits
from midcourse.domain.failure import Track
from midcourse.policy.failure.recovery import sample_fraction, why_give_up

NEVER = Track(lesson="00112233aabbccdd", not_fixed=7, sample=0.5)


def test_a_failure_that_no_plan_fixed_is_hopeless_and_the_reason_has_the_numbers() -> None:
    why = why_give_up(Limits(), NEVER)
    assert "last 7 runs" in why
    assert "0 got past it" in why
    assert NEVER.lesson in why
    assert "10% of runs try all the same" in why


def test_a_failure_fixed_once_or_met_too_seldom_is_not_hopeless() -> None:
    assert not why_give_up(Limits(), None)
    assert not why_give_up(Limits(), Track(lesson="x", not_fixed=4, sample=0.5))
    assert not why_give_up(Limits(), Track(lesson="x", fixed=1, not_fixed=99, sample=0.5))


def test_nothing_is_hopeless_if_the_stop_is_off() -> None:
    assert not why_give_up(Limits(lesson_stop_after=None), NEVER)
    assert why_give_up(Limits(lesson_stop_after=7), NEVER)
    assert not why_give_up(Limits(lesson_stop_after=8), NEVER)


def test_a_share_of_runs_tries_all_the_same() -> None:
    assert not why_give_up(Limits(), Track(lesson="x", not_fixed=7, sample=0.09))
    assert why_give_up(Limits(lesson_tries=0.0), Track(lesson="x", not_fixed=7, sample=0.0))
    assert not why_give_up(Limits(lesson_tries=1.0), Track(lesson="x", not_fixed=7, sample=0.999))


def test_fractions_of_runs_are_uniform_and_reproducible() -> None:
    lots = [sample_fraction(f"run-{n}", "00112233aabbccdd") for n in range(10_000)]
    assert lots == [sample_fraction(f"run-{n}", "00112233aabbccdd") for n in range(10_000)]
    assert all(0 <= lot < 1 for lot in lots)
    assert 900 < sum(lot < 0.1 for lot in lots) < 1100
    assert sample_fraction("run-1", "a") != sample_fraction("run-1", "b")
