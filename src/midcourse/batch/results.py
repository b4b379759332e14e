"""The results of a batch as a table for a spreadsheet."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO

from midcourse.domain.argument import Scalar
from midcourse.domain.result import Result

COLUMNS = (
    "row",
    "run",
    "success",
    "verified",
    "final_reason",
    "final_detail",
    "steps",
    "executions",
    "planner_calls",
    "wall_seconds",
    "sending",
)


@dataclass(frozen=True, kw_only=True)
class RowEnd:
    """How a row ended: with a run's result, or with a problem that kept it from being run."""

    row: int
    run: str
    """The run of the row; with a business key, this may be an earlier run."""
    result: Result | None = None
    problem: str = ""
    """A slug such as `key_taken`, if there is no result."""
    detail: str = ""

    @property
    def success(self) -> bool:
        return self.result is not None and self.result.success

    @property
    def verified(self) -> bool:
        return self.success and self.result is not None and self.result.verified

    @property
    def reason(self) -> str:
        return self.result.final_reason if self.result else self.problem


def results_csv(ends: Iterable[RowEnd], output: Sequence[str] = ()) -> str:
    """The results as CSV, one line for each row, in order. `output` are the task's output fields; if empty, all that were returned."""
    ends = sorted(ends, key=lambda end: end.row)
    names = list(output or dict.fromkeys(name for end in ends if end.result for name, _ in end.result.data))
    text = StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, *(name if name not in COLUMNS else f"output.{name}" for name in names)])
    for end in ends:
        data = dict(end.result.data) if end.result else {}
        writer.writerow([_format(value) for value in (*_fixed_values(end), *(data.get(name) for name in names))])
    return text.getvalue()


def _fixed_values(end: RowEnd) -> tuple[Scalar, ...]:
    result = end.result
    head = (end.row, end.run, end.success, end.verified, end.reason)
    if result is None:
        return (*head, end.detail, None, None, None, None, None)
    return (
        *head,
        result.final_detail,
        result.steps,
        result.executions,
        result.planner_calls,
        result.wall_seconds,
        result.sending or None,
    )


def _format(value: Scalar) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
