"""Failures: their classification, and failed steps as the director and the planner see them."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.argument import Arguments

Severity: TypeAlias = Literal["CRITICAL", "HIGH", "MEDIUM", "LOW"]
"""`CRITICAL` and `HIGH` need another plan, `MEDIUM` may pass by itself, `LOW` can be ignored."""

Category: TypeAlias = Literal["ENVIRONMENT", "DEPENDENCY", "VALIDATION", "LOGIC", "TIMEOUT", "RESOURCE", "UNKNOWN"]
"""Whose affair it is."""

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
"""What may help: waiting (`transient`, `transport`), another way (`recoverable`, `permission`), better arguments
(`under_specified`), or nothing from here (`structural`)."""


@dataclass(frozen=True, kw_only=True)
class Classification:
    """The kind of a failure. The default is for unknown ones: serious, and worth another plan."""

    severity: Severity = "HIGH"
    category: Category = "UNKNOWN"
    error_type: ErrorType = "other"
    nature: Nature = "recoverable"


@dataclass(frozen=True, kw_only=True)
class FailureRule:
    """A row of the user's own: which failures it is about, and what it says of them. What it leaves out stays as it is."""

    reason: str = ""
    """Pattern of the reason; empty: any."""
    message: str = ""
    """Pattern of the detail, in any case; empty: any."""
    severity: Severity | None = None
    category: Category | None = None
    error_type: ErrorType | None = None
    nature: Nature | None = None


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """Enough to recognise the same try again. Both fingerprints count: some failures change the screen."""

    call: str
    before: str
    after: str
    reason: str
    at: float
    count: int = 1
    passing: bool | None = None
    """Whether the same may work in a moment. None in journals older than that: the reason alone tells."""


@dataclass(frozen=True, kw_only=True)
class Track:
    """In how many of the latest runs that met a failure and planned again a new plan fixed it, and in how many none did.

    Nothing but numbers: this is all that agents learn from each other unasked, and all that the director sees.
    """

    lesson: str = ""
    """By which memory knows the failure."""
    mended: int = 0
    unmended: int = 0
    lot: float = 1.0
    """Drawn for the run that asks: those with a low one try what others have given up."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a new plan is needed: what went wrong, what it means, and at which step."""

    reason: str
    detail: str = ""
    found: Classification = Classification()
    version: int = 0
    """0: no step failed; there was no further plan, or it was not enough."""
    index: int = 0
    tries: int = 0
    """How often the step had been retried."""


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
