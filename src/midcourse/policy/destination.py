"""Who says that it should go there? A destination that only the plan names is not vouched for: a page may have dictated it.

Vouched for is what the person wrote (goal, inputs, files) and what the world was set up for. A match is positive or it is none:
an address within another, a name with something appended, a pattern that nearly fits are destinations that nobody named.
"""

import re
from fnmatch import fnmatchcase

from midcourse.domain.argument import Arguments, Reference
from midcourse.domain.skill import Parameter
from midcourse.domain.task import Task

_ENDS = ".,;:!?)]}\"'»”’"
"""What may follow an address in a sentence and is no part of it."""


def unvouched(arguments: Arguments, parameters: tuple[Parameter, ...], task: Task) -> tuple[str, ...]:
    """The destinations among these arguments that nobody but the plan names."""
    given = dict(arguments)
    destinations = [parameter for parameter in parameters if parameter.destination and parameter.name in given]
    return tuple(
        str(value)
        for parameter in destinations
        if not isinstance(value := given[parameter.name], Reference)
        and value is not None
        and not _vouched(str(value), parameter, task)
    )


def _vouched(value: str, parameter: Parameter, task: Task) -> bool:
    named = {str(text) for _, text in task.inputs} | set(task.files) | _words(task.goal)
    return value in named or any(fnmatchcase(value, pattern) for pattern in parameter.vouched)


def _words(goal: str) -> set[str]:
    """Every word of the goal, as written and without the punctuation around it."""
    words = re.split(r"[\s<>]+", goal)
    return {word for word in words if word} | {word.lstrip("([{\"'«“‘").rstrip(_ENDS) for word in words} - {""}
