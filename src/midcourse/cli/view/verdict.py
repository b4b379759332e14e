"""The verdict on a run, on one screen: done or not, verified or not, why, what was done, and what to do next."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from midcourse.config.defaults import NO_APPROVER, NO_APPROVER_BEFORE
from midcourse.domain.events import ApprovalDecided
from midcourse.domain.outcome import CompletedStep
from midcourse.domain.result import Result
from midcourse.errors import RunPruned
from midcourse.ports.store import Store
from midcourse.presentation.result import (
    DENIED_UNASKED,
    EFFECTS,
    UNDECIDED_UNASKED,
    Sent,
    describe_checks,
    describe_counts,
    describe_end,
    describe_values,
    describe_ways,
    effect_lines,
    headline,
    sent_effects,
    suggest_next,
    tone_of,
)
from midcourse.presentation.vocabulary import pluralize
from midcourse.terminal.output import Marks

ALL = 10**6
STYLES = {"good": "green", "doubt": "yellow", "plain": "default", "bad": "red"}
LONGEST_STEP = 100
"""Characters of a step in the list of those that were done."""
AROUND = 16
"""The number of lines of a panel without its list of steps, for a run without problems."""


def most_steps(console: Console) -> int:
    """The maximum number of steps to list so that the verdict fits on one screen. A log has room for all."""
    return max(4, console.height - AROUND) if console.is_terminal else ALL


@dataclass(frozen=True, kw_only=True)
class Verdict:
    result: Result
    folder: Path | None
    """The folder with the run's files; None if they were not written on this machine."""
    unattended: bool = False
    """Whether a question was denied because there was no terminal to ask in."""
    sent: tuple[Sent, ...] = ()
    """What was sent into the world, with the evidence for its outcome."""
    effects: tuple[str, ...] = ()
    """The lines of the world's own log, if it keeps one in the run's folder."""
    page: str = ""
    """The address of the last screen, if it has one that a person can look at."""
    save_as: str = ""
    """The command that makes a task file of the run, if it was not started from one."""

    @property
    def unanswered(self) -> str:
        return DENIED_UNASKED if self.result.final_reason == "rejected" else UNDECIDED_UNASKED

    @property
    def style(self) -> str:
        return STYLES[tone_of(self.result)]

    def line(self, marks: Marks) -> str:
        """The verdict in one line, for `--quiet`."""
        result = self.result
        why = f"{result.final_reason}" + (f", {result.final_detail}" if result.final_detail else "")
        hint = f"; {self.unanswered}" if self.unattended else ""
        return marks.clean(f"{headline(result)} ({why}){hint} {marks.dash} {describe_counts(result)}; run {result.run}")

    def rows(self, marks: Marks, most: int = ALL) -> list[tuple[str, Text]]:
        """The rows of the panel: label and text. A row without a label continues the one above."""
        result = self.result
        detail = describe_end(result)
        why = result.final_reason + (f" {marks.dash} {detail}" if detail else "")
        rows = answer_rows(result, marks)
        rows += [("goal", Text(marks.clean(result.goal), "bold")), ("why", Text(marks.clean(why)))]
        if self.unattended:
            rows.append(("", Text(self.unanswered, "yellow")))
        rows += _label_lines("checked", [Text(line) for line in describe_checks(result)], most, marks)
        rows.append(("took", Text(describe_counts(result))))
        rows += [("", Text(line)) for line in describe_ways(result)]
        rows += _label_lines("done", self._completed_lines(marks), most, marks)
        rows += _label_lines("sent", [sent_line(act, marks) for act in self.sent], most, marks)
        if self.effects:
            text = f"{pluralize(len(self.effects), 'effect')} in the world's own log, {EFFECTS}"
            rows += _label_lines(
                "world", [Text(text), *(Text(marks.clean(line), "dim") for line in self.effects)], most, marks
            )
        rows += _label_lines("failed", self._attempt_lines(marks), most, marks)
        if self.folder is not None:
            rows.append(("files", Text(marks.clean(str(self.folder / "result.json")))))
            rows.append(("", Text(marks.clean(str(self.folder / "journal.jsonl")))))
        if advice := suggest_next(result, self.unattended, self.page):
            rows.append(("next", Text(marks.clean(advice))))
        if self.save_as and result.success:
            rows.append(("save", Text(self.save_as)))
            if len(self.sent) > 1:
                learned = f"midcourse policy propose {result.run} > origins.toml"
                rows.append(("", Text(f"{learned}; with --origins origins.toml it asks less")))
        return rows

    def print(self, console: Console, marks: Marks, most: int = ALL) -> None:
        sign = {"good": marks.done, "bad": marks.failed}.get(tone_of(self.result), marks.claimed)
        rows = self.rows(marks, most)
        print_verdict(rows, headline(self.result), sign, self.style, self.result.run, console, marks)

    def _completed_lines(self, marks: Marks) -> list[Text]:
        def format_step(step: CompletedStep) -> Text:
            sign = (f"{marks.unknown} ", "yellow") if step.doubtful else (f"{marks.done} ", "green")
            more = (
                " (may have happened)"
                if step.doubtful
                else " (a script of its page wanted to send something, which was held back)"
                if step.unsent
                else ""
            )
            words = step.says or f"{step.skill} {step.target}".strip()
            generated = words == f"{step.skill} {step.target}".strip()  # a text that was read is its own label
            shown = f"{words[:LONGEST_STEP]}…" if generated and len(words) > LONGEST_STEP else words
            return Text.assemble(sign, marks.clean(shown), (more, "yellow"))

        return [format_step(step) for step in self.result.completed]

    def _attempt_lines(self, marks: Marks) -> list[Text]:
        lines: dict[str, int] = {}
        for step in self.result.attempts:
            words = step.says or f"{step.skill} {step.target}".strip()
            detail = f" ({step.detail})" if step.detail else ""
            line = marks.clean(f"{words}: {step.reason}{detail}")
            lines[line] = lines.get(line, 0) + 1
        times = [(line, f", {often} times" if often > 1 else "") for line, often in lines.items()]
        return [Text.assemble((f"{marks.failed} ", "red"), line, (often, "dim")) for line, often in times]


