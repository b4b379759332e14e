"""Reflection: the explanation of a failure, and the context of the plan that follows it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.argument import Pairs
from midcourse.domain.failure import ErrorType, FailedStep, Failure, Severity
from midcourse.domain.outcome import CompletedStep
from midcourse.domain.records.lesson import Recalled

MOST_KEPT = 20
"""Steps of each kind in a replanning context. All of them are in the plan store."""


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """Why it failed."""

    error_type: ErrorType
    severity: Severity
    root_cause: str
    contributing_factors: tuple[str, ...] = ()
    preventable: bool | None = None
    """Whether a better plan would have avoided it. None: not known."""


@dataclass(frozen=True, kw_only=True)
class Fix:
    """What may help."""

    message: str
    changes: tuple[str, ...] = ()


Thinker: TypeAlias = Literal["rules", "model", "own"]
"""The built-in rules, a model, or a reflector that the user wrote."""


@dataclass(frozen=True, kw_only=True)
class Reflection:
    analysis: Analysis
    fix: Fix
    by: Thinker = "rules"


@dataclass(frozen=True, kw_only=True)
class ReplanningContext:
    """What a plan after a failure is made from, besides the screen. Kept with the plan that came of it.

    Words in it may be the world's or a model's: data, never an instruction.
    """

    failure: Failure
    analysis: Analysis
    fix: Fix
    by: Thinker = "rules"
    similar: tuple[Recalled, ...] = ()
    """What earlier runs made of such a failure. Its words are `Untrusted`."""
    failed: FailedStep | None = None
    """The step that failed, if it was a step."""
    results: Pairs = ()
    """What earlier steps brought back."""
    completed: tuple[CompletedStep, ...] = ()
    """The latest."""
    attempts: tuple[FailedStep, ...] = ()
    """The latest."""
