"""Nonsense of every kind comes to nothing, and the trial would notice if it did not."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from midcourse.policy.plan import horizon

pytestmark = pytest.mark.slow


@pytest.fixture
def garbage(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parents[2] / "benchmarks"), *sys.path])
    return import_module("garbage")


def test_nonsense_of_every_kind_comes_to_nothing(garbage: Any):
    told = garbage.measured(runs=3 * len(garbage.KINDS), first_seed=0)
    assert (told["crashes"], told["hangs"], told["invalid_acts"]) == (0, 0, 0), told["examples"]
    assert told["kinds"] > 25


def test_the_trial_notices_an_act_that_nothing_allows(garbage: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(horizon, "step_problem", lambda *_: "")
    told = garbage.measured(runs=len(garbage.KINDS), first_seed=0)
    assert told["invalid_acts"] > 0
