"""A question as a person sees it: all that would be done, and what differs from what was approved before."""

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from midcourse.cli.marks import Marks
from midcourse.cli.words import argument, seconds, several
from midcourse.domain.approval import About, Consequence, Question, Revision
from midcourse.domain.argument import Argument

TITLES: dict[About, str] = {
    "approve": "May this be done?",
    "happened": "Did this happen?",
    "stuck": "How should it go on?",
}
ABSENT = "(not there)"


def question_panel(
    question: Question, seconds_left: float, width: int, marks: Marks, hint: str = "Ctrl-C to cancel or quit"
) -> RenderableType:
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
    if question.about == "stuck":
        parts += [Text("New plans do not get it further. Go on, best with advice, or stop here?"), Text("")]
    if question.revision is not None:
        parts += [*_changed(question.revision, marks), Text("")]
    for number, consequence in enumerate(question.consequences):
        words = question.says[number] or consequence.skill
        parts.append(Text(marks.clean(words), "bold"))
        before = question.changed_from if number == 0 else None
        earlier = question.before[number] if number < len(question.before) else None
        parts += [_values(consequence, before or earlier, marks), Text("")]
    if question.detail:
        parts += [Text(marks.clean(question.detail), "dim")]
    elif parts:
        parts.pop()
    expires = f"expires in {seconds(seconds_left)}"
    return Panel(
        Group(*parts),
        title=Text(f"{TITLES[question.about]}", "bold magenta"),
        title_align="left",
        subtitle=Text(marks.fit(f" {marks.dot} ".join(filter(None, (expires, hint))), width - 6)),
        subtitle_align="right",
        border_style="magenta",
        box=box.ASCII if marks.ascii_only else box.ROUNDED,
        width=width,
    )


def _changed(revision: Revision, marks: Marks) -> list[Text]:
    """What the plan is to the one before; of that, only what is below is asked about."""
    why = f": {marks.clean(revision.why)}" if revision.why else ""
    return [
        Text(f"Plan {revision.version} takes the place of plan {revision.before}{why}", "italic"),
        Text(f"  = {several(revision.kept, 'step')} as before", "dim"),
        *(Text(f"  ~ {marks.clean(was)} {marks.arrow} {marks.clean(now)}", "yellow") for was, now in revision.changed),
        *(Text(f"  - {marks.clean(words)}", "red") for words in revision.dropped),
        *(Text(f"  + {marks.clean(words)}", "cyan") for words in revision.new),
    ]


def rows_of(consequence: Consequence) -> dict[str, Argument]:
    """Everything that an approval binds, by name."""
    target = consequence.target
    what = f"{target.role} '{target.label}'" if target.label else target.role
    rows: dict[str, Argument] = {
        "does": f"{consequence.skill} ({consequence.effect})",
        "on": f"{what}, {target.surface}" if what else target.surface,
        "origin": consequence.origin or "none given",
    }
    rows |= {f"with {name}": value for name, value in consequence.arguments}
    if consequence.commit.address:
        rows["sends to"] = consequence.commit.address
    return rows | {f"sends {name}": value for name, value in consequence.commit.values}


def _values(now: Consequence, before: Consequence | None, marks: Marks) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(overflow="fold", max_width=30)
    table.add_column(overflow="fold", ratio=1)
    new, old = rows_of(now), rows_of(before or now)
    for name in dict.fromkeys((*new, *old)):
        label = marks.clean(name)
        was, is_now = _shown(old, name, marks), _shown(new, name, marks)
        if name in old and name in new and _same(old[name], new[name]):
            table.add_row(Text(f"  {label}", "dim"), Text(is_now))
            continue
        if was == is_now:
            was, is_now = marks.clean(repr(old[name])), marks.clean(repr(new[name]))
        change = Text.assemble((was, "red strike"), f" {marks.arrow} ", (is_now, "bold green"))
        table.add_row(Text(f"{marks.current} {label}", "bold yellow"), change)
    return table


def _same(one: Argument, other: Argument) -> bool:
    """The number 1 and the text '1' look alike, and are sent differently."""
    return type(one) is type(other) and one == other


def _shown(rows: dict[str, Argument], name: str, marks: Marks) -> str:
    if name not in rows:
        return ABSENT
    return marks.clean(argument(rows[name])) or "(empty)"
