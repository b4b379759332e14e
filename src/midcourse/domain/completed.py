"""A step that was done."""

from dataclasses import dataclass

from midcourse.domain.argument import Arguments


@dataclass(frozen=True, kw_only=True)
class CompletedStep:
    """`doubtful`: it may have happened, and nothing could decide it."""

    version: int
    index: int
    skill: str
    target: str
    says: str
    arguments: Arguments = ()
    irreversible: bool = False
    doubtful: bool = False
