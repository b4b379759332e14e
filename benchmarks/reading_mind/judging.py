"""Compares what an application has stored before and after a task with the effects that the task asks for."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TypeAlias

from benchmarks.reading_mind.apps.application import Records


@dataclass(frozen=True)
class Text:
    """A value that contains all of these, in any order, whatever their case and spaces."""

    parts: tuple[str, ...]

    def accepts(self, value: str, before: str, today: date) -> bool:
        return all(squeeze(part) in squeeze(value) for part in self.parts)


@dataclass(frozen=True)
class Appended:
    """What was there before, unchanged, and this after it."""

    text: str

    def accepts(self, value: str, before: str, today: date) -> bool:
        kept, was = value.replace("\r\n", "\n"), before.replace("\r\n", "\n").rstrip()
        return kept.startswith(was) and squeeze(kept[len(was) :]) == squeeze(self.text)


@dataclass(frozen=True)
class NextMonday:
    """The first Monday after the day of the task; `form` is that of `strftime`."""

    form: str = "%Y-%m-%d"

    def accepts(self, value: str, before: str, today: date) -> bool:
        return value.startswith((today + timedelta(days=7 - today.weekday())).strftime(self.form))


Expected: TypeAlias = str | Text | Appended | NextMonday


@dataclass(frozen=True, kw_only=True)
class Effect:
    """One record that was created, changed or deleted, exactly once."""

    does: str
    """`created`, `changed` or `deleted`."""
    kind: str
    where: Mapping[str, Expected] = field(default_factory=dict[str, Expected])
    """Values that the record had before: which one it is."""
    values: Mapping[str, Expected] = field(default_factory=dict[str, Expected])
    """Values that it has afterwards."""
    may_change: frozenset[str] = frozenset()
    """Other fields of a changed record that the application changes together with them."""


def created(kind: str, **values: Expected) -> Effect:
    return Effect(does="created", kind=kind, values=values)


def changed(kind: str, where: Mapping[str, Expected], *may_change: str, **values: Expected) -> Effect:
    return Effect(does="changed", kind=kind, where=where, values=values, may_change=frozenset(may_change))


def deleted(kind: str, where: Mapping[str, Expected]) -> Effect:
    return Effect(does="deleted", kind=kind, where=where)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of the effects that a task asks for."""

    done: int
    expected: int
    missing: tuple[str, ...]
    twice: tuple[str, ...]
    unasked: tuple[str, ...]

    @property
    def right(self) -> bool:
        return self.done == self.expected and not (self.twice or self.unasked)


def compare(before: Records, after: Records, effects: Sequence[Effect], today: date) -> Outcome:
    """Match each difference with at most one effect. A second record like a created one has happened twice."""
    left = _find_differences(before, after)
    missing: list[str] = []
    twice: list[str] = []
    for effect in effects:
        like = [each for each in left if _matches(each, effect, before, after, today)]
        if not like:
            missing.append(
                f"{effect.does} {effect.kind} {dict(effect.where) or ''} {dict(effect.values) or ''}".strip()
            )
        else:
            left.remove(like[0])
    for effect in effects:
        for each in [
            each for each in left if effect.does == "created" and _matches(each, effect, before, after, today)
        ]:
            left.remove(each)
            twice.append(" ".join(each))
    return Outcome(
        done=len(effects) - len(missing),
        expected=len(effects),
        missing=tuple(missing),
        twice=tuple(twice),
        unasked=tuple(_describe(each, before, after) for each in left),
    )


def find_missing_words(answer: str, expected: Sequence[str]) -> tuple[str, ...]:
    """Return the expected values that an answer does not contain. Each may be several spellings, parted by `|`."""
    said = squeeze(answer)
    return tuple(each for each in expected if not any(squeeze(spelling) in said for spelling in each.split("|")))


def squeeze(text: str) -> str:
    """The text without spaces and the frame of a terminal, in lower case: lines may be broken anywhere."""
    return re.sub(r"[\s│|]+", "", text).lower()


Difference: TypeAlias = tuple[str, str]
"""What was done, and the record's key."""


def _find_differences(before: Records, after: Records) -> list[Difference]:
    differences = [("created", key) for key in after if key not in before]
    differences += [("deleted", key) for key in before if key not in after]
    return differences + [("changed", key) for key in after if key in before and after[key] != before[key]]


def _matches(each: Difference, effect: Effect, before: Records, after: Records, today: date) -> bool:
    does, key = each
    if does != effect.does or key.partition("/")[0] != effect.kind:
        return False
    was, has = before.get(key, {}), after.get(key, {})
    if does == "changed" and not {name for name in was | has if was.get(name) != has.get(name)} <= {
        *effect.values,
        *effect.may_change,
    }:
        return False
    return all(_accepts(expected, was.get(name, ""), "", today) for name, expected in effect.where.items()) and all(
        _accepts(expected, has.get(name, ""), was.get(name, ""), today) for name, expected in effect.values.items()
    )


def _accepts(expected: Expected, value: str, before: str, today: date) -> bool:
    if isinstance(expected, str):
        return value.replace("\r\n", "\n").strip() == expected
    return expected.accepts(value, before, today)


def _describe(each: Difference, before: Records, after: Records) -> str:
    does, key = each
    was, has = before.get(key, {}), after.get(key, {})
    fields = {name: value[:120] for name, value in (has or was).items() if does != "changed" or was.get(name) != value}
    return f"{does} {key} {fields}"
