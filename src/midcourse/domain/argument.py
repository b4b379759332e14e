"""Arguments of a skill: literals, or references that are filled in right before acting."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Scalar: TypeAlias = str | int | float | bool | None
Pairs: TypeAlias = tuple[tuple[str, Scalar], ...]
"""Named values in order. Pairs and not a dict, because what holds them must be hashable."""


Source: TypeAlias = Literal["input", "secret", "file", "result", "argument"]
"""`argument` is only for the probe of a skill: an argument of the call that the probe is about."""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """Stands for a value the planner must not, need not, or cannot yet write out: a task input, a secret, a file, or what an
    earlier step brings back.
    """

    source: Source
    name: str
    kind: Literal["reference"] = "reference"


Argument: TypeAlias = Scalar | Reference
Arguments: TypeAlias = tuple[tuple[str, Argument], ...]
