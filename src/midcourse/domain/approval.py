"""Approvals: what exactly a person approves, and for how long."""

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

from midcourse.domain.argument import Arguments, Scalar
from midcourse.domain.budget import Cost
from midcourse.domain.fields import NONE, Named, Several, keep_named, keep_several, stored_if_set
from midcourse.domain.plan import Target
from midcourse.domain.skill import Effect

Source: TypeAlias = Literal["shown", "hidden", "fresh"]
"""Where a value comes from: a visible field, a hidden field of a form, or a script that generates a new one each time."""


@dataclass(frozen=True, kw_only=True)
class FieldWords:
    """What a page says of a value that would be sent, to show it as a person sees it. These words are the page's."""

    name: str
    value: str
    label: str = ""
    """The label of the field."""
    shows: str = ""
    """What the page shows in place of the value: the text of an option, or the label of a box."""
    how: Literal["entered", "shown", "served"] = "shown"
    """`entered`: other than when the page was loaded; `served`: hidden, and as the server wrote it."""


@dataclass(frozen=True, kw_only=True)
class CommitSet:
    """Every value that an act would send, including hidden ones, and its destination."""

    values: Named[Scalar] = NONE
    address: str = ""
    abridged: bool = False
    """Whether a value is too large to be written out and is replaced by its length and digest."""
    sources: tuple[tuple[str, Source], ...] = field(default=(), compare=False)
    """Sources of the values by name, as far as the world knows. Only duplicate detection uses them; approvals do not."""
    covers: str = field(default="", compare=False)
    """What an approval for the whole run covers besides exactly this, in the world's words: all that have the same words. Empty: nothing."""

    words: Annotated[tuple[FieldWords, ...], stored_if_set()] = field(default=(), compare=False)
    """What the page says of the values. Only what a person reads is made of it: their order and their labels."""

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
    covers: str = ""
    """The kind that it covers besides its consequence. Such a grant is not used up."""


About: TypeAlias = Literal["approve", "happened", "stuck", "repeat", "question", "more"]
"""`stuck`: failures continue; may the run continue? `repeat`: it looks like what was sent before; send it again? `question`: the
planner asks the user something, in `detail`; the answer is the `guidance` of `go_on`. `more`: a ceiling is reached; may the run spend more?
"""
Verdict: TypeAlias = Literal[
    "approved",
    "rejected",
    "happened",
    "did_not_happen",
    "go_on",
    "stop",
    "changed",
    "take_over",
    "send_again",
    "spend_more",
]

VERDICTS: dict[About, tuple[Verdict, ...]] = {
    "approve": ("approved", "changed", "rejected", "take_over"),
    "happened": ("happened", "did_not_happen", "stop"),
    "stuck": ("go_on", "stop"),
    "repeat": ("send_again", "rejected", "stop"),
    "question": ("go_on", "stop"),
    "more": ("spend_more", "stop"),
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
    picture: str = ""
    """For `happened`: the observation of that screen, if a picture of it is stored; empty otherwise."""
    contradicted: bool = False
    """For `happened`: whether a person denied it and evidence says the contrary, as `detail` says. A second denial is believed."""
    more: Annotated[Cost | None, stored_if_set()] = None
    """For `more`: what the run may spend beyond its ceiling after a yes."""

    @property
    def abridged(self) -> bool:
        """Whether something that would be sent is shown only by its digest."""
        return any(consequence.commit.abridged for consequence in self.consequences)


@dataclass(frozen=True, kw_only=True)
class Raise:
    """What a person allowed a run to spend beyond its ceiling."""

    question: int
    more: Cost
    by: str = ""


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
    by: str = ""
    """The name of the person, if it is known. Empty in runs of formats before 4."""


@dataclass(frozen=True, kw_only=True)
class Withdrawn:
    """A question that was withdrawn because evidence decided it before a person did."""

    question: int
    why: str
