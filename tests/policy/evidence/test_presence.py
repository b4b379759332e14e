"""A value counts as read only if a screen shows it."""

from dataclasses import replace

import pytest

from midcourse.domain.argument import Scalar
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.policy.evidence.presence import LONGEST_TEXT, MOST_TEXTS, find_new_texts, is_shown

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


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("A-4711", True),
        ("leave at the door", True),
        ("door", True),
        ("do", False),
        ("4711", True),
        ("471", False),
        ("711", False),
        ("1.049,50", True),
        ("1.049", False),
        ("50", False),
        ("EUR", True),
        (7, True),
        (471, False),
        ("都合", True),
    ],
)
def test_whole_words_and_numbers_are_told_from_parts_of_them(value: Scalar, shown: bool):
    seen = replace(SCREEN, zones=(*SCREEN.zones, Zone(id="c", role="text", label="不都合です")))
    assert is_shown(value, (seen,), whole=True) == shown


def test_without_screens_no_value_is_found():
    assert not is_shown("x", ())


def screen(*zones: tuple[str, str]) -> Observation:
    shown = tuple(Zone(id=f"z{n}", role=role, label=label) for n, (role, label) in enumerate(zones))
    return Observation(id="o", surface=Surface(title="Shop"), zones=shown, fingerprint="f")


def test_new_texts_are_those_that_were_not_visible_messages_first():
    before = screen(("link", "Home"), ("text", "Your cart"))
    after = screen(
        ("link", "home"), ("link", "Orders"), ("text", "Your  cart"), ("text", "Order 7"), ("alert", "Thank you")
    )
    assert find_new_texts(before, after) == ("Thank you", "Order 7", "Orders")


def test_new_texts_are_few_and_short():
    after = screen(*(("text", f"{n} " + "x" * 500) for n in range(50)))
    found = find_new_texts(screen(), after)
    assert len(found) == MOST_TEXTS
    assert {len(text) for text in found} == {LONGEST_TEXT + 1}
