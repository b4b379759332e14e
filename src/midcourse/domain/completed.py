"""A step that was done."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CompletedStep:
    """`doubtful`: it may have happened, and nothing could decide it."""

    version: int
    index: int
    skill: str
    target: str
    says: str
    irreversible: bool = False
    doubtful: bool = False
