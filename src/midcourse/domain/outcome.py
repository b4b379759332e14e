"""How a step turned out."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.argument import Pairs

Status: TypeAlias = Literal["ok", "failed", "no_effect", "unreachable", "unknown"]
Evidence: TypeAlias = Literal["", "expectation", "absent_when", "probe", "rule", "response", "not_dispatched", "person"]
"""What an outcome rests on; empty is the world's own word, which is not enough for an irreversible step. A `rule` is what
a policy declares of this origin: that such an answer means that nothing was stored. A `response` is an answer of success that
led to another page: the run may go on without repeating the step, but the goal is not verified by it."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A status, a slug that a program can act on, and a sentence for people and planners."""

    status: Status = "ok"
    reason: str = ""
    detail: str = ""
    data: Pairs = ()
    """What a reading skill brought back."""
    evidence: Evidence = ""
