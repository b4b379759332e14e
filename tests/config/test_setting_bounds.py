"""How far a request may change a setting: every setting has a bound, and no request within the bounds has a run ask less."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.config.bounds import ADMINISTRATORS, BOUNDS, FREE, ONLY_LOWER, find_loosened
from midcourse.config.settings import Settings
from midcourse.domain.budget import Limits
from midcourse.domain.plan import PlannedStep
from midcourse.domain.skill import Effect
from midcourse.policy.approval.rules import needs_approval


def loosened(before: dict[str, Any], request: dict[str, Any]) -> list[str]:
    bound = Settings.load(task=before)
    now = bound.with_overrides(request)
    return [change.name for change in find_loosened(bound, {name: getattr(now, name) for name in BOUNDS})]


def test_every_setting_has_a_bound() -> None:
    assert set(BOUNDS) == set(Settings.model_fields)


def test_what_only_becomes_stricter_lists_exactly_the_values_of_the_setting() -> None:
    for name, bound in BOUNDS.items():
        if bound.change == "only stricter":
            for value in bound.order:
                assert getattr(Settings.load(overrides={name: value}), name) == value
            assert len(bound.order) == len(set(bound.order)) >= 2, name
        else:
            assert bound.order == (), name


@pytest.mark.parametrize("name", sorted(name for name, bound in BOUNDS.items() if bound == ONLY_LOWER))
def test_a_ceiling_is_only_lowered(name: str) -> None:
    low, high = (0.5, 0.6) if name == "lesson_tries" else (70, 71)
    assert loosened({name: low}, {name: low}) == []
    assert loosened({name: low}, {name: high}) == [name]
    assert loosened({name: high}, {name: low}) == []


@pytest.mark.parametrize("name", ["max_cost_usd", "max_tokens", "deadline_seconds", "human_after"])
def test_no_ceiling_is_the_highest(name: str) -> None:
    assert loosened({}, {name: 10**6}) == []
    assert loosened({name: 10**6}, {name: "none"}) == [name]


@pytest.mark.parametrize(
    ("before", "now", "looser"),
    [
        ("always", "never", True),
        ("adaptive", "never", True),
        ("adaptive", "always", True),
        ("never", "always", False),
        ("always", "adaptive", False),
        ("never", "never", False),
    ],
)
def test_approvals_only_become_stricter(before: str, now: str, looser: bool) -> None:
    assert loosened({"approvals": before}, {"approvals": now}) == (["approvals"] if looser else [])


def test_a_preset_is_bounded_by_what_it_stands_for() -> None:
    assert loosened({"recovery": "strict"}, {"recovery": "default"}) == ["max_error_replans", "human_after"]
    assert loosened({"recovery": "off"}, {"recovery": "default"}) == ["auto_replan"]
    assert loosened({"recovery": "default"}, {"recovery": "strict"}) == []


def test_the_models_are_the_administrators_choice() -> None:
    assert loosened({}, {"model": "openai:gpt-5", "role_models": "judge=rules", "agent": "other"}) == [
        "model",
        "role_models",
        "agent",
    ]
    assert loosened({}, {"retry_delay_seconds": 0, "outline": "on", "reuse": True}) == []


def test_a_refusal_names_the_setting_the_bound_and_what_a_request_may_do() -> None:
    bound = Settings.load(task={"max_calls": 5})
    says = [str(change) for change in find_loosened(bound, {"max_calls": 9, "approvals": "never", "model": "openai:x"})]
    stricter = "a request may only make it stricter (from the loosest: never, always, adaptive)"
    assert says == [
        "settings.max_calls would be 9; the task and the server's own settings say 5, and a request may only lower it",
        f"settings.approvals would be never; the task and the server's own settings say always, and {stricter}",
        "settings.model would be openai:x; the task and the server's own settings say empty, and a request may not change it",
    ]


EFFECTS: tuple[Effect, ...] = ("read", "set_state", "reversible", "irreversible")


@given(
    before=st.sampled_from(["never", "always", "adaptive"]),
    now=st.sampled_from(["never", "always", "adaptive"]),
    effect=st.sampled_from(EFFECTS),
    asks=st.booleans(),
    ruled=st.sampled_from(["", "ask", "never", "proven", "unproven"]),
)
def test_what_a_request_may_set_never_has_a_step_asked_about_less(
    before: Any, now: Any, effect: Any, asks: bool, ruled: Any
) -> None:
    if loosened({"approvals": before}, {"approvals": now}):
        return
    step = PlannedStep(
        version=1, index=0, place="global", skill="order", effect=effect, identity="i", asks=asks, ruled=ruled
    )
    if needs_approval(Limits(approvals=before), step):
        assert needs_approval(Limits(approvals=now), step)


def test_what_is_free_is_not_one_of_the_settings_that_ask_or_cost() -> None:
    asking = {"approvals", "approval_seconds", "approval_policy", "human_after", "failures", "monitor"}
    ceilings = {name for name in Settings.model_fields if name.startswith("max_") and name != "max_retry_delay_seconds"}
    free = {name for name, bound in BOUNDS.items() if bound == FREE}
    assert not free & (asking | ceilings)
    assert {name for name in Settings.model_fields if "model" in name} <= {
        name for name, bound in BOUNDS.items() if bound == ADMINISTRATORS
    }
