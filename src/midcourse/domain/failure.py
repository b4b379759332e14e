"""Failures: their classification, and failed steps as the director and the planner see them."""

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from midcourse.domain.argument import Arguments
from midcourse.domain.fields import stored_as, stored_if_set

Severity: TypeAlias = Literal["CRITICAL", "HIGH", "MEDIUM", "LOW"]
"""`CRITICAL` and `HIGH` need another plan, `MEDIUM` may pass by itself, `LOW` can be ignored."""

Category: TypeAlias = Literal["ENVIRONMENT", "DEPENDENCY", "VALIDATION", "LOGIC", "TIMEOUT", "RESOURCE", "UNKNOWN"]
"""The area in which the cause lies."""

ErrorType: TypeAlias = Literal[
    "timeout",
    "permission",
    "not_found",
    "invalid_input",
    "network",
    "syntax",
    "type_error",
    "attribute_error",
    "key_error",
    "value_error",
    "index_error",
    "other",
]

Nature: TypeAlias = Literal["transient", "recoverable", "under_specified", "structural", "transport", "permission"]
"""What may help: waiting (`transient`, `transport`), another approach (`recoverable`, `permission`), better arguments
(`under_specified`), or nothing (`structural`)."""


@dataclass(frozen=True, kw_only=True)
class Classification:
    """The kind of a failure. The default is for unknown ones: serious, and worth another plan."""

    severity: Severity = "HIGH"
    category: Category = "UNKNOWN"
    error_type: ErrorType = "other"
    nature: Nature = "recoverable"


@dataclass(frozen=True, kw_only=True)
class FailureRule:
    """A classification rule of the user: which failures it matches, and what it sets. Fields that are None are not changed."""

    reason: str = ""
    """A pattern for the reason. Empty matches any."""
    message: str = ""
    """A pattern for the detail; case does not matter. Empty matches any."""
    severity: Severity | None = None
    category: Category | None = None
    error_type: ErrorType | None = None
    nature: Nature | None = None


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """A failed try, in enough detail to recognise it. Both fingerprints count, since some failures change the screen."""

    call: str
    before: str
    after: str
    reason: str
    at: float
    count: int = 1
    passing: bool | None = None
    """Whether a retry may work. None in older journals: then the reason decides."""
    barred: Annotated[bool, stored_if_set()] = False
    """Whether the failure is structural, so that the step is not tried again on any screen."""
    completed: int | None = None
    """The number of completed steps of the run when it lacked a result; None if it failed otherwise."""


@dataclass(frozen=True, kw_only=True)
class Track:
    """How often a new plan fixed or did not fix a failure in recent runs.

    Only numbers: this is all that agents share by default, and all that the director sees.
    """

    lesson: str = ""
    """The lesson key of the failure."""
    fixed: Annotated[int, stored_as("mended")] = 0
    not_fixed: Annotated[int, stored_as("unmended")] = 0
    sample: Annotated[float, stored_as("lot")] = 1.0
    """A random number of this run. Runs with a low number retry what other runs have given up."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a new plan is needed: what went wrong, what it means, and at which step."""

    reason: str
    detail: str = ""
    found: Classification = Classification()
    version: int = 0
    """The version of the failed step's plan; 0 if no step failed, but no plan could be made or the plan did not suffice."""
    index: int = 0
    tries: int = 0
    """The number of retries of the step."""


@dataclass(frozen=True, kw_only=True)
class FailedStep:
    """A failed step in full, for the planner and the result."""

    version: int
    index: int
    skill: str
    target: str
    arguments: Arguments
    reason: str
    detail: str
    says: str = ""
