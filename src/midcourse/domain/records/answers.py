"""Questions and their answers, which later runs may use (`approvals = "adaptive"`)."""

from dataclasses import dataclass

from midcourse.domain.events import ApprovalDecided


@dataclass(frozen=True, kw_only=True)
class AskedConsequence:
    """A record that a person was asked about a consequence; its shape is everything but the values."""

    run: str
    question: int
    shape: str
    consequence: str


@dataclass(frozen=True, kw_only=True)
class AnsweredConsequence:
    """A consequence that a person was asked about, with the decision."""

    asked: AskedConsequence
    decision: ApprovalDecided
