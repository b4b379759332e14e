"""How a step turned out."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.argument import Pairs

Status: TypeAlias = Literal["ok", "failed", "no_effect", "unreachable", "unknown"]
Evidence: TypeAlias = Literal["", "expectation", "absent_when", "probe", "not_dispatched", "person"]
"""What an outcome rests on; empty is the world's own word, which is not enough for an irreversible step."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """A status, a slug that a program can act on, and a sentence for people and planners."""

    status: Status = "ok"
    reason: str = ""
    detail: str = ""
    data: Pairs = ()
    """What a reading skill brought back."""
    evidence: Evidence = ""
