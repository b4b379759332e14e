"""A failed step, as the director remembers it and as a planner is told of it."""

from dataclasses import dataclass

from midcourse.domain.argument import Arguments


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """Enough to recognise the same try again. Both fingerprints count: some failures change the screen."""

    call: str
    before: str
    after: str
    reason: str
    at: float
    count: int = 1


@dataclass(frozen=True, kw_only=True)
class FailedStep:
    """An attempt in full, for the planner and the result."""

    version: int
    index: int
    skill: str
    target: str
    arguments: Arguments
    reason: str
    detail: str
    says: str = ""
