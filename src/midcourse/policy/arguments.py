"""Arguments of a step: whether they fit the parameters of its skill, and whether the task vouches for a destination."""

import re
from fnmatch import fnmatchcase

from midcourse.domain.argument import Argument, Arguments, Reference, is_json
from midcourse.domain.skill import Parameter, ValueType
from midcourse.domain.task import Task
from midcourse.policy.spelling import describe_unknown

_ENDS = ".,;:!?)]}\"'»”’"
"""Punctuation that may follow an address in a sentence."""


def find_argument_problem(arguments: Arguments, parameters: tuple[Parameter, ...], task: Task) -> str:
    """Why these arguments do not fit the parameters, or an empty string."""
    given = dict(arguments)
    if len(given) != len(arguments):
        return "an argument is given twice"
    known = {parameter.name: parameter for parameter in parameters}
    for name, value in arguments:
        if name not in known:
            return describe_unknown("argument", name, known)
        if problem := _find_value_problem(value, known[name], task):
            return problem
    missing = [parameter.name for parameter in parameters if parameter.required and parameter.name not in given]
    return f"missing argument: '{missing[0]}'" if missing else ""


def _find_value_problem(value: Argument, parameter: Parameter, task: Task) -> str:
    if isinstance(value, Reference):
        if value.source == "input":
            inputs = dict(task.inputs)
            if value.name not in inputs:
                return f"no such input: '{value.name}'"
            return _find_value_problem(inputs[value.name], parameter, task)
        if value.source == "result":
            return ""  # its value is not known yet
        if value.source == "argument":
            return "only a skill's probe can refer to an argument"
        names = task.secrets if value.source == "secret" else task.files
        return "" if value.name in names else f"no such {value.source}: '{value.name}'"
    if value is None:
        return f"'{parameter.name}' is missing" if parameter.required else ""
    if not fits_type(value, parameter.type):
        written = " as text, such as '[1, 2]' or '\"a\"'" if parameter.type == "json" else ""
        return f"'{parameter.name}' must be {parameter.type}{written}, not {value!r}"
    if parameter.choices and value not in parameter.choices:
        return f"'{parameter.name}' must be one of {', '.join(map(str, parameter.choices))}"
    return ""


def fits_type(value: object, wanted: ValueType) -> bool:
    match wanted:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "json":
            return is_json(value)


def find_unvouched(arguments: Arguments, parameters: tuple[Parameter, ...], task: Task) -> tuple[str, ...]:
    """The destinations among these arguments that only the plan names. A page may have dictated them to the model.

    A destination is vouched for if the person wrote it (goal, inputs, files) or the world was configured for it. Only an exact
    match counts, not an address within another or a name with something appended.
    """
    given = dict(arguments)
    named = ((given[parameter.name], parameter) for parameter in parameters if parameter.name in given)
    return tuple(
        f"${value.source}.{value.name}" if isinstance(value, Reference) else str(value)
        for value, parameter in named
        if parameter.destination and not _is_vouched(value, parameter, task)
    )


def _is_vouched(value: Argument, parameter: Parameter, task: Task) -> bool:
    if isinstance(value, Reference):
        return value.source != "result"  # a result came from the world, even if the plan only refers to it
    if value is None:
        return True
    named = {str(text) for _, text in task.inputs} | set(task.files) | _words(task.goal)
    return str(value) in named or any(fnmatchcase(str(value), pattern) for pattern in parameter.vouched)


def _words(goal: str) -> set[str]:
    """Every word of the goal, as written and without the punctuation around it."""
    words = re.split(r"[\s<>]+", goal)
    return {word for word in words if word} | {word.lstrip("([{\"'«“‘").rstrip(_ENDS) for word in words} - {""}
