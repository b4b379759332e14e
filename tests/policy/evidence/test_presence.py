"""A value counts as read only if a screen shows it."""

import pytest

from midcourse.domain.argument import Scalar
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.policy.evidence.presence import is_shown

SCREEN = Observation(
    id="o1",
    surface=Surface(title="Order A-4711", address="https://shop.example/orders/4711"),
    zones=(
        Zone(id="a", role="text", label="Total:\n 1.049,50 EUR"),
        Zone(
            id="b",
            role="text",
            label="Paid 1,049.50, rebate -3 %",
            state=(("count", 7), ("note", "Leave  at the Door")),
        ),
    ),
    fingerprint="f",
)


@pytest.mark.parametrize("value", ["A-4711", "order a-4711", "leave at the door", 1049.5, 7, -3, 4711, True, False])
def test_a_visible_value_is_found(value: Scalar):
    assert is_shown(value, (SCREEN,))


@pytest.mark.parametrize("value", ["A-4712", "", " ", None, 1049, 8, 0.5])
def test_an_absent_value_is_not_found(value: Scalar):
    assert not is_shown(value, (SCREEN,))


def test_without_screens_no_value_is_found():
    assert not is_shown("x", ())
