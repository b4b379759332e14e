"""What a run came to, on one screen: done or not, verified or not, why, what was done, and what to do next."""

from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from midcourse.cli.view.sent import Sent
from midcourse.cli.view.symbols import Marks
from midcourse.cli.view.vocabulary import argument, headline, seconds, several
from midcourse.domain.result import BudgetUsed, Result

NOBODY_ASKED = "nobody was there to ask: run it in a terminal, or set approvals=never (--set approvals=never)"
NOBODY_TOLD = "nobody was there to say what happened: run it in a terminal, or give the step a probe"
ALL = 10**6
EFFECTS = "effects.jsonl"
"""In a run's folder: what a simulated world writes down itself."""
AROUND = 16
"""Lines of a panel besides its list of steps, when all goes well."""


def most_steps(console: Console) -> int:
    """Steps that a list may have for the verdict to stay on one screen; a log has room for all."""
    return max(4, console.height - AROUND) if console.is_terminal else ALL


@dataclass(frozen=True, kw_only=True)
class Verdict:
    result: Result
    folder: Path | None
    """Where its files are; None if they were not written out here."""
    nobody_asked: bool = False
    """Whether a question was denied because nobody could answer it."""
    sent: tuple[Sent, ...] = ()
    """What was sent into the world, and what shows how it turned out."""
    effects: tuple[str, ...] = ()
    """What the world's own log has, if it keeps one beside the run."""
    save_as: str = ""
    """The command that makes a task file of it, if it came from none."""

    @property
    def unanswered(self) -> str:
        return NOBODY_ASKED if self.result.final_reason == "rejected" else NOBODY_TOLD

    @property
    def style(self) -> str:
        if not self.result.success:
            return "red"
        return "green" if self.result.verified else "yellow"

    def line(self, marks: Marks) -> str:
        """All of it in one line, for `--quiet`."""
        result = self.result
        why = f"{result.final_reason}" + (f", {result.final_detail}" if result.final_detail else "")
        hint = f"; {self.unanswered}" if self.nobody_asked else ""
        return marks.clean(f"{headline(result)} ({why}){hint} {marks.dash} {counts(result)}; run {result.run}")

    def rows(self, marks: Marks, most: int = ALL) -> list[tuple[str, Text]]:
        """Label and text; a row without a label goes on with the one above."""
        result = self.result
        why = result.final_reason + (f" {marks.dash} {result.final_detail}" if result.final_detail else "")
        rows = [("goal", Text(marks.clean(result.goal), "bold")), ("why", Text(marks.clean(why)))]
        if self.nobody_asked:
            rows.append(("", Text(self.unanswered, "yellow")))
        rows.append(("took", Text(counts(result))))
        rows += _labelled("done", self._completed(marks), most, marks)
        rows += _labelled("sent", [_sent(one, marks) for one in self.sent], most, marks)
        if self.effects:
            said = f"{several(len(self.effects), 'effect')} in the world's own log, {EFFECTS}"
            rows += _labelled(
                "world", [Text(said), *(Text(marks.clean(one), "dim") for one in self.effects)], most, marks
            )
        rows += _labelled("failed", self._attempts(marks), most, marks)
        data = [Text(marks.clean(f"{name} = {argument(value)}"), "cyan") for name, value in result.data]
        rows += _labelled("data", data, most, marks)
        if result.missing:
            rows.append(("missing", Text(marks.clean(", ".join(result.missing)), "yellow")))
        if self.folder is not None:
            rows.append(("files", Text(str(self.folder / "result.json"))))
            rows.append(("", Text(str(self.folder / "journal.jsonl"))))
        rows.append(("next", Text(advice(result, self.nobody_asked))))
        if self.save_as:
            rows.append(("save", Text(self.save_as)))
            if len(self.sent) > 1:
                learned = f"midcourse effects propose {result.run} > origins.toml"
                rows.append(("", Text(f"{learned}; with --origins origins.toml it asks less")))
        return rows

    def print(self, console: Console, marks: Marks, most: int = ALL) -> None:
        said = headline(self.result)
        if not console.is_terminal:
            console.print(Text(said), soft_wrap=True)
            for label, text in self.rows(marks, most):
                console.print(Text(f"{label:<8}{text.plain}"), soft_wrap=True)
            return
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(style="dim", no_wrap=True)
        table.add_column(overflow="fold")
        for label, text in self.rows(marks, most):
            table.add_row(label, text)
        sign = marks.done if self.result.success else marks.failed
        console.print(
            Panel(
                table,
                title=Text(f"{sign} {said}", f"bold {self.style}"),
                title_align="left",
                subtitle=Text(f"{self.result.run}", "dim"),
                subtitle_align="right",
                border_style=self.style,
                box=box.ASCII if marks.ascii_only else box.ROUNDED,
                width=min(console.width, 100),
            )
        )

    def _completed(self, marks: Marks) -> list[Text]:
        def one(words: str, doubtful: bool) -> Text:
            sign = (f"{marks.unknown} ", "yellow") if doubtful else (f"{marks.done} ", "green")
            return Text.assemble(sign, marks.clean(words), (" (may have happened)", "yellow") if doubtful else "")

        steps = self.result.completed
        return [one(step.says or f"{step.skill} {step.target}".strip(), step.doubtful) for step in steps]

    def _attempts(self, marks: Marks) -> list[Text]:
        lines: dict[str, int] = {}
        for step in self.result.attempts:
            words = step.says or f"{step.skill} {step.target}".strip()
            detail = f" ({step.detail})" if step.detail else ""
            line = marks.clean(f"{words}: {step.reason}{detail}")
            lines[line] = lines.get(line, 0) + 1
        times = [(line, f", {often} times" if often > 1 else "") for line, often in lines.items()]
        return [Text.assemble((f"{marks.failed} ", "red"), line, (often, "dim")) for line, often in times]


