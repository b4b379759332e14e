"""The live view of a run: it takes turns and draws a panel. It uses neither a terminal nor a clock."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from midcourse.domain.plan import REPLAN, PlanVersion, Step
from midcourse.domain.run import Run
from midcourse.policy.spending import MICRO, compute_ceiling
from midcourse.ports.store import JournalRow
from midcourse.presentation.narration import LogLine, Narrator, Tone
from midcourse.presentation.status import StepStatus, run_status, step_status
from midcourse.presentation.vocabulary import describe_call, describe_step, format_elapsed, plan_reason, pluralize
from midcourse.terminal.output import UNICODE, Marks

if TYPE_CHECKING:
    from midcourse.drive import Progress
from collections.abc import Iterator

from midcourse.domain.phases import Asking, Ended, New, Paused
from midcourse.presentation.vocabulary import format_seconds

STYLES: dict[Tone, str] = {"good": "green", "bad": "red", "doubt": "yellow", "ask": "magenta", "plain": "default"}

WIDE = 110
"""The minimum number of columns for showing plan and budget side by side."""
TALLEST = 28
"""The maximum number of lines of the view; the rest of a tall terminal is not used."""
KEPT = 50
"""The number of log lines that are remembered."""


def draw_frame(
    lines: Iterable[RenderableType], title: str, hint: str, marks: Marks, *, width: int, height: int | None = None
) -> Panel:
    """Draw the frame of a live view around these lines."""
    return Panel(
        Group(*lines),
        box=box.ASCII if marks.ascii_only else box.ROUNDED,
        title=Text.assemble(("midcourse ", "bold"), (marks.fit(title, 40), "cyan")),
        title_align="left",
        subtitle=Text(marks.fit(hint, max(4, width - 6)), "dim"),
        subtitle_align="right",
        border_style="dim",
        width=width,
        height=height,
    )


@dataclass(frozen=True, kw_only=True)
class Room:
    """The size of the panel."""

    width: int
    height: int

    @property
    def wide(self) -> bool:
        return self.width >= WIDE

    @property
    def inner(self) -> int:
        return max(10, self.width - 4)

    @property
    def lines(self) -> int:
        """The number of lines inside the border."""
        return max(3, min(self.height, TALLEST) - 2)


class RunView:
    """Receives every turn and draws the run at any size. `add_turn` stores a turn, `render` draws; neither waits."""

    def __init__(self, *, name: str, goal: str, run_id: str, marks: Marks = UNICODE) -> None:
        self.narrator = Narrator()
        self.marks = marks
        self._name = name
        self.goal = goal
        self._run_id = run_id
        self._run: Run | None = None
        self._plan: PlanVersion | None = None
        self._log_lines: list[LogLine] = []

    @property
    def run(self) -> Run | None:
        """The latest state that is shown; None before the first."""
        return self._run

    def restore(self, run: Run, plans: Iterable[PlanVersion], journal: Iterable[JournalRow]) -> None:
        """Restore the view of a run that another process has driven before."""
        for plan in plans:
            self.narrator.add_plan(plan)
            if run.segment is not None and plan.version == run.segment.version:
                self._plan = plan
        self._run = run
        self.narrator.add_commands(issued.command for issued in run.pending)
        lines = (self.narrator.describe(row.event, row.commands) for row in journal)
        self._log_lines = [line for line in lines if line is not None][-KEPT:]

    def add_turn(self, progress: "Progress", plan: PlanVersion | None = None) -> LogLine | None:
        """Add a turn, and the plan that was made in it. Returns a log line, if the turn is worth one."""
        if plan is not None:
            self.narrator.add_plan(plan)
        line = self.narrator.describe(progress.event, progress.commands)
        segment = progress.run.segment
        if plan is not None and segment is not None and segment.version == plan.version:
            self._plan = plan
        self._run = progress.run
        if line is not None:
            self._log_lines = [*self._log_lines, line][-KEPT:]
        return line

    def started_at(self) -> float:
        return self._run.started_at if self._run else 0.0

    def render(self, *, width: int, height: int, now: float, hint: str = "") -> RenderableType:
        """Draw the view, never higher than `height` and never wider than `width`."""
        room = Room(width=width, height=height)
        lines = self._wide_lines(room, now) if room.wide else self._narrow_lines(room, now)
        hint = f"{self._run_id} {self.marks.dot} {hint}"
        return draw_frame(lines, self._name, hint, self.marks, width=width, height=room.lines + 2)

    # --- the two layouts

    def _narrow_lines(self, room: Room, now: float) -> Sequence[RenderableType]:
        width, lines = room.inner, room.lines
        roomy = lines >= 18
        gap = [Text("")] if roomy else []
        top = [*self._head_lines(width, 2 if roomy else 1, now), *gap]
        below: list[Text] = []
        if lines >= 12:
            below += [*gap, self._seen_line(width), *meter_lines(self._run, now, width, self.marks, columns=2)]
        elif lines >= 7:
            below += [self._seen_line(width)]
        rest = lines - len(top) - len(below)
        log = max(0, min(rest - 3, 4 if roomy else 2))
        plan = self.plan_lines(width, max(1, rest - log), roomy=roomy)
        log_lines = self._latest_log_lines(width, rest - len(plan), gap=roomy)
        return [*top, *plan, *below, *log_lines][:lines]

    def _wide_lines(self, room: Room, now: float) -> Sequence[RenderableType]:
        right = 44
        left = room.inner - right - 3
        roomy = room.lines >= 18
        top = [*self._head_lines(room.inner, 2 if roomy else 1, now), *([Text("")] if roomy else [])]
        rest = room.lines - len(top)
        side = [self._seen_line(right), *([Text("")] if roomy else [])]
        side += meter_lines(self._run, now, right, self.marks, columns=1)
        log = max(0, min(rest - 5, 6))
        plan = self.plan_lines(left, max(1, rest - log), roomy=roomy)
        side = side[: max(1, rest - log)]
        columns = Table.grid(padding=(0, 3, 0, 0))
        columns.add_column(width=left)
        columns.add_column(width=right)
        columns.add_row(Group(*plan), Group(*side))
        used = max(len(plan), len(side))
        return [*top, columns, *self._latest_log_lines(room.inner, rest - used, gap=roomy)]

    # --- the parts of the panel

    def _head_lines(self, width: int, most: int, now: float) -> list[Text]:
        goal = [Text(line, "bold") for line in self.marks.wrap(self.goal, width, most)]
        frame = self.marks.spinner[int(now * 5) % len(self.marks.spinner)]
        return [*goal, Text(f"{frame} {self.marks.fit(self.status(now), width - 2)}", "cyan")]

    def status(self, now: float) -> str:
        """What the run is waiting for, in words."""
        return run_status(self._run, now, self._describe_current_step())

    def _describe_current_step(self) -> str:
        segment = self._run.segment if self._run else None
        if segment is None or self._plan is None or segment.cursor >= len(self._plan.steps):
            return ""
        return describe_step(self._plan.steps[segment.cursor])

    def _seen_line(self, width: int) -> Text:
        seen = self._run.seen if self._run else None
        if seen is None:
            return Text("sees      nothing yet", "dim")
        stale = " (stale)" if seen.stale else ""
        tail = f" {self.marks.dot} {pluralize(seen.zones, 'zone')}{stale}"
        title = self.marks.fit(seen.surface, width - len(tail) - 10)
        return Text.assemble(("sees      ", "dim"), title, (tail, "yellow" if seen.stale else "dim"))

    def plan_lines(self, width: int, most: int, *, roomy: bool) -> list[Text]:
        """The current plan, around its current step."""
        run, plan = self._run, self._plan
        if run is None or plan is None:
            return [Text("No plan yet", "dim")]
        label = f"Plan {plan.version}  "
        why = self.marks.wrap(plan_reason(plan), width - len(label), 2 if roomy else 1)
        head = [Text.assemble((label, "bold"), (why[0], "italic"))]
        head += [Text(" " * len(label) + line, "italic") for line in why[1:]]
        repairs: list[Text] = [Text(self.marks.fit(f"repaired: {repair}", width), "yellow") for repair in plan.repairs]
        if len(repairs) > 2:
            repairs = [*repairs[:1], Text(f"repaired: {len(repairs) - 1} more", "yellow")]
        if not roomy or len(head) + len(repairs) + 3 > most:
            repairs = []
        steps = self._step_window(run, plan, width, max(1, most - len(head) - len(repairs)))
        return [*head, *repairs, *steps][:most]

    def _step_window(self, run: Run, plan: PlanVersion, width: int, most: int) -> list[Text]:
        """Lines for as many steps as fit, including the current one, and for the number of steps that are left out."""
        current = min(run.segment.cursor if run.segment else 0, len(plan.steps) - 1)
        total = len(plan.steps)
        longest = max(cell_len(describe_step(step)) for step in plan.steps)
        column = min(longest, width * 3 // 5)
        drawn = [self._step(step, step_status(run, step.index), width, column) for step in plan.steps]
        if total <= most:
            return drawn
        inside = max(1, most - 2)
        first = max(0, min(current - inside // 3, total - inside))
        if most < 3:
            return drawn[current : current + 1]
        last = first + inside
        above = Text(f"  {self.marks.ellipsis} {first} before" if first else "", "dim")
        below = Text(f"  {self.marks.ellipsis} {total - last} more" if last < total else "", "dim")
        return [above, *drawn[first:last], below]

    def _step(self, step: Step, status: StepStatus, width: int, column: int) -> Text:
        """The line of a step: a symbol, the words and, if there is room, skill and target in a second column."""
        sign, style = self._sign(step, status)
        tag = "irreversible" if step.effect == "irreversible" else ""
        call = " ".join(part for part in (describe_call(step) if step.says else "", tag) if part)
        beside = width - 4 - column - 2
        words = self.marks.fit(describe_step(step), column if call and beside >= 12 else width - 4)
        line = Text.assemble((f"  {sign} ", style), (words, {"current": "bold", "done": "dim"}.get(status, "")))
        if call and beside >= 12:
            line.pad_right(4 + column + 2 - line.cell_len)
            line.append(self.marks.fit(call, beside), "dim")
            if tag:
                line.highlight_words([tag], "magenta")
        return line

    def _sign(self, step: Step, status: StepStatus) -> tuple[str, str]:
        match status:
            case "done":
                return self.marks.done, "green"
            case "current":
                return (self.marks.again if step.zone == REPLAN else self.marks.current), "bold cyan"
            case "failed":
                return self.marks.failed, "bold red"
            case "unknown":
                return self.marks.unknown, "bold yellow"
            case "waiting":
                return (self.marks.again if step.zone == REPLAN else self.marks.waiting), "dim"

    def _latest_log_lines(self, width: int, most: int, *, gap: bool) -> list[Text]:
        if most <= 0:
            return []
        lines = [Text("")] if gap and most > 1 else []
        for line in self._log_lines[-(most - len(lines)) :]:
            at = f"{format_elapsed(line.at - self.started_at()):>5}  "
            words = self.marks.fit(line.text, width - len(at))
            lines.append(Text.assemble((at, "dim"), (words, STYLES[line.tone])))
        return lines


# --- the budget as bars


LABEL = 10


@dataclass(frozen=True, kw_only=True)
class Meter:
    label: str
    share: float
    figures: str


def meters_of(run: Run, now: float) -> Iterator[Meter]:
    limits, counts, used, ceiling = run.limits, run.counts, run.budget.committed, compute_ceiling(run)
    replans = counts.replans + (counts.extensions if limits.count_extensions else 0)
    yield _count_meter("calls", used.calls, ceiling.calls)
    yield _count_meter("segments", counts.segments, limits.max_segments)
    yield _count_meter("replans", replans, limits.max_replans)
    active = active_seconds(run, now)
    most = limits.max_wall_seconds
    yield Meter(label="time", share=active / most, figures=f"{format_seconds(active)}/{format_seconds(most)}")
    if limits.max_tokens is not None:
        yield _count_meter("tokens", used.tokens, ceiling.tokens)
    if limits.max_cost_usd is not None:
        spent, most = used.microusd / MICRO, ceiling.microusd / MICRO
        yield Meter(label="cost", share=spent / most, figures=f"${spent:.2f}/${most:g}")


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
