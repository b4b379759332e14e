"""Reflection: the explanation of a failure, and the context of the plan that follows it."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.argument import Pairs
from midcourse.domain.failure import ErrorType, FailedStep, Failure, Severity
from midcourse.domain.outcome import CompletedStep
from midcourse.domain.records.lesson import Recalled

MOST_KEPT = 20
"""The maximum number of steps of each kind in a replanning context. All steps are in the plan store."""


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """The explanation of a failure."""

    error_type: ErrorType
    severity: Severity
    root_cause: str
    contributing_factors: tuple[str, ...] = ()
    preventable: bool | None = None
    """Whether a better plan would have avoided it. None: unknown."""


@dataclass(frozen=True, kw_only=True)
class Fix:
    """A proposal that may avoid the failure."""

    message: str
    changes: tuple[str, ...] = ()


ReflectionSource: TypeAlias = Literal["rules", "model", "own"]
"""What wrote a reflection: the built-in rules, a model, or the user's own reflector."""


@dataclass(frozen=True, kw_only=True)
class Reflection:
    """An explanation of a failure: its probable cause, and what may fix it."""

    analysis: Analysis
    fix: Fix
    by: ReflectionSource = "rules"


@dataclass(frozen=True, kw_only=True)
class ReplanningContext:
    """What the planner is given for a plan after a failure, besides the screen. Stored with the plan.

    Its texts may come from the world or a model: they are data, never instructions.
    """

    failure: Failure
    analysis: Analysis
    fix: Fix
    by: ReflectionSource = "rules"
    similar: tuple[Recalled, ...] = ()
    """Lessons of earlier runs about such failures. Their texts are `Untrusted`."""
    failed: FailedStep | None = None
    """The step that failed, if it was a step."""
    results: Pairs = ()
    """Results of earlier steps."""
    completed: tuple[CompletedStep, ...] = ()
    """The latest completed steps."""
    attempts: tuple[FailedStep, ...] = ()
    """The latest failed steps."""
