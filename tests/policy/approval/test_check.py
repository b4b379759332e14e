"""Which steps need approval."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.approval import Grant
from midcourse.domain.budget import Limits
from midcourse.policy.approval.check import binds, live_grant, needs_approval
from tests.harness import a_step

GRANT = Grant(consequence="c1", expires_at=100.0)


@pytest.mark.parametrize("effect", ["read", "set_state", "reversible", "irreversible"])
def test_irreversible_steps_need_a_person_unless_nobody_is_to_be_asked(effect: str) -> None:
    step = a_step("x", effect)  # pyrefly: ignore[bad-argument-type]
    assert needs_approval(Limits(), step) is (effect == "irreversible")
    assert not needs_approval(Limits(approvals="never"), step)


@pytest.mark.parametrize("mode", ["always", "never", "adaptive"])
@pytest.mark.parametrize("effect", ["read", "set_state", "reversible", "irreversible"])
def test_rules_come_before_modes(mode: Any, effect: Any) -> None:
    step = a_step("x", effect)
    assert needs_approval(Limits(approvals=mode), replace(step, ruled="ask"))
    assert not needs_approval(Limits(approvals=mode), replace(step, ruled="never"))
    assert needs_approval(Limits(approvals=mode), step) is (effect == "irreversible" and mode != "never")


def test_steps_asked_about_or_proven_bind_their_consequence() -> None:
    step = a_step("x", "reversible")
    assert not binds(step)
    assert [binds(replace(step, ruled=ruled)) for ruled in ("ask", "never", "unproven", "proven")] == [
        True,
        False,
        True,
        True,
    ]
    assert not needs_approval(Limits(approvals="adaptive"), replace(step, ruled="proven"))
    assert needs_approval(Limits(approvals="adaptive"), replace(step, ruled="unproven"))


def test_a_grant_is_for_exactly_one_consequence_and_until_it_expires() -> None:
    assert live_grant((GRANT,), "c1", 99.9) is GRANT
    assert live_grant((GRANT,), "c1", 100.0) is None
    assert live_grant((GRANT,), "c2", 0.0) is None
    assert live_grant((), "c1", 0.0) is None


def test_an_unknown_consequence_is_never_granted() -> None:
    assert live_grant((Grant(consequence="", expires_at=100.0),), "", 0.0) is None


def test_an_expired_grant_does_not_hide_a_live_one() -> None:
    old = Grant(consequence="c1", expires_at=10.0)
    assert live_grant((old, GRANT), "c1", 50.0) is GRANT