def answer_rows(result: Result, marks: Marks) -> list[tuple[str, Text]]:
    """What the run returned: the answer with its lines, and each value with what is known about where it comes from."""
    lines = [Text(marks.clean(line), "bold") for line in result.answer.splitlines()]
    rows = _label_lines("answer", lines, ALL, marks)
    rows += _label_lines(
        "data", [Text(marks.clean(f"{name} = {words}"), "cyan") for name, words in describe_values(result)], ALL, marks
    )
    if result.missing:
        rows.append(("missing", Text(marks.clean(", ".join(result.missing)), "yellow")))
    return rows


def sent_line(sent: Sent, marks: Marks) -> Text:
    sign, style = (marks.unknown, "yellow") if sent.happened is None else (marks.done, "green")
    sign, style = (marks.failed, "red") if sent.happened is False else (sign, style)
    return Text.assemble((f"{sign} ", style), marks.clean(sent.what), (f" {marks.dash} {sent.evidence}", "dim"))


def _label_lines(label: str, lines: list[Text], most: int, marks: Marks) -> list[tuple[str, Text]]:
    """The lines under one label; only the last ones if there are more than `most`."""
    if len(lines) > most:
        left_out = len(lines) - most + 1
        lines = [Text(f"{marks.ellipsis} {left_out} before", "dim"), *lines[left_out:]]
    return [(label if number == 0 else "", line) for number, line in enumerate(lines)]


async def verdict_of(result: Result, store: Store, folder: Path | None) -> Verdict:
    unattended = False
    if result.final_reason in ("rejected", "needs_human"):
        with suppress(RunPruned):
            journal = await store.journal(result.run)
            decided = [row.event for row in journal if isinstance(row.event, ApprovalDecided)]
            unattended = bool(decided) and decided[-1].by in (NO_APPROVER, NO_APPROVER_BEFORE)
    return Verdict(
        result=result,
        folder=folder,
        unattended=unattended,
        sent=await sent_effects(store, result.run),
        page=await _find_page(store, result.run),
        effects=effect_lines(folder / EFFECTS) if folder else (),
    )


async def _find_page(store: Store, run_id: str) -> str:
    """The address of the last screen of a browser; empty if there is none, or it was pruned."""
    run, _ = await store.load(run_id)
    with suppress(RunPruned):
        seen = await store.observation(run_id, run.seen.id) if run.seen else None
        if seen is not None and seen.surface.address.startswith(("http://", "https://")):
            return seen.surface.address
    return ""


def print_verdict(
    rows: list[tuple[str, Text]], title: str, sign: str, style: str, hint: str, console: Console, marks: Marks
) -> None:
    """Print labelled rows under a title: in a panel in a terminal, as plain lines elsewhere."""
    if not console.is_terminal:
        console.print(Text(title), soft_wrap=True)
        for label, text in rows:
            console.print(Text(f"{label:<8}{text.plain}"), soft_wrap=True)
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(
        Panel(
            table,
            title=Text(f"{sign} {title}", f"bold {style}"),
            title_align="left",
            subtitle=Text(hint, "dim"),
            subtitle_align="right",
            border_style=style,
            box=box.ASCII if marks.ascii_only else box.ROUNDED,
            width=min(console.width, 100),
        )
    )
