"""A question as a person sees it: all that would be done, and what differs from what was approved before."""

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from midcourse.cli.marks import Marks
from midcourse.cli.words import argument, seconds
from midcourse.domain.approval import Consequence, Question

TITLES = {"approve": "May this be done?", "happened": "Did this happen?"}
ABSENT = "(not there)"


def question_panel(question: Question, seconds_left: float, width: int, marks: Marks) -> RenderableType:
    parts: list[RenderableType] = []
    if question.changed_from is not None:
        parts += [
            Text(
                "What you approved is not what would be sent now. The old approval is void, nothing was sent.", "yellow"
            ),
            Text(""),
        ]
    if question.about == "happened":
        parts += [Text("It was sent, and nothing shows whether it happened. Please look for yourself."), Text("")]
    for number, consequence in enumerate(question.consequences):
        words = question.says[number] or consequence.skill
        parts.append(Text(marks.clean(words), "bold"))
        before = question.changed_from if number == 0 else None
        parts += [_values(consequence, before, marks), Text("")]
    if question.detail:
        parts += [Text(marks.clean(question.detail), "dim")]
    elif parts:
        parts.pop()
    return Panel(
        Group(*parts),
        title=Text(f"{TITLES[question.about]}", "bold magenta"),
        title_align="left",
        subtitle=Text(marks.fit(f"expires in {seconds(seconds_left)} {marks.dot} Ctrl-C to cancel or quit", width - 6)),
        subtitle_align="right",
        border_style="magenta",
        box=box.ASCII if marks.ascii_only else box.ROUNDED,
        width=width,
    )


def rows_of(consequence: Consequence) -> dict[str, str]:
    """Everything that an approval binds, by name. Values that would be sent are marked as such."""
    target = consequence.target
    what = f"{target.role} '{target.label}'" if target.label else target.role
    rows = {
        "does": f"{consequence.skill} ({consequence.effect})",
        "on": f"{what}, {target.surface}" if what else target.surface,
        "origin": consequence.origin or "none given",
    }
    rows |= {f"with {name}": argument(value) for name, value in consequence.arguments}
    if consequence.commit.address:
        rows["sends to"] = consequence.commit.address
    return rows | {f"sends {name}": argument(value) for name, value in consequence.commit.values}


def _values(now: Consequence, before: Consequence | None, marks: Marks) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(overflow="fold", max_width=30)
    table.add_column(overflow="fold", ratio=1)
    new, old = rows_of(now), rows_of(before) if before else rows_of(now)
    for name in dict.fromkeys((*new, *old)):
        was, is_now = old.get(name, ABSENT), new.get(name, ABSENT)
        label = marks.clean(name)
        if was == is_now:
            table.add_row(Text(f"  {label}", "dim"), Text(_shown(is_now, marks)))
            continue
        change = Text.assemble(
            (_shown(was, marks), "red strike"), f" {marks.arrow} ", (_shown(is_now, marks), "bold green")
        )
        table.add_row(Text(f"{marks.current} {label}", "bold yellow"), change)
    return table


def _shown(value: str, marks: Marks) -> str:
    return marks.clean(value) if value else "(empty)"
