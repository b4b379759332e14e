"""Values by name as a model writes them, and their conversion to the types of parameters.

In a schema they are a list of texts NAME=VALUE, because no provider enforces an object whose names are not known in advance, and a list
of objects with a name and a value each costs three times as much, in the schema and in each answer. A text keeps what a number would
lose ("007", "49.00"), and the parameter says what it stands for. Objects are accepted as well: a model may write them where the
schema is not enforced.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, TypeAlias, cast

from pydantic import BeforeValidator, WithJsonSchema

from midcourse.domain.argument import Arguments, Reference, Scalar, json_text
from midcourse.domain.skill import Parameter
from midcourse.llm.answer_parser import Answer

_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,15})?", re.ASCII)
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True)
class Structure:
    """A list or an object that a model wrote as such, and not as text."""

    text: str
    """Its canonical JSON."""


Written: TypeAlias = Scalar | Structure


class Misfit(ValueError):
    """A list or an object for a parameter that takes neither. There is no certain reading of it."""


def _write_structure(value: object) -> object:
    """Write a list or an object as JSON here, where the parser of the answer catches one that is nested too deeply."""
    return Structure(json_text(value)) if isinstance(value, (list, dict)) else value


class NamedValue(Answer):
    name: str
    value: Annotated[Written, BeforeValidator(_write_structure), WithJsonSchema({"type": "string"})]


class CitedValue(NamedValue):
    """A value of the task's output, and where it was found."""

    source: str = ""


def _list_pairs(value: object) -> object:
    if value is None:
        return list[object]()
    if isinstance(value, dict):
        return [{"name": name, "value": each} for name, each in cast(dict[str, object], value).items()]
    if isinstance(value, list):
        return [_split_pair(each) if isinstance(each, str) else each for each in cast(list[object], value)]
    return value


def _split_pair(written: str) -> object:
    """Everything behind the first `=` is the value, as it is. A text without one has no name, and is refused for that later."""
    name, equals, value = written.partition("=")
    return {"name": name.strip(), "value": value} if equals else {"name": "", "value": written}


NamedValues: TypeAlias = Annotated[
    list[NamedValue],
    BeforeValidator(_list_pairs),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
CitedValues: TypeAlias = Annotated[list[CitedValue], BeforeValidator(_list_pairs)]


def read_arguments(given: Iterable[tuple[str, Written | Reference]], parameters: Iterable[Parameter]) -> Arguments:
    """Read each value as the type of its parameter. One of an unknown name is left: it is refused for its name later."""
    known = {parameter.name: parameter for parameter in parameters}
    return tuple(
        (name, value if isinstance(value, Reference) else read_value(value, known.get(name))) for name, value in given
    )


def read_value(value: Written, parameter: Parameter | None) -> Scalar:
    """Read the value as the parameter's type, where that is certain. Otherwise it stays, and is refused for its type later.

    Raises `Misfit`.
    """
    if parameter is None or parameter.type == "json":
        return _write_json(value, parameter)
    if isinstance(value, Structure):
        raise Misfit(f"'{parameter.name}' takes one {parameter.type}, not a list or an object")
    if not isinstance(value, str):
        return value
    match parameter.type:
        case "string":
            return value
        case "integer":
            return int(value) if _INTEGER.fullmatch(value) else value
        case "number":
            return _read_number(value)
        case "boolean":
            return _BOOLEANS.get(value.lower(), value)


def _write_json(value: Written, parameter: Parameter | None) -> Scalar:
    if isinstance(value, Structure):
        return value.text
    return value if parameter is None or isinstance(value, str) else json_text(value)


def _read_number(text: str) -> Scalar:
    if _INTEGER.fullmatch(text) and len(text) < 16:
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text
