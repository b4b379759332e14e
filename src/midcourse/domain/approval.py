"""Approval: what exactly a person agrees to, and for how long."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from midcourse.domain.argument import Arguments, Scalar
from midcourse.domain.fields import NONE, Named, Several, keep_named, keep_several
from midcourse.domain.plan import Target
from midcourse.domain.skill import Effect

Source: TypeAlias = Literal["shown", "hidden", "fresh"]
"""Where a value comes from: a field that a person sees, a hidden field of a form, or a script that makes a new one each time."""


@dataclass(frozen=True, kw_only=True)
class CommitSet:
    """Every value that an act would send, hidden ones too, and where it would go."""

    values: Named[Scalar] = NONE
    address: str = ""
    abridged: bool = False
    """Something in `values` is too large to be written out, and stands there as its length and its digest."""
    sources: tuple[tuple[str, Source], ...] = field(default=(), compare=False)
    """Where values come from, by name, as far as the world knows. No approval binds it; only duplicate detection uses it."""

    def __post_init__(self) -> None:
        keep_named(self, "values")


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
    repeat: bool = False
    """Whether a person said so knowing that it looks like an effect that was sent before."""


About: TypeAlias = Literal["approve", "happened", "stuck", "repeat"]
"""`stuck`: failures continue; may the run continue? `repeat`: it looks like what was sent before; send it again?"""
Verdict: TypeAlias = Literal[
    "approved", "rejected", "happened", "did_not_happen", "go_on", "stop", "changed", "take_over", "send_again"
]

VERDICTS: dict[About, tuple[Verdict, ...]] = {
    "approve": ("approved", "changed", "rejected", "take_over"),
    "happened": ("happened", "did_not_happen", "stop"),
    "stuck": ("go_on", "stop"),
    "repeat": ("send_again", "rejected", "stop"),
}


@dataclass(frozen=True, kw_only=True)
class Change:
    """Other arguments for one of the steps in a question; those that it does not name stay."""

    step: int = 0
    """Which one, counted from 0."""
    arguments: Named[Scalar]

    def __post_init__(self) -> None:
        keep_named(self, "arguments")


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A person's answer to a question.

    `changed`: not like that, but like this. What comes of it is another consequence, and is shown before it is done; steps
    that were not changed are approved as shown. `take_over`: the run pauses, and plans again from what it finds afterwards.
    """

    verdict: Verdict
    once: bool = True
    guidance: str = ""
    by: str = ""
    changes: Several[Change] = NONE
    all_values: bool = False
    """Agrees to what the question shows only by a digest as well. Without it, an approval of that is refused."""

    def __post_init__(self) -> None:
        keep_several(self, "changes")


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """A request sent before, in a question that cannot be answered without knowing of it."""

    at: float
    finding: Literal["exists", "may_exist", "reported_absent"]


@dataclass(frozen=True, kw_only=True)
class Revision:
    """What a plan changed in the one whose place it took, in words."""

    version: int
    before: int
    why: str
    kept: int
    """Steps that stay as they were."""
    dropped: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    changed: tuple[tuple[str, str], ...] = ()
    """What became of what: the same skill on the same thing, with other arguments."""


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
    """The person who must not decide it: the one who started the run, if two people are required."""
    before: tuple[Consequence | None, ...] = ()
    """For each consequence what was asked about in its place before, if that was something else."""
    revision: Revision | None = None
    """Set if the plan took the place of another. What it kept, and was approved, is not asked about again."""
    earlier: tuple[Earlier, ...] = ()
    """Of `repeat`: what it looks like. Of `happened`: all attempts, if a probe reported more than one as absent."""

    @property
    def abridged(self) -> bool:
        """Whether something that would be sent is shown only by its digest."""
        return any(consequence.commit.abridged for consequence in self.consequences)


@dataclass(frozen=True, kw_only=True)
class Told:
    """A person's word on a step whose outcome nothing else could decide."""

    version: int
    index: int
    happened: bool
