"""Unit costs from the kept results of benchmarks, and what a number of runs needs by them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
SECONDS_A_STEP = 30
"""Between two steps of an active run, mostly waiting for a model."""


def read_result(name: str) -> dict[str, Any]:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


@dataclass(frozen=True, kw_only=True)
class UnitCosts:
    """Bytes in PostgreSQL and megabytes of memory."""

    step: int
    waiting: int
    browser_mb: float
    own_browser_mb: float

    def count_steps(self, active: float) -> float:
        """Per second."""
        return active / SECONDS_A_STEP

    def count_browser_gb(self, active: float, *, shared: bool = True) -> float:
        return active * (self.browser_mb if shared else self.own_browser_mb) / 1000

    def count_waiting_gb(self, waiting: float) -> float:
        return waiting * self.waiting / 1e9

    def count_step_gb(self, active: float, seconds: float) -> float:
        """What active runs store in this time."""
        return self.count_steps(active) * self.step * seconds / 1e9


def read_costs() -> UnitCosts:
    stored, browsers = read_result("storage"), read_result("density")
    return UnitCosts(
        step=stored["step"],
        waiting=stored["waiting"],
        browser_mb=browsers["shared"]["mb_each"],
        own_browser_mb=browsers["own"]["mb_each"],
    )
