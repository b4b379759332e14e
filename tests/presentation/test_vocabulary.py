"""Amounts in words."""

import pytest

from midcourse.domain.budget import Cost
from midcourse.presentation.vocabulary import format_cost


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (Cost(microusd=500_000), "$0.50"),
        (Cost(microusd=20_000_000), "$20.00"),
        (Cost(microusd=12_345), "$0.012345"),
        (Cost(calls=1, tokens=9000), "1 call and 9000 tokens"),
        (Cost(microusd=100_000, calls=30), "$0.10 and 30 calls"),
        (Cost(), "nothing"),
    ],
)
def test_an_amount_is_said_exactly(cost: Cost, words: str) -> None:
    """A yes grants what was read, so nothing is rounded."""
    assert format_cost(cost) == words
