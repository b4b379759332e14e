"""Destinations that only the plan names. They are not vouched for: a page may have dictated them to the model.

A destination is vouched for if the person wrote it (goal, inputs, files) or the world was configured for it. Only an exact
match counts, not an address within another or a name with something appended.
"""

import re
from fnmatch import fnmatchcase

from midcourse.domain.argument import Argument, Arguments, Reference
from midcourse.domain.skill import Parameter
from midcourse.domain.task import Task

_ENDS = ".,;:!?)]}\"'»”’"
"""Punctuation that may follow an address in a sentence."""


def find_unvouched(arguments: Arguments, parameters: tuple[Parameter, ...], task: Task) -> tuple[str, ...]:
    """The destinations among these arguments that only the plan names."""
    given = dict(arguments)
    destinations = [parameter for parameter in parameters if parameter.destination and parameter.name in given]
    named = ((parameter, given[parameter.name]) for parameter in destinations)
    return tuple(_format_value(value) for parameter, value in named if not _is_vouched(value, parameter, task))


def _is_vouched(value: Argument, parameter: Parameter, task: Task) -> bool:
    """Whether an argument is vouched for. A result is not, even by reference: it came from the world."""
    if isinstance(value, Reference):
        return value.source != "result"
    return value is None or _is_vouched_text(str(value), parameter, task)


def _format_value(value: Argument) -> str:
    return f"${value.source}.{value.name}" if isinstance(value, Reference) else str(value)


def _is_vouched_text(value: str, parameter: Parameter, task: Task) -> bool:
    named = {str(text) for _, text in task.inputs} | set(task.files) | _words(task.goal)
    return value in named or any(fnmatchcase(value, pattern) for pattern in parameter.vouched)


def _words(goal: str) -> set[str]:
    """Every word of the goal, as written and without the punctuation around it."""
    words = re.split(r"[\s<>]+", goal)
    return {word for word in words if word} | {word.lstrip("([{\"'«“‘").rstrip(_ENDS) for word in words} - {""}
