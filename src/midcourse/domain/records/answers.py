"""Questions and their answers, from which later runs may learn (`approvals = "adaptive"`)."""

from dataclasses import dataclass

from midcourse.domain.event import ApprovalDecided


@dataclass(frozen=True, kw_only=True)
class Asked:
    """That a person was asked about this consequence, and what shape it has: all of it but the values."""

    run: str
    question: int
    shape: str
    consequence: str


@dataclass(frozen=True, kw_only=True)
class Answered:
    asked: Asked
    decision: ApprovalDecided
