"""Questions and decisions."""

from typing import Annotated

from pydantic import Field

from midcourse.domain.approval import About, Earlier, Revision, Verdict
from midcourse.domain.argument import Argument, Scalar
from midcourse.policy.approval.question import RowKind
from midcourse.server.models.base import Model


class Row(Model):
    """One value that an approval binds. Approvals are for exact values."""

    kind: RowKind
    name: str
    value: Argument
    number: int
    """The position of this row among the rows of the same kind and name, from 1."""
    of: int
    """The number of rows of the same kind and name."""


class RowChange(Model):
    """How a row changed. `was` is None for a new row, and `now` for a removed one."""

    was: Row | None
    now: Row | None


class AskedStep(Model):
    """A step that a question asks about."""

    says: str
    digest: str
    """Identifies exactly what is shown. A decision must repeat it."""
    abridged: bool
    """Whether a value is shown only by its digest."""
    effect: str
    skill: str
    origin: str
    address: str
    rows: tuple[Row, ...]
    changed: tuple[RowChange, ...]
    """Differences from the request that was last approved or asked about for this step."""


class More(Model):
    """What a run may spend beyond its ceiling after a yes. 0: as before."""

    calls: int
    tokens: int
    cost_usd: float


class QuestionView(Model):
    """A question that a run asks: what it wants to do, and how it can be answered."""

    run: str
    id: int
    about: About
    title: str
    notices: tuple[str, ...]
    """Sentences to read before what would be sent."""
    goal: str
    detail: str
    steps: tuple[AskedStep, ...]
    shown: tuple[str, ...]
    """The digests of the steps, to send back with the decision."""
    verdicts: tuple[Verdict, ...]
    """The verdicts that are possible."""
    expires_at: float
    needs_all_values: bool
    """Whether an approval must set `all_values`, because a value is long or shown only by its digest."""
    not_by: str
    """The user who started the run and therefore must not decide it; empty unless two people are required."""
    revision: Revision | None
    earlier: tuple[Earlier, ...]
    page: str
    """For `happened`: the title of the screen as it was last seen. This and the next two fields have texts of the page."""
    appeared: tuple[str, ...]
    """For `happened`: texts that the screen shows and did not show before it was sent."""
    unmet: tuple[str, ...]
    """For `happened`: what was expected to be seen afterwards, and why that does not decide it."""
    picture: str
    """For `happened`: the observation of that screen, if it has a picture (`/runs/{run}/observations/{observation}/picture`)."""
    contradicted: bool
    """For `happened`: whether a person denied it and evidence says the contrary. A second denial is believed."""
    more: More | None
    """For `more`: what a yes allows the run to spend beyond its ceiling."""
    voids_approval: bool
    """Whether an earlier approval is void, because the values that would be sent have changed since."""


class QuestionPage(Model):
    """The open questions."""

    questions: tuple[QuestionView, ...]


class ChangeBody(Model):
    """New arguments for one step of a question."""

    step: Annotated[int, Field(ge=0, le=1000)] = 0
    arguments: dict[str, Scalar] = Field(max_length=200)


class DecisionBody(Model):
    """A decision about what was shown. It is recorded as made by the authenticated user."""

    verdict: Verdict
    shown: tuple[str, ...] = Field(max_length=100)
    """The digests that the user saw. If they differ from those of the open question, nothing is decided."""
    once: bool = True
    guidance: Annotated[str, Field(max_length=10_000)] = ""
    changes: tuple[ChangeBody, ...] = Field(default=(), max_length=100)
    all_values: bool = False


class Accepted(Model):
    """The request was accepted. Its effects appear in the event stream."""

    run: str
    accepted: bool = True
    says: str
