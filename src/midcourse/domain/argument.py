"""Arguments of a skill: literals, or references that are filled in right before acting."""

import json
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Scalar: TypeAlias = str | int | float | bool | None
Pairs: TypeAlias = tuple[tuple[str, Scalar], ...]
"""Named values in order. Not a dict, because the values that hold them must be hashable."""


Source: TypeAlias = Literal["input", "secret", "file", "result", "argument"]
"""`argument` is only for the probe of a skill: an argument of the call that the probe is about."""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A placeholder for a value that the planner does not write out: a task input, a secret, a file or a result of an earlier step."""

    source: Source
    name: str
    kind: Literal["reference"] = "reference"


Argument: TypeAlias = Scalar | Reference
Arguments: TypeAlias = tuple[tuple[str, Argument], ...]


@dataclass(frozen=True, kw_only=True)
class OutputValue:
    """A value of the task's output as a planner gives it."""

    name: str
    value: Scalar
    source: str = ""
    """Where it says that it found it: a zone's id, `$result.NAME`, or a quoted text."""


def json_text(value: Any) -> str:
    """The canonical text of a JSON value. Raises `TypeError` or `ValueError` for anything else, such as NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def is_json(text: object) -> bool:
    """Whether this is the text of a JSON value."""
    if not isinstance(text, str):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):  # the latter for text that is nested too deeply
        return False
    return True
