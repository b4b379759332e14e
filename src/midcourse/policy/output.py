"""The output of a task, as a planner gives it: whether its values fit the task, and whether they were seen."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, cast

from midcourse.domain.argument import OutputValue, Pairs, Scalar
from midcourse.domain.moves import FinalReason
from midcourse.domain.result import SUCCESSES
from midcourse.domain.skill import Parameter
from midcourse.policy.arguments import fits_type
from midcourse.policy.spelling import describe_unknown

LONGEST_ANSWER = 8_000
LONGEST_OUTPUT = 60_000
"""Characters that are kept, since both are a part of the run's state."""
ANSWERED: tuple[FinalReason, ...] = (*SUCCESSES, "structural_failure", "empty_plan")
"""Ends that the planner's last answer is about. After any other end, it says what did not come about."""

_RESULT = re.compile(r"\$result\.(\w+)")


def fits(value: object, field: Parameter) -> bool:
    return fits_type(value, field.type) and (not field.choices or value in field.choices)


def merge_values(before: Iterable[OutputValue], after: Iterable[OutputValue]) -> tuple[OutputValue, ...]:
    """Return all values; those of a later plan replace those of the same names."""
    return tuple({each.name: each for each in (*before, *after)}.values())


def find_output_problem(
    values: tuple[OutputValue, ...], fields: tuple[Parameter, ...], have: Iterable[str], *, complete: bool
) -> str:
    """Say how the given values do not fit the output, so that the planner can correct them; an empty string if they do.

    `have`: names that have a value already. `complete`: nothing comes after these values.
    """
    known = {field.name: field for field in fields}
    problems = [_find_problem(each, known) for each in values]
    if sum(len(str(each.value)) for each in values) > LONGEST_OUTPUT:
        problems.append(f"'data' has more than {LONGEST_OUTPUT} characters")
    given = {*have, *(each.name for each in values)}
    missing = [field.name for field in fields if field.required and field.name not in given]
    if complete and missing:
        problems.append(f"'data' lacks {', '.join(missing)}")
    return "; ".join(problem for problem in problems if problem)


def _find_problem(given: OutputValue, known: dict[str, Parameter]) -> str:
    field = known.get(given.name)
    if field is None:
        return describe_unknown("value in 'data'", given.name, known)
    if isinstance(given.value, str) and _RESULT.fullmatch(given.value):
        return ""  # its value may not be known yet
    if not fits_type(given.value, field.type):
        return f"'{given.name}' in 'data' must be {field.type}, not {str(given.value)[:80]!r}"
    if field.choices and given.value not in field.choices:
        return f"'{given.name}' in 'data' must be one of {', '.join(map(str, field.choices))}"
    return ""


def fill_in_results(values: Iterable[OutputValue], results: Pairs) -> Pairs:
    """Return names and values, with the results that values refer to."""
    known = dict(results)

    def fill_in(value: Scalar) -> Scalar:
        found = _RESULT.fullmatch(value) if isinstance(value, str) else None
        return known.get(found[1], value) if found else value

    return tuple((each.name, fill_in(each.value)) for each in values)


def write_results(answer: str, results: Pairs) -> str:
    """Return the answer with the results that it refers to. A result may be a whole page, so each is cut."""
    known = dict(results)
    return _RESULT.sub(lambda found: _shorten(str(known.get(found[1], found[0]))), answer)


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST_ANSWER else f"{text[:LONGEST_ANSWER]}… ({len(text) - LONGEST_ANSWER} more)"


def list_unseen(data: Pairs, fields: tuple[Parameter, ...], is_seen: Callable[[Scalar], bool]) -> tuple[str, ...]:
    """Return the names of values that are nowhere in what was observed. One of several choices need not be written anywhere."""
    chosen = {field.name for field in fields if field.choices}
    structured = {field.name for field in fields if field.type == "json"}
    return tuple(
        name
        for name, value in data
        if name not in chosen and not all(map(is_seen, _list_leaves(value) if name in structured else (value,)))
    )


def part_cells(text: str) -> str:
    """Set the values of a file such as CSV apart: `13,521` in two of its columns would be read as one number."""
    lines = text.split("\n")
    for mark in (",", ";"):
        counts = Counter(line.count(mark) for line in lines)
        lines = [
            line.replace(mark, " | ") if line.count(mark) > 1 and counts[line.count(mark)] > 1 else line
            for line in lines
        ]
    return "\n".join(lines)


def _list_leaves(text: Scalar) -> Iterable[Scalar]:
    """The texts and numbers in a JSON value."""
    left: list[Any] = [json.loads(text) if isinstance(text, str) else text]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            left += cast(dict[str, Any], each).values()
        elif isinstance(each, list):
            left += cast(list[Any], each)
        elif each is not None and each != "":
            yield each
