"""The budget as bars: how much of each ceiling is used or set aside."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.text import Text

from midcourse.domain.phases import Asking, Ended, New, Paused
from midcourse.domain.run import Run
from midcourse.presentation.vocabulary import format_seconds
from midcourse.terminal.output import Marks

LABEL = 10


@dataclass(frozen=True, kw_only=True)
class Meter:
    label: str
    share: float
    figures: str


def meters_of(run: Run, now: float) -> Iterator[Meter]:
    limits, counts, used = run.limits, run.counts, run.budget.committed
    replans = counts.replans + (counts.extensions if limits.count_extensions else 0)
    yield _count_meter("calls", used.calls, limits.max_calls)
    yield _count_meter("segments", counts.segments, limits.max_segments)
    yield _count_meter("replans", replans, limits.max_replans)
    active = active_seconds(run, now)
    most = limits.max_wall_seconds
    yield Meter(label="time", share=active / most, figures=f"{format_seconds(active)}/{format_seconds(most)}")
    if limits.max_tokens is not None:
        yield _count_meter("tokens", used.tokens, limits.max_tokens)
    if limits.max_cost_usd is not None:
        spent = used.microusd / 1e6
        yield Meter(label="cost", share=spent / limits.max_cost_usd, figures=f"${spent:.2f}/${limits.max_cost_usd:g}")


def active_seconds(run: Run, now: float) -> float:
    """The active seconds of the run up to now. Time in which the run waits for a person does not count."""
    idle = isinstance(run.phase, New | Paused | Asking | Ended)
    return run.budget.active_seconds + (0.0 if idle else max(0.0, now - run.now))


def _count_meter(label: str, used: int, most: int) -> Meter:
    return Meter(label=label, share=used / most if most else float(used > 0), figures=f"{used}/{most}")


def meter_lines(run: Run | None, now: float, width: int, marks: Marks, *, columns: int) -> list[Text]:
    if run is None:
        return []
    each = (width - 3 * (columns - 1)) // columns
    meters = list(meters_of(run, now))
    bar = max(2, each - LABEL - 1 - max(len(meter.figures) for meter in meters))
    drawn = [_line(meter, each, bar, marks, run.limits.wrap_up_at) for meter in meters]
    rows = [drawn[start : start + columns] for start in range(0, len(drawn), columns)]
    return [Text("   ").join(row) for row in rows]


def _line(meter: Meter, width: int, bar: int, marks: Marks, warn_at: float) -> Text:
    share = min(1.0, max(0.0, meter.share))
    filled = min(bar, round(share * bar) or (1 if share > 0 else 0))
    style = "red" if meter.share >= 1 else "yellow" if meter.share >= warn_at else "green"
    line = Text.assemble(
        (f"{meter.label:<{LABEL}}", "dim"),
        (marks.full * filled, style),
        (marks.empty * (bar - filled), "dim"),
        f" {meter.figures}",
    )
    line.truncate(width, pad=True)
    return line
