"""Questions and decisions."""

from typing import Annotated

from pydantic import Field

from midcourse.domain.approval import About, Earlier, Revision, Verdict
from midcourse.domain.argument import Argument, Scalar
from midcourse.policy.approval.question import RowKind
from midcourse.server.models.base import Model


class Row(Model):
    """One thing that an approval binds."""

    kind: RowKind
    name: str
    value: Argument
    number: int
    """Which of the rows of this kind and name it is."""
    of: int


class RowChange(Model):
    """A row before and now. None: it was not there, or is no longer there."""

    was: Row | None
    now: Row | None


class AskedStep(Model):
    """A step that a question asks about."""

    says: str
    digest: str
    """Identifies exactly what is shown; a decision has to repeat it."""
    abridged: bool
    """Whether a value is shown only by its digest."""
    effect: str
    skill: str
    origin: str
    address: str
    rows: tuple[Row, ...]
    changed: tuple[RowChange, ...]
    """Differences to what was last approved or asked about in its place."""


class QuestionView(Model):
    run: str
    id: int
    about: About
    title: str
    goal: str
    detail: str
    steps: tuple[AskedStep, ...]
    shown: tuple[str, ...]
    """The digests of the steps, to send back with the decision."""
    verdicts: tuple[Verdict, ...]
    """The verdicts that answer it."""
    expires_at: float
    needs_all_values: bool
    """Whether an approval has to say `all_values`, because something is long or shown only by its digest."""
    not_by: str
    """The user who started the run and must not decide, if two people are required."""
    revision: Revision | None
    earlier: tuple[Earlier, ...]
    voids_approval: bool
    """Whether something else was approved, and what would be sent has changed since."""


class QuestionPage(Model):
    questions: tuple[QuestionView, ...]


class ChangeBody(Model):
    step: Annotated[int, Field(ge=0, le=1000)] = 0
    arguments: dict[str, Scalar] = Field(max_length=200)


class DecisionBody(Model):
    """A decision about exactly what was shown. The decider is the authenticated user."""

    verdict: Verdict
    shown: tuple[str, ...] = Field(max_length=100)
    """The digests of the question that the decider saw; if they differ from what is asked now, nothing is decided."""
    once: bool = True
    guidance: Annotated[str, Field(max_length=10_000)] = ""
    changes: tuple[ChangeBody, ...] = Field(default=(), max_length=100)
    all_values: bool = False


class Accepted(Model):
    """The run has taken the message. What follows from it is in the event stream."""

    run: str
    accepted: bool = True
    says: str
