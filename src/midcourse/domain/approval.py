"""Approvals: what exactly a person approves, and for how long."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from midcourse.domain.argument import Arguments, Scalar
from midcourse.domain.fields import NONE, Named, Several, keep_named, keep_several
from midcourse.domain.plan import Target
from midcourse.domain.skill import Effect

Source: TypeAlias = Literal["shown", "hidden", "fresh"]
"""Where a value comes from: a visible field, a hidden field of a form, or a script that generates a new one each time."""


@dataclass(frozen=True, kw_only=True)
class CommitSet:
    """Every value that an act would send, including hidden ones, and its destination."""

    values: Named[Scalar] = NONE
    address: str = ""
    abridged: bool = False
    """Whether a value is too large to be written out and is replaced by its length and digest."""
    sources: tuple[tuple[str, Source], ...] = field(default=(), compare=False)
    """Sources of the values by name, as far as the world knows. Only duplicate detection uses them; approvals do not."""

    def __post_init__(self) -> None:
        keep_named(self, "values")


@dataclass(frozen=True, kw_only=True)
class Consequence:
    """Everything that a step would do. An approval binds its digest; anything different is another consequence."""

    skill: str
    arguments: Arguments
    effect: Effect
    target: Target
    origin: str
    commit: CommitSet


@dataclass(frozen=True, kw_only=True)
class Grant:
    """A valid approval. A single-use one ends with the effect it allowed."""

    consequence: str
    expires_at: float
    once: bool = True
    repeat: bool = False
    """Whether it was approved knowing that it looks like an effect that was sent before."""


About: TypeAlias = Literal["approve", "happened", "stuck", "repeat", "question"]
"""`stuck`: failures continue; may the run continue? `repeat`: it looks like what was sent before; send it again? `question`: the
planner asks the user something, in `detail`; the answer is the `guidance` of `go_on`.
"""
Verdict: TypeAlias = Literal[
    "approved", "rejected", "happened", "did_not_happen", "go_on", "stop", "changed", "take_over", "send_again"
]

VERDICTS: dict[About, tuple[Verdict, ...]] = {
    "approve": ("approved", "changed", "rejected", "take_over"),
    "happened": ("happened", "did_not_happen", "stop"),
    "stuck": ("go_on", "stop"),
    "repeat": ("send_again", "rejected", "stop"),
    "question": ("go_on", "stop"),
}


@dataclass(frozen=True, kw_only=True)
class Change:
    """New arguments for one of the steps in a question; arguments that are not named stay."""

    step: int = 0
    """The number of the step, counted from 0."""
    arguments: Named[Scalar]

    def __post_init__(self) -> None:
        keep_named(self, "arguments")


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A person's answer to a question.

    `changed`: approved with other arguments. The new consequence is shown before it is sent; steps that were not changed are
    approved as shown. `take_over`: the run pauses, and plans again from what it finds afterwards.
    """

    verdict: Verdict
    once: bool = True
    guidance: str = ""
    by: str = ""
    """The name of the person, as it is shown and recorded."""
    by_id: str = ""
    """What identifies the person, whatever the name: the way they signed in and their subject there. Empty: only the name is known."""
    changes: Several[Change] = NONE
    all_values: bool = False
    """Whether values that the question shows only by a digest are approved, too. Otherwise such an approval is refused."""

    def __post_init__(self) -> None:
        keep_several(self, "changes")


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """A request sent earlier, shown in a question because the answer depends on it."""

    at: float
    finding: Literal["exists", "may_exist", "reported_absent"]


@dataclass(frozen=True, kw_only=True)
class Revision:
    """What a plan changed in the plan that it replaced, in words."""

    version: int
    before: int
    why: str
    kept: int
    """The number of unchanged steps."""
    dropped: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    changed: tuple[tuple[str, str], ...] = ()
    """Steps before and after: the same skill on the same target with different arguments."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question as it is shown to a person: may these be done, or did this happen?"""

    run: str
    id: int
    about: About
    goal: str
    consequences: tuple[Consequence, ...]
    says: tuple[str, ...]
    """The steps' own descriptions, one for each consequence."""
    expires_at: float
    changed_from: Consequence | None = None
    """The consequence that was approved, if what would be sent has changed since."""
    detail: str = ""
    not_by: str = ""
    """The name of the person who started the run and must not decide, if two people are required."""
    not_by_id: str = ""
    """What identifies that person; empty if only the name is known."""
    before: tuple[Consequence | None, ...] = ()
    """For each consequence, what was asked about in its place before, if that was different."""
    revision: Revision | None = None
    """The changes, if the plan replaced another. Steps that it kept and that were approved are not asked about again."""
    earlier: tuple[Earlier, ...] = ()
    """For `repeat`: what it looks like. For `happened`: all attempts, if a probe reported more than one as absent."""
    page: str = ""
    """For `happened`: the title of the screen as it was last seen. This and the next two are from the world and not trusted."""
    appeared: tuple[str, ...] = ()
    """For `happened`: texts that the screen shows and did not show before the act; not all of them, and shortened."""
    unmet: tuple[str, ...] = ()
    """For `happened`: what was expected to be seen after the act, and why that does not decide it."""
    contradicted: bool = False
    """For `happened`: whether a person denied it and evidence says the contrary, as `detail` says. A second denial is believed."""

    @property
    def abridged(self) -> bool:
        """Whether something that would be sent is shown only by its digest."""
        return any(consequence.commit.abridged for consequence in self.consequences)


@dataclass(frozen=True, kw_only=True)
class OutcomeAnswer:
    """A person's answer about a step whose outcome nothing else could decide."""

    version: int
    index: int
    happened: bool
    command: int = 0
    """The command of the act. 0 in runs of earlier formats."""
    against: str = ""
    """The evidence to the contrary that the person was shown."""


@dataclass(frozen=True, kw_only=True)
class Withdrawn:
    """A question that was withdrawn because evidence decided it before a person did."""

    question: int
    why: str
