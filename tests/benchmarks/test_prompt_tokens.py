"""What the documentation says of the length of prompts holds, whichever tokenizer is at hand."""

import pytest

from tests.benchmarks.scripts import measure

pytestmark = pytest.mark.slow


def test_most_of_a_replan_has_been_seen_before():
    rows = {row["zones"]: row for row in measure("prompt_tokens")["rows"]}
    assert rows[500]["changed"] == 10
    assert rows[500]["uncached_share"] <= 0.3
    assert all(row["uncached_share"] <= 0.3 for row in rows.values())
    assert rows[5_000]["shown"] < 5_000
