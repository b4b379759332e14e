"""A question as a person sees it: everything that would be done, and what differs from what was approved before.

Only Midcourse writes into the first columns: a change mark, and the kind of the row. A page may choose names and values, so they
never leave the columns after these.
"""

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from midcourse.domain.approval import Consequence, Question, Revision
from midcourse.policy.approval.question import Difference, QuestionRow, RowKind, compare_rows, is_same
from midcourse.presentation.question import (
    ABRIDGED,
    TITLES,
    VOID,
    before_of,
    earlier_lines,
    list_notices,
    quote_page,
    sight_lines,
    title_step,
)
from midcourse.presentation.vocabulary import format_argument, format_seconds, pluralize
from midcourse.terminal.output import Marks

KINDS: dict[RowKind, str] = {
    "skill": "does",
    "target": "on",
    "origin": "origin",
    "address": "address",
    "argument": "with",
    "value": "sends",
}
ABSENT = "(not there)"
CANCEL_OR_QUIT = "Ctrl-C to cancel or quit"
EMPTY = "(empty)"
LONGEST_ASIDE = 200
"""Characters of a name and a value that are written in one line with others."""
ASIDE = "(tokens and hidden fields)"


def question_panel(
    question: Question,
    seconds_left: float | None,
    width: int,
    marks: Marks,
    hint: str = CANCEL_OR_QUIT,
    title: str = "",
) -> RenderableType:
    """The question as a panel. `seconds_left` is None if it is only shown and waits for no answer."""
    parts: list[RenderableType] = []
    for line in list_notices(question):
        parts += [Text(line, "yellow" if line in (VOID, ABRIDGED) else ""), Text("")]
    parts += [Text(line, "bold yellow") for line in earlier_lines(question)]
    if question.revision is not None:
        parts += [*_revision_lines(question.revision, marks), Text("")]
    for number, consequence in enumerate(question.consequences):
        words = title_step(question, number)
        parts.append(Text(_collapse_blanks(words, marks), "bold"))
        parts += [*_build_tables(consequence, before_of(question, number), marks, width), Text("")]
    parts += [Text(_collapse_blanks(line, marks)) for line in sight_lines(question)]
    if question.detail:
        parts += [Text(_collapse_blanks(question.detail, marks), "dim")]
    elif parts and not sight_lines(question):
        parts.pop()
    expires = "" if seconds_left is None else f"expires in {format_seconds(seconds_left)}"
    return Panel(
        Group(*parts),
        title=Text(title or TITLES[question.about], "bold magenta"),
        title_align="left",
        subtitle=Text(marks.fit(f" {marks.dot} ".join(filter(None, (expires, hint))), width - 6)),
        subtitle_align="right",
        border_style="magenta",
        box=box.ASCII if marks.ascii_only else box.ROUNDED,
        width=width,
    )


def _revision_lines(revision: Revision, marks: Marks) -> list[Text]:
    """Lines that say how the plan differs from the one before. The question is only about the steps below these lines."""
    why = f": {_collapse_blanks(revision.why, marks)}" if revision.why else ""
    return [
        Text(f"Plan {revision.version} takes the place of plan {revision.before}{why}", "italic"),
        Text(f"  = {pluralize(revision.kept, 'step')} as before", "dim"),
        *(
            Text(f"  ~ {_collapse_blanks(was, marks)} {marks.arrow} {_collapse_blanks(now, marks)}", "yellow")
            for was, now in revision.changed
        ),
        *(Text(f"  - {_collapse_blanks(words, marks)}", "red") for words in revision.dropped),
        *(Text(f"  + {_collapse_blanks(words, marks)}", "cyan") for words in revision.new),
    ]


def _collapse_blanks(text: str, marks: Marks) -> str:
    """The text with single blanks only: with more, it could imitate the rows below it."""
    return " ".join(marks.clean(text).split())


def _build_tables(now: Consequence, before: Consequence | None, marks: Marks, width: int) -> list[RenderableType]:
    """A table of the facts that occur once, then one of the named values."""
    found = compare_rows(before or now, now)
    alone = [each for each in found if each.row.kind not in ("argument", "value")]
    named = [each for each in found if each.row.kind in ("argument", "value") and not _is_aside(each)]
    aside = [each.row for each in found if _is_aside(each)]
    kinds = max(len(_kind(each.row)) for each in found)
    facts = _build_grid(kinds)
    facts.add_column(overflow="fold", ratio=1)
    for each in alone:
        facts.add_row(_mark(each, marks), _label(each), _format_difference(each, marks))
    values = _build_grid(kinds)
    values.add_column(overflow="fold", max_width=max(10, width // 3))
    values.add_column(overflow="fold", ratio=1)
    for each in named:
        name = Text(f"{_format_name(each.row, marks)} ", "" if is_same(each) else "bold yellow")
        values.add_row(_mark(each, marks), _label(each), name, _format_difference(each, marks))
    rest = _build_grid(kinds)
    rest.add_column(overflow="fold", ratio=1)
    if aside:
        pairs = ", ".join(f"{_quote_name(row.name, marks)} = {quote_page(format_argument(row.value))}" for row in aside)
        rest.add_row("", Text("also", "dim"), Text(marks.clean(f"{pairs} {ASIDE}"), "dim"))
    return [facts, *([values] if named else []), *([rest] if aside else [])]


def _is_aside(each: Difference) -> bool:
    """Whether it is written with others in one line: what a person cares little for, if it is unchanged and short."""
    return each.row.is_aside and is_same(each) and len(f"{each.row.name}{each.row.value}") <= LONGEST_ASIDE


def _format_name(row: QuestionRow, marks: Marks) -> str:
    """The name of a field, after the label that the page shows for it."""
    name, label = _quote_name(row.name, marks), _collapse_blanks(row.label, marks)
    return f"{label} ({name})" if label and label != name else name


def _build_grid(kinds: int) -> Table:
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=1)
    table.add_column(width=kinds, justify="right", no_wrap=True)
    return table


def _mark(each: Difference, marks: Marks) -> Text:
    return Text("" if is_same(each) else marks.current, "bold yellow")


def _kind(row: QuestionRow) -> str:
    return f"{KINDS[row.kind]} {row.number}/{row.of}" if row.of > 1 else KINDS[row.kind]


def _label(each: Difference) -> Text:
    return Text(_kind(each.row), "dim" if is_same(each) else "bold yellow")


def _quote_name(name: str, marks: Marks) -> str:
    """The name, in quotes if its beginning or end would not be clear."""
    shown = marks.clean(name)
    plain = shown and shown == shown.strip() and "  " not in shown and shown[0] not in "'\"("
    return shown if plain else f"'{shown}'"


def _format_difference(each: Difference, marks: Marks) -> Text:
    was, now = _format_row_value(each.was, marks), _format_row_value(each.now, marks)
    if is_same(each):
        return Text(now)
    if was == now and each.was is not None and each.now is not None:
        was, now = marks.clean(repr(each.was.value)), marks.clean(repr(each.now.value))
    return Text.assemble((was, "red strike"), f" {marks.arrow} ", (now, "bold green"))


def _format_row_value(row: QuestionRow | None, marks: Marks) -> str:
    if row is None:
        return ABSENT
    text = marks.clean(format_argument(row.value).replace("\n", f"{marks.newline} "))
    if row.shows and row.shows != text:
        return f"{_collapse_blanks(row.shows, marks)} ({text or EMPTY})"
    return f"'{text}'" if text in (ABSENT, EMPTY) else text or EMPTY
