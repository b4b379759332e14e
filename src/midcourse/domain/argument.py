"""Arguments of a skill: literals, or references that are filled in right before acting."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

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
