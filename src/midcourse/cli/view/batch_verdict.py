"""The verdict on a batch, on one screen."""

from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from midcourse.batch.runner import Summary
from midcourse.presentation.result import DENIED_UNASKED
from midcourse.presentation.vocabulary import format_seconds, pluralize
from midcourse.terminal.output import Marks

MOST_FAILURES = 10


def summary_json(summary: Summary) -> dict[str, object]:
    return {
        "batch": summary.batch,
        "rows": summary.rows,
        "succeeded": summary.succeeded,
        "verified": summary.verified,
        "failed": summary.failed,
        "by_reason": dict(summary.by_reason),
        "results": str(summary.results),
    }


@dataclass(frozen=True, kw_only=True)
class BatchVerdict:
    summary: Summary
    seconds: float
    unattended: bool = False
    """Whether there was no terminal to ask in."""

    @property
    def style(self) -> str:
        if self.summary.failed:
            return "red"
        return "green" if self.summary.verified == self.summary.rows else "yellow"

    def headline(self) -> str:
        summary = self.summary
        if summary.failed:
            return f"{summary.failed} of {pluralize(summary.rows, 'row')} failed"
        verified = "all verified" if summary.verified == summary.rows else f"{summary.verified} verified"
        return f"{pluralize(summary.rows, 'row')} done, {verified}"

    def line(self, marks: Marks) -> str:
        """The verdict in one line, for `--quiet`."""
        reasons = f" ({self._reasons()})" if self.summary.by_reason else ""
        return marks.clean(
            f"{self.headline()}{reasons} {marks.dash} {format_seconds(self.seconds)}; "
            f"batch {self.summary.batch}; {self.summary.results}"
        )

    def rows(self, marks: Marks) -> list[tuple[str, Text]]:
        summary = self.summary
        rows = [("done", Text(f"{summary.succeeded} of {summary.rows}, {summary.verified} verified"))]
        if summary.failures:
            rows.append(("failed", Text(self._reasons())))
            rows += [("", Text(line, "red")) for line in self._failures(marks)]
        if self.unattended and "rejected" in summary.by_reason:
            rows.append(("", Text(DENIED_UNASKED, "yellow")))
        rows.append(("took", Text(format_seconds(self.seconds))))
        rows.append(("results", Text(marks.clean(str(summary.results)))))
        if summary.failures:
            rows.append(("next", Text(f"midcourse show {summary.failures[0].run}")))
        return rows

    def _reasons(self) -> str:
        return ", ".join(f"{number} {reason}" for reason, number in self.summary.by_reason.items())

    def _failures(self, marks: Marks) -> list[str]:
        failures = self.summary.failures
        lines = [
            marks.clean(f"row {end.row}: {end.reason}, {end.result.final_detail if end.result else end.detail}")
            for end in failures[:MOST_FAILURES]
        ]
        more = len(failures) - len(lines)
        return [*lines, f"{marks.ellipsis} {more} more"] if more else lines

    def print(self, console: Console, marks: Marks) -> None:
        if not console.is_terminal:
            console.print(Text(self.headline()), soft_wrap=True)
            for label, text in self.rows(marks):
                console.print(Text(f"{label:<8}{text.plain}"), soft_wrap=True)
            return
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(style="dim", no_wrap=True)
        table.add_column(overflow="fold")
        for label, text in self.rows(marks):
            table.add_row(label, text)
        sign = {"green": marks.done, "red": marks.failed}.get(self.style, marks.claimed)
        console.print(
            Panel(
                table,
                title=Text(f"{sign} {self.headline()}", f"bold {self.style}"),
                title_align="left",
                subtitle=Text(self.summary.batch, "dim"),
                subtitle_align="right",
                border_style=self.style,
                box=box.ASCII if marks.ascii_only else box.ROUNDED,
                width=min(console.width, 100),
            )
        )
