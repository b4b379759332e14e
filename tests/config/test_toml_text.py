"""What is written as TOML is read as the same values."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.config.toml_text import toml_text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = TEXTS | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
INLINE = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3))
TABLES = st.recursive(
    st.dictionaries(TEXTS, SCALARS | st.lists(INLINE, max_size=3), min_size=1, max_size=4),
    lambda inner: st.dictionaries(TEXTS, inner, min_size=1, max_size=3),
    max_leaves=6,
)


@pytest.mark.slow
@given(TABLES)
def test_what_is_written_is_read_again(values: dict[str, object]):
    assert tomllib.loads(toml_text(values)) == values


def test_nothing_is_written_for_what_has_no_value():
    text = toml_text({"goal": "Order", "key": None, "inputs": {}, "world": {"options": {"start": "https://x.example"}}})
    assert text == 'goal = "Order"\n\n[world.options]\nstart = "https://x.example"\n'