def _sent(one: Sent, marks: Marks) -> Text:
    sign, style = (marks.unknown, "yellow") if one.happened is None else (marks.done, "green")
    sign, style = (marks.failed, "red") if one.happened is False else (sign, style)
    return Text.assemble((f"{sign} ", style), marks.clean(one.what), (f" {marks.dash} {one.evidence}", "dim"))


def _labelled(label: str, lines: list[Text], most: int, marks: Marks) -> list[tuple[str, Text]]:
    """The last ones, if they are too many."""
    if len(lines) > most:
        left_out = len(lines) - most + 1
        lines = [Text(f"{marks.ellipsis} {left_out} before", "dim"), *lines[left_out:]]
    return [(label if number == 0 else "", line) for number, line in enumerate(lines)]


def counts(result: Result) -> str:
    parts = [
        several(result.steps, "step"),
        several(result.budget.segments, "plan"),
        several(result.executions, "act"),
        several(result.planner_calls, "planner call") + (f" and {result.reused} saved" if result.reused else ""),
        seconds(result.wall_seconds),
        *([several(result.budget.tokens, "token")] if result.budget.tokens else []),
        *([f"${result.budget.cost_usd:.4f}"] if result.budget.cost_usd else []),
    ]
    return ", ".join(parts)


def advice(result: Result, nobody_asked: bool) -> str:
    """What to do next, in one or two sentences."""
    show = f"midcourse show {result.run}"
    if nobody_asked and result.final_reason == "rejected":
        return show
    used = result.budget
    match result.final_reason:
        case "goal_reached":
            return show
        case "plan_complete":
            return f"give the task a done_when that can be checked, to know and not to hope; {show}"
        case "replan_exhausted":
            spent = used.error_replans >= used.max_error_replans
            name, most = ("max_error_replans", used.max_error_replans) if spent else ("max_replans", used.max_replans)
            return f"{show} tells what failed; to go on longer: --set {name}={max(1, 2 * most)}"
        case "budget_exhausted":
            return f"the same command with --set {_scarcest(used)}; {show} tells what the budget went into"
        case "deadline_exceeded":
            return f"more time with --set deadline_seconds=N (or none); {show}"
        case "structural_failure" | "replan_no_change" | "empty_plan":
            return f"change the task, its world or its planner: planning again would not help; {show}"
        case "rejected":
            return "nothing was sent; run it again, and answer no with guidance to have it do something else"
        case "needs_human":
            return f"look at the world, and finish by hand or start anew; {show}"
        case "planner_unavailable":
            return "see that the planner can be reached, then run it again"
        case "outage":
            return f"see that it can be reached, then run it again; to wait longer: --set max_outage_seconds=N; {show}"
        case "world_lost":
            return f"see that the world can be reached, then run it again; {show}"
        case "cancelled":
            return f"{show}; a cancelled run is over, a new one starts from what is there"
        case "internal_error":
            return f"please report it, with {show} --json"


def _scarcest(used: BudgetUsed) -> str:
    """The ceiling that was come nearest to, twice as high."""
    shares = [
        (used.calls / used.max_calls, f"max_calls={2 * used.max_calls}"),
        (used.segments / used.max_segments, f"max_segments={2 * used.max_segments}"),
        (used.wall_seconds / used.max_wall_seconds, f"max_wall_seconds={2 * used.max_wall_seconds:g}"),
    ]
    if used.max_tokens is not None:
        shares.append((used.tokens / used.max_tokens, f"max_tokens={2 * used.max_tokens}"))
    if used.max_cost_usd is not None:
        shares.append((used.cost_usd / used.max_cost_usd, f"max_cost_usd={2 * used.max_cost_usd:g}"))
    return max(shares)[1]
