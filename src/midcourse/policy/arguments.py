"""Arguments of a step: whether they fit the parameters of its skill, and whether the task vouches for a destination."""

import re
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase

from midcourse.domain.argument import Argument, Arguments, Reference, is_json
from midcourse.domain.observation import Observation
from midcourse.domain.skill import Parameter, ValueType
from midcourse.domain.task import Task
from midcourse.policy.spelling import describe_unknown

_ENDS = ".,;:!?)]}\"'»”’"
"""Punctuation that may follow an address in a sentence."""
SHORTEST_TELLING = 3
"""A value of the task with fewer characters may be a part of any address."""
_LONGEST_PATH = 200
_PLAIN = re.compile(r"(?:[a-z]{1,20}|\d{1,4})(?:[-_.](?:[a-z]{1,20}|\d{1,4}))*")


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
        known = value.name in task.secrets if value.source == "secret" else task.find_file(value.name) is not None
        return "" if known else f"no such {value.source}: '{value.name}'"
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


def find_unvouched(
    arguments: Arguments,
    parameters: tuple[Parameter, ...],
    task: Task,
    seen: Observation,
    listed: Collection[str] = (),
) -> tuple[str, ...]:
    """The destinations among these arguments that only the plan names. A page may have dictated them to the model.

    A destination is vouched for if the person wrote it (goal, inputs, files) or the world was configured for it. Only an exact
    match counts, not an address within another or a name with something appended. An address that the screen lists as a link, or
    a path of its own origin, needs no more than a click on such a link: it is vouched for unless it could carry a value of the task.
    `listed` are the addresses of links on earlier screens, which the run can go back to.
    """
    given = dict(arguments)
    named = ((given[parameter.name], parameter) for parameter in parameters if parameter.name in given)
    return tuple(
        f"${value.source}.{value.name}" if isinstance(value, Reference) else str(value)
        for value, parameter in named
        if parameter.destination and not _is_vouched(value, parameter, task, seen, listed)
    )


def _is_vouched(value: Argument, parameter: Parameter, task: Task, seen: Observation, listed: Collection[str]) -> bool:
    if isinstance(value, Reference):
        return value.source != "result"  # a result came from the world, even if the plan only refers to it
    if value is None:
        return True
    named = {str(text) for _, text in task.inputs} | set(task.files) | _words(task.goal)
    if str(value) in named or any(fnmatchcase(str(value), pattern) for pattern in parameter.vouched):
        return True
    linked = any(zone.role == "link" and zone.get("href") == value for zone in seen.zones)
    return linked or value in listed or _is_plain_path(str(value), task, seen.surface.origin)


def list_links(screens: Iterable[Observation], origin: str) -> frozenset[str]:
    """The addresses of this origin that its own screens list as links."""
    own = (seen for seen in screens if origin and seen.surface.origin == origin)
    links = (str(zone.get("href") or "") for seen in own for zone in seen.zones if zone.role == "link")
    return frozenset(url for url in links if url.startswith(f"{origin}/"))


def _is_plain_path(url: str, task: Task, origin: str) -> bool:
    """Whether a URL is a path of this origin that has no query, consists of plain words and short numbers, and contains no value of
    the task. An encoded value is not plain: it mixes letters with digits or with capitals.
    """
    begin, slash, rest = url.partition(f"{origin}/")
    if not origin or begin or not slash:
        return False
    path = rest.partition("#")[0]
    if len(path) > _LONGEST_PATH or not all(_PLAIN.fullmatch(part) for part in path.split("/") if part):
        return False
    values = [text.casefold() for text in _list_telling(task) if len(text) >= SHORTEST_TELLING]
    return not any(text in path for text in values)


def _list_telling(task: Task) -> set[str]:
    """The values of the task: its inputs, and the words of its goal that are names or numbers, not the first of a sentence."""
    inputs = {str(text) for _, text in task.inputs if text is not None and not isinstance(text, bool)}
    words = re.findall(r"(?<![.!?:] )(?<!^)\b[A-Z][\w'-]*|[^\s]*[\d@][^\s]*", task.goal)
    parts = {part for text in inputs for part in re.split(r"[^\w@.-]+", text)}
    return {text.strip(_ENDS + "([{\"'") for text in (*inputs, *parts, *words)} - {""}


def _words(goal: str) -> set[str]:
    """Every word of the goal, as written and without the punctuation around it."""
    words = re.split(r"[\s<>]+", goal)
    return {word for word in words if word} | {word.lstrip("([{\"'«“‘").rstrip(_ENDS) for word in words} - {""}
