"""The documented length of prompts holds, with any tokenizer."""

from pathlib import Path

import pytest

from benchmarks.llm import tokenizer
from tests.benchmarks.scripts import measure

pytestmark = pytest.mark.slow


def test_most_of_a_replan_has_been_seen_before():
    rows = {row["zones"]: row for row in measure("prompt_tokens")["rows"]}
    assert rows[500]["changed"] == 10
    assert rows[500]["uncached_share"] <= 0.3
    assert all(row["uncached_share"] <= 0.3 for row in rows.values())
    assert rows[5_000]["shown"] < 5_000


def test_without_the_ranks_it_says_what_to_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(tokenizer, "RANKS", tmp_path / "missing.js")
    tokenizer.tokenizer.cache_clear()
    with pytest.raises(SystemExit, match=r"npm i --prefix benchmarks/\.cache js-tiktoken"):
        tokenizer.tokenizer()
