"""Approval: what exactly a person agrees to, and for how long."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.argument import Arguments, Pairs
from midcourse.domain.plan import Target
from midcourse.domain.skill import Effect


@dataclass(frozen=True, kw_only=True)
class CommitSet:
    """Every value that an act would send, hidden ones too, and where it would go."""

    values: Pairs = ()
    address: str = ""


@dataclass(frozen=True, kw_only=True)
class Consequence:
    """What would happen, in full. An approval is for its digest; anything different is another consequence."""

    skill: str
    arguments: Arguments
    effect: Effect
    target: Target
    origin: str
    commit: CommitSet


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A live approval. A single-use one ends with the effect it allowed."""

    consequence: str
    expires_at: float
    once: bool = True


About: TypeAlias = Literal["approve", "happened", "stuck"]
"""`stuck`: failures go on; may the run go on all the same?"""
Verdict: TypeAlias = Literal["approved", "rejected", "happened", "did_not_happen", "go_on", "stop"]

VERDICTS: dict[About, tuple[Verdict, ...]] = {
    "approve": ("approved", "rejected"),
    "happened": ("happened", "did_not_happen", "stop"),
    "stuck": ("go_on", "stop"),
}


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A person's answer to a question."""

    verdict: Verdict
    once: bool = True
    guidance: str = ""
    by: str = ""


@dataclass(frozen=True, kw_only=True)
class Question:
    """What a person is shown: may these be done, or did this happen?"""

    run: str
    id: int
    about: About
    goal: str
    consequences: tuple[Consequence, ...]
    says: tuple[str, ...]
    """The step's own description, one for each consequence."""
    expires_at: float
    changed_from: Consequence | None = None
    """Set if an approval was given for this, and what would now be sent differs."""
    detail: str = ""
    not_by: str = ""
    """Who must not decide it: whoever started the run, if four eyes are to see it."""


@dataclass(frozen=True, kw_only=True)
class Told:
    """A person's word on a step whose outcome nothing else could decide."""

    version: int
    index: int
    happened: bool
