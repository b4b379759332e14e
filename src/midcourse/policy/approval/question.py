"""The rows of a question: everything that an approval binds, how two consequences differ, and a decision bound to them.

Rows are a list and never a mapping: a page chooses the names of its fields, and must not replace one row by another.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from midcourse.domain.approval import CommitSet, Consequence, Decision, Question
from midcourse.domain.argument import Argument, Reference
from midcourse.domain.events import ApprovalDecided
from midcourse.policy.generated import is_visit_token
from midcourse.policy.identity import consequence_digest

RowKind: TypeAlias = Literal["skill", "target", "origin", "address", "argument", "value"]

MOST_ROWS = 200
LONGEST_TEXT = 1000
"""The maximum characters of a name or value, and the maximum rows, of a question that can be read at a glance."""


@dataclass(frozen=True, kw_only=True)
class QuestionRow:
    """One thing that an approval binds. `name` is empty if there can be only one of its kind."""

    kind: RowKind
    name: str = ""
    value: Argument
    number: int = 1
    """Which of the rows of this kind and name it is, counted from 1."""
    of: int = 1
    label: str = ""
    """The page's label of the field. Like `shows` it is only shown, and neither approved nor compared."""
    shows: str = ""
    """What the page shows in place of the value."""
    is_aside: bool = False
    """Whether a person cares little for it: an anti-forgery token, or a hidden value as the server wrote it."""

    @property
    def key(self) -> tuple[RowKind, str, int]:
        return self.kind, self.name, self.number


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A row before and now. None: it was not there, or is no longer there."""

    was: QuestionRow | None
    now: QuestionRow | None

    @property
    def row(self) -> QuestionRow:
        row = self.now or self.was
        assert row is not None, "a difference has a row on one side at least"
        return row


def list_rows(consequence: Consequence) -> tuple[QuestionRow, ...]:
    """The rows of a consequence, what was entered first and what the server wrote into hidden fields last.

    Rows of one name are numbered in the order in which they would be sent. The order of all rows decides nothing.
    """
    target, commit = consequence.target, consequence.commit
    what = f"{target.role} '{target.label}'" if target.label else target.role
    facts = [
        QuestionRow(kind="skill", value=f"{consequence.skill} ({consequence.effect})"),
        QuestionRow(kind="target", value=f"{what}, {target.surface}" if what else target.surface),
        QuestionRow(kind="origin", value=consequence.origin or "none given"),
    ]
    if commit.address:
        facts.append(QuestionRow(kind="address", value=count_addresses(commit.address)))
    values = [_add_words(row, commit) for row in _number_rows("value", commit.values)]
    return (
        *facts,
        *_number_rows("argument", consequence.arguments),
        *(row for _, row in sorted(values, key=lambda pair: pair[0])),
    )


def count_addresses(joined: str) -> str:
    """The addresses of one commit set, each once, with the number of its requests."""
    often = Counter(joined.split(" and "))
    return " and ".join(one if times == 1 else f"{one} ({times} requests)" for one, times in often.items())


_ENTERED, _SHOWN, _HIDDEN, _ASIDE = range(4)


def _add_words(row: QuestionRow, commit: CommitSet) -> tuple[int, QuestionRow]:
    """The row with what the page says of it, and its place among the values."""
    text = "" if row.value is None else str(row.value)
    said = next((words for words in commit.words if (words.name, words.value) == (row.name, text)), None)
    if is_visit_token(row.name, text) or (said and said.how == "served"):
        return _ASIDE, replace(row, is_aside=True)
    if said is None:
        return _HIDDEN if dict(commit.sources).get(row.name) in ("hidden", "fresh") else _SHOWN, row
    return _ENTERED if said.how == "entered" else _SHOWN, replace(row, label=said.label, shows=said.shows)


def _number_rows(kind: RowKind, pairs: Sequence[tuple[str, Argument]]) -> list[QuestionRow]:
    of, so_far = Counter(name for name, _ in pairs), Counter[str]()
    rows: list[QuestionRow] = []
    for name, value in pairs:
        so_far[name] += 1
        rows.append(QuestionRow(kind=kind, name=name, value=value, number=so_far[name], of=of[name]))
    return rows


def compare_rows(before: Consequence, now: Consequence) -> tuple[Difference, ...]:
    """Pairs of the rows of both, those of `now` first; unchanged rows are included."""
    old, new = ({row.key: row for row in list_rows(consequence)} for consequence in (before, now))
    return tuple(Difference(was=old.get(key), now=new.get(key)) for key in dict.fromkeys((*new, *old)))


def find_changes(before: Consequence, now: Consequence) -> tuple[Difference, ...]:
    return tuple(each for each in compare_rows(before, now) if not is_same(each))


def is_same(difference: Difference) -> bool:
    """Whether the row is unchanged. The number 1 and the text '1' differ: they are sent differently."""
    was, now = difference.was, difference.now
    return was is not None and now is not None and repr(was.value) == repr(now.value)


def compare_steps(shown: Sequence[Consequence], now: Sequence[Consequence]) -> tuple[Difference, ...]:
    """The differences between the consequences that were shown and those asked about now, step by step."""
    found = [each for was, is_now in zip(shown, now, strict=False) for each in find_changes(was, is_now)]
    gone = [Difference(was=row, now=None) for consequence in shown[len(now) :] for row in list_rows(consequence)]
    added = [Difference(was=None, now=row) for consequence in now[len(shown) :] for row in list_rows(consequence)]
    return (*found, *gone, *added)


def describe_change(difference: Difference) -> str:
    """The difference as text, such as `value total: 49.0 -> 59.0`."""
    row = difference.row
    name = f" {row.name!r}" if row.kind in ("argument", "value") else ""
    number = f" ({row.number} of {row.of})" if row.of > 1 else ""
    return f"{row.kind}{name}{number}: {_format_row_value(difference.was)} -> {_format_row_value(difference.now)}"


def say_changes(shown: Question, now: Question | None) -> str:
    """How the question that is open now differs from the one that was shown; empty if it is still the same."""
    if now is None or now.id == shown.id:
        return ""
    changes = compare_steps(shown.consequences, now.consequences)
    return f"; changed since: {'; '.join(map(describe_change, changes))}" if changes else ""


def _format_row_value(row: QuestionRow | None) -> str:
    if row is None:
        return "(not there)"
    value = row.value
    text = f"<{value.source} {value.name}>" if isinstance(value, Reference) else repr(value)
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]}… ({len(text)} characters)"


def is_read_at_a_glance(consequences: Sequence[Consequence]) -> bool:
    """Whether everything is shown and short enough to be approved by one key press."""
    rows = [row for consequence in consequences for row in list_rows(consequence)]
    return (
        len(rows) <= MOST_ROWS
        and not any(consequence.commit.abridged for consequence in consequences)
        and all(len(row.name) <= LONGEST_TEXT for row in rows)
        and all(
            len(v.name if isinstance(v, Reference) else str(v)) <= LONGEST_TEXT for v in (row.value for row in rows)
        )
    )


def bind_decision(question: Question, decision: Decision) -> ApprovalDecided:
    """The event for this decision, bound to what the question shows."""
    return ApprovalDecided(
        question=question.id,
        verdict=decision.verdict,
        once=decision.once,
        guidance=decision.guidance,
        by=decision.by,
        by_id=decision.by_id,
        changes=decision.changes,
        shown=list_digests(question),
        more=question.more,
    )


def list_digests(question: Question) -> tuple[str, ...]:
    """Digests of the consequences that the question shows. A decision carries them and applies to nothing else."""
    return tuple(consequence_digest(question.run, consequence) for consequence in question.consequences)
