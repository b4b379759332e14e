"""Malformed answers of every kind cause no action, and the benchmark notices if one does."""

import pytest

from benchmarks.malformed import KINDS, run_seeds
from midcourse.policy.plan import horizon

pytestmark = pytest.mark.slow


def test_malformed_answers_of_every_kind_cause_no_action():
    result = run_seeds(runs=3 * len(KINDS), first_seed=0)
    assert (result["crashes"], result["hangs"], result["invalid_acts"]) == (0, 0, 0), result["examples"]
    assert result["kinds"] > 25


def test_the_benchmark_notices_an_action_that_is_not_allowed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(horizon, "find_step_problem", lambda *_: "")
    result = run_seeds(runs=len(KINDS), first_seed=0)
    assert result["invalid_acts"] > 0
