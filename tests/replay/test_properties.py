"""Whatever happened to a run: its replay is identical, and a stricter limit never reports more than was recorded."""

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.budget import Limits
from midcourse.domain.phases import Ended
from tests.properties.adversary import BYTES
from tests.replay.recording import made_up

pytestmark = pytest.mark.slow

LOWER = {
    "max_calls": (1, 2, 5, 12),
    "max_tokens": (100, 500),
    "max_cost_usd": (0.01,),
    "max_wall_seconds": (1.0, 20.0, 120.0),
    "deadline_seconds": (1.0, 20.0, 80.0),
    "max_segments": (1, 3),
    "max_replans": (0, 1),
    "max_error_replans": (0, 1),
    "max_step_retries": (0, 1),
    "max_plan_steps": (1, 2),
    "max_reopenings": (0, 1),
    "max_outage_seconds": (1.0, 20.0),
    "lesson_stop_after": (1, 5),
    "lesson_tries": (0.0, 0.05),
    "approval_seconds": (1.0, 5.0),
    "act_timeout_seconds": (1.0, 5.0),
    "look_timeout_seconds": (1.0, 5.0),
    "plan_timeout_seconds": (1.0, 5.0),
}
CHANGES = st.sampled_from([(name, value) for name, values in LOWER.items() for value in values])
ANY_LIMITS = st.builds(
    Limits,
    max_calls=st.integers(1, 40),
    max_replans=st.integers(0, 6),
    max_error_replans=st.integers(0, 4),
    max_step_retries=st.integers(0, 4),
    max_segments=st.integers(1, 25),
    deadline_seconds=st.none() | st.floats(1, 5000),
    approval_seconds=st.floats(1, 5000),
    approvals=st.sampled_from(["always", "never"]),
    structural_stop=st.booleans(),
    lesson_stop_after=st.none() | st.integers(1, 12),
    lesson_tries=st.sampled_from([0.0, 0.1, 1.0]),
    replan_admission=st.booleans(),
    count_extensions=st.booleans(),
    retry_delay_seconds=st.sampled_from([0.0, 2.0, 5.0]),
    look_calls=st.integers(0, 1),
)


def stricter(limits: Limits, name: str, value: Any) -> Limits:
    old = getattr(limits, name)
    return replace(limits, **{name: value if old is None else min(old, value)})


@given(BYTES)
def test_unchanged_it_is_identical_to_the_byte(data: bytes) -> None:
    assert made_up(data).is_identical()


@given(BYTES, CHANGES)
def test_a_stricter_limit_never_reports_more_calls(data: bytes, change: tuple[str, Any]) -> None:
    recording = made_up(data, wrap_up_at=1.0)
    again = recording.under(stricter(recording.opening.limits, *change))
    assert again.until.calls <= again.recorded.calls
    if again.saved is not None:
        assert min(again.saved.calls, again.saved.planner_calls, again.saved.executions, again.saved.completed) >= 0
        assert again.saved.seconds >= 0


@given(BYTES, CHANGES)
def test_what_ends_earlier_stays_within_the_stricter_limit(data: bytes, change: tuple[str, Any]) -> None:
    recording = made_up(data, wrap_up_at=1.0)
    limits = stricter(recording.opening.limits, *change)
    again = recording.under(limits)
    if again.verdict == "ends_earlier":
        assert isinstance(again.final.phase, Ended)
        assert again.until.calls <= limits.max_calls
        assert again.final.counts.segments <= limits.max_segments
        assert again.final.counts.error_replans <= limits.max_error_replans


@given(BYTES, ANY_LIMITS)
def test_any_limits_get_a_verdict_that_holds_together(data: bytes, limits: Limits) -> None:
    """Up to where the two differ, the same is asked of the world; and each difference has a reason."""
    recording = made_up(data)
    again = recording.under(limits)
    assert again.verdict not in ("identical", "nondeterminism")
    assert not (isinstance(again.final.phase, Ended) and again.final.phase.reason == "internal_error")
    if again.verdict == "same_course":
        assert (again.at, len(again.commands)) == (0, len(recording.rows))
        assert again.until.calls == again.recorded.calls
    else:
        assert again.detail
        assert 0 < again.at <= recording.rows[-1].seq
        assert len(again.commands) <= again.at
    shared = again.commands[:-1] if again.at else again.commands
    for ours, row in zip(shared, recording.rows, strict=False):
        assert [command.kind for command in ours if command.kind != "wait"] == [
            command.kind for command in row.commands if command.kind != "wait"
        ]


def test_every_ceiling_is_among_the_stricter_limits() -> None:
    named = {field.name for field in fields(Limits) if field.name.startswith("max_")}
    assert named - {"max_retry_delay_seconds"} <= set(LOWER)
