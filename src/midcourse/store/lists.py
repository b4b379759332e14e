"""The columns of lists of runs, which both databases select in the same order."""

from collections.abc import Iterable
from typing import Any

from midcourse.domain.records.summary import SUCCESSES, RunSummary

LISTED = ("id", "goal", "phase", "final_reason", "began_at", "verified", "sending")
"""The columns of a plain list, as fields of `RunSummary`."""
FOUND = (*LISTED, "place", "key", "world", "updated_at", "calls", "cost_usd", "waiting_since")
"""The columns of a page of `find_runs`."""
SUCCEEDED = ", ".join(f"'{reason}'" for reason in SUCCESSES)
"""SQL for the final reasons of runs that are done."""


def read_summary(columns: tuple[str, ...], row: Iterable[Any]) -> RunSummary:
    """Return a run from a row. A null is what the field is by default."""
    given = {name: value for name, value in zip(columns, row, strict=True) if value is not None}
    if "verified" in given:
        given["verified"] = bool(given["verified"])  # SQLite has no type for truth
    return RunSummary(**given)
