"""The board of a batch: how many rows wait, run and have ended, what the running ones do, and how long it will take."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console, RenderableType
from rich.text import Text

from midcourse.batch.batch import Batch, BatchRow
from midcourse.batch.results import RowEnd
from midcourse.batch.runner import Summary, Watcher
from midcourse.cli.view.run import TALLEST, RunView, draw_frame
from midcourse.cli.view.verdict import print_verdict
from midcourse.drive import Progress
from midcourse.ports.store import Store
from midcourse.presentation.result import DENIED_UNASKED
from midcourse.presentation.vocabulary import format_elapsed, format_seconds, pluralize
from midcourse.terminal.output import UNICODE, Marks

HEAD = 6
"""The number of lines above and between the two lists of rows."""
LATEST = 12
"""The maximum number of ended rows that are shown."""
WIDEST = 120


@dataclass(kw_only=True)
class Running:
    row: BatchRow
    since: float
    view: RunView
    recalled: bool


class Board(Watcher):
    """Watches a batch and draws it at any size. With `lines`, it also prints there how each row ended."""

    def __init__(
        self,
        batch: Batch,
        store: Store,
        marks: Marks = UNICODE,
        lines: Console | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._batch = batch
        self._store = store
        self._marks = marks
        self._lines = lines
        self._now = now
        self._began = now()
        self._running: dict[int, Running] = {}
        self._latest: list[tuple[BatchRow, RowEnd]] = []
        self._reasons: Counter[str] = Counter()
        self._succeeded = self._verified = self._before = self._driven = 0

    # --- events of the batch

    def found(self, row: BatchRow, end: RowEnd) -> None:
        self._before += 1
        self._count(end)

    def began(self, row: BatchRow, *, resumed: bool) -> None:
        view = RunView(name=self._batch.job.name, goal=row.job.task.goal, run_id=row.run, marks=self._marks)
        self._running[row.number] = Running(row=row, since=self._now(), view=view, recalled=not resumed)
        if resumed:
            self._say(f"row {row.number} continues: {row.label}")

    async def on_progress(self, row: BatchRow, progress: Progress) -> None:
        running, run_id = self._running[row.number], progress.run.id
        if not running.recalled:
            running.recalled = True
            run, _ = await self._store.load(run_id)
            running.view.restore(run, await self._store.plans(run_id), await self._store.journal(run_id))
        version = running.view.narrator.new_plan_version(progress.event)
        running.view.add_turn(progress, await self._store.plan(run_id, version) if version else None)

    def ended(self, row: BatchRow, end: RowEnd) -> None:
        self._driven += self._running.pop(row.number, None) is not None
        self._count(end)
        self._latest = [*self._latest, (row, end)][-LATEST:]
        self._say(
            f"row {row.number} {describe_end(end)}: {row.label}"
            + (f" ({_failure_detail(end)})" if _failure_detail(end) else "")
        )

    def _count(self, end: RowEnd) -> None:
        self._succeeded += end.success
        self._verified += end.verified
        if not end.success:
            self._reasons[end.reason] += 1

    def _say(self, text: str) -> None:
        if self._lines is not None:
            at = format_elapsed(self._now() - self._began)
            words = self._marks.clean(f"{at:>5}  {self.ended_rows}/{self.rows}  {text}")
            self._lines.print(Text(words), soft_wrap=True)

    # --- drawing

    @property
    def rows(self) -> int:
        return len(self._batch.rows)

    @property
    def ended_rows(self) -> int:
        return self._succeeded + self._reasons.total()

    def render(self, *, width: int, height: int, now: float, hint: str = "") -> RenderableType:
        """Draw the view, never higher than `height` and never wider than `width`."""
        width = min(width, WIDEST)
        needed = HEAD + self._batch.concurrency + LATEST
        inner, most = max(20, width - 4), max(4, min(height - 2, TALLEST - 2, needed))
        head = [self._bar(inner), *self._counts(inner), self._time(now)]
        gap = [Text("")] if most >= 14 else []
        room = most - len(head) - 2 * len(gap)
        running = self._running_lines(inner, max(1, room), now)
        newest = self._latest[::-1][: max(0, room - len(running) - len(gap))]
        latest = [self._latest_line(row, end, inner) for row, end in newest]
        lines = [*head, *gap, *running, *(gap if latest else []), *latest]
        hint = f"{self._batch.id} {self._marks.dot} {hint}"
        return draw_frame(lines[:most], self._batch.job.name, hint, self._marks, width=width, height=most + 2)

    def _bar(self, width: int) -> Text:
        share = self.ended_rows / self.rows
        figures = f"  {self.ended_rows}/{self.rows}  {share:>4.0%}"
        cells = max(4, width - len(figures))
        good = round(cells * self._verified / self.rows)
        claimed = round(cells * self._succeeded / self.rows) - good
        full = round(cells * share)
        return Text.assemble(
            (self._marks.full * good, "green"),
            (self._marks.full * claimed, "yellow"),
            (self._marks.full * (full - good - claimed), "red"),
            (self._marks.empty * (cells - full), "dim"),
            figures,
        )

    def _counts(self, width: int) -> list[Text]:
        dot = f" {self._marks.dot} "
        waiting = self.rows - self.ended_rows - len(self._running)
        verified = f"{self._verified} verified" if self._verified < self._succeeded else "all verified"
        done = f"{self._succeeded} done" + (f" ({verified})" if self._succeeded else "")
        first = Text.assemble(
            f"{waiting} waiting{dot}{len(self._running)} running{dot}",
            (done, "green" if self._verified == self._succeeded else "yellow"),
        )
        if not self._reasons:
            return [first]
        reasons = ", ".join(f"{number} {reason}" for reason, number in self._reasons.most_common())
        failed = self._marks.fit(f"{self._reasons.total()} failed: {reasons}", width)
        return [first, Text(failed, "red")]

    def _time(self, now: float) -> Text:
        parts = [format_elapsed(now - self._began)]
        left = self.seconds_left(now)
        if left is not None:
            parts.append(f"about {format_elapsed(left)} left")
        if self._before:
            parts.append(f"{pluralize(self._before, 'row')} had ended before")
        return Text(f" {self._marks.dot} ".join(parts), "dim")

    def seconds_left(self, now: float) -> float | None:
        """The remaining seconds at the pace so far; None before the first row has ended."""
        if not self._driven:
            return None
        return (now - self._began) / self._driven * (self.rows - self.ended_rows)

    def _running_lines(self, width: int, most: int, now: float) -> list[Text]:
        running = list(self._running.values())
        shown = running if len(running) <= most else running[: max(0, most - 1)]
        lines = [self._running_line(each, width, now) for each in shown]
        if len(shown) < len(running):
            lines.append(Text(f"  {self._marks.ellipsis} {len(running) - len(shown)} more", "dim"))
        return lines

    def _running_line(self, running: Running, width: int, now: float) -> Text:
        frame = self._marks.spinner[int(now * 5 + running.row.number) % len(self._marks.spinner)]
        head = f"{frame} {running.row.number:>{self._digits}}  {format_elapsed(now - running.since):>5}  "
        label, status = self._columns(running.row.label, width - len(head))
        words = self._marks.fit(running.view.status(now), status)
        return Text.assemble((head, "cyan"), (label, ""), (words, "dim"))

    def _latest_line(self, row: BatchRow, end: RowEnd, width: int) -> Text:
        if end.success:
            sign, style = (self._marks.done, "green") if end.verified else (self._marks.claimed, "yellow")
        else:
            sign, style = self._marks.failed, "red"
        seconds = format_elapsed(end.result.wall_seconds) if end.result else ""
        head = f"{sign} {row.number:>{self._digits}}  {seconds:>5}  "
        label, words = self._columns(row.label, width - len(head))
        why = f"{describe_end(end)}" + (f", {_failure_detail(end)}" if _failure_detail(end) else "")
        return Text.assemble((head, style), label, (self._marks.fit(why, words), "dim" if end.success else style))

    def _columns(self, label: str, width: int) -> tuple[str, int]:
        """The label padded to its column, and the width that is left beside it."""
        column = max(8, min(width // 3, 36))
        fitted = self._marks.fit(label, column)
        return fitted + " " * (column - len(fitted) + 2), max(4, width - column - 2)

    @property
    def _digits(self) -> int:
        return len(str(self.rows))


def describe_end(end: RowEnd) -> str:
    if end.success:
        return "done, verified" if end.verified else "done, not verified"
    return f"failed: {end.reason}"


def _failure_detail(end: RowEnd) -> str:
    """Why a row failed, in words; empty if it succeeded."""
    return "" if end.success else end.result.final_detail if end.result else end.detail


# --- the end of the batch


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
        sign = {"green": marks.done, "red": marks.failed}.get(self.style, marks.claimed)
        print_verdict(self.rows(marks), self.headline(), sign, self.style, self.summary.batch, console, marks)
