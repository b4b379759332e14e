"""Records of a run: plans and their differences, observations, what was sent with its evidence, replays and forks."""

from pydantic import Field

from midcourse.domain.argument import Argument, Scalar
from midcourse.domain.budget import Spent
from midcourse.domain.observation import ObservationRef
from midcourse.domain.plan import PlanVersion
from midcourse.domain.reflection import ReplanningContext
from midcourse.presentation.evidence import SentAct
from midcourse.replay import Lost, Tally, Verdict
from midcourse.server.models.base import Model, RunId
from midcourse.server.models.questions import Row
from midcourse.server.models.stream import LineView


class PlanRow(Model):
    """A plan version."""

    plan: PlanVersion
    reason: str
    """Why the plan was made, in words."""
    steps: tuple[str, ...]
    """The steps in words."""
    carried_out: int | None
    """The number of steps that were carried out; None in a brief list."""
    made_at: float | None
    seq: int | None
    """The number of the turn in which the plan was made; None in a brief list."""
    spent: tuple[Spent, ...]
    """What the plan has cost, by role and model."""


class TurnLine(Model):
    """A line of the log, with its turn."""

    seq: int
    at: float
    line: LineView


class DiffStep(Model):
    """A step in a comparison of plans."""

    index: int
    says: str
    call: str
    effect: str
    arguments: tuple[tuple[str, Argument], ...]


class ArgumentChange(Model):
    """An argument with its old and new value."""

    name: str
    was: Argument
    now: Argument


class ChangedStep(Model):
    """A step that both plans have, with different arguments."""

    before: DiffStep
    after: DiffStep
    arguments: tuple[ArgumentChange, ...]
    """The arguments that differ."""


class PlanDiffView(Model):
    """How a plan differs from an earlier one, and why it was made."""

    before: int
    after: int
    cause: str
    reason: str
    context: ReplanningContext | None
    """For a plan after a failure: the failure and what was known about it."""
    kept: tuple[DiffStep, ...]
    done: tuple[DiffStep, ...]
    """Steps of the earlier plan that were carried out."""
    dropped: tuple[DiffStep, ...]
    new: tuple[DiffStep, ...]
    changed: tuple[ChangedStep, ...]


class LookRow(Model):
    """An observation in a list."""

    seq: int
    at: float
    seen: ObservationRef
    plan: int | None
    """The version of the plan at that turn."""
    step: int | None
    picture: str
    """The SHA-256 digest of the screenshot, or empty."""
    size: tuple[int, int] | None


class LookPage(Model):
    """A page of observations."""

    looks: tuple[LookRow, ...]
    next: int | None
    """Pass this as `above` to get the next page. None if there are no more observations yet."""


class EffectView(Model):
    """An act that was sent, with its values."""

    act: SentAct
    rows: tuple[Row, ...]
    """The exact values that were sent."""


class Effects(Model):
    """The acts that a run sent."""

    sent: tuple[EffectView, ...]
    world: tuple[str, ...]
    """The log that a simulated world keeps of its effects; empty for real worlds."""


class ReplayBody(Model):
    """The settings to replay a run with."""

    settings: dict[str, Scalar] = Field(default_factory=dict[str, Scalar], max_length=100)


class ReplayView(Model):
    """What a recorded run would have done under other settings, as far as the recording shows it."""

    verdict: Verdict
    event: int | None
    """The recorded event at which the changed run diverges from the recorded one; None if it does not."""
    events: int
    detail: str
    headline: str
    recorded_there: str
    saved_words: str
    lost_words: str
    hint: str
    recorded: Tally
    """What the whole recorded run has done."""
    until: Tally
    """What the changed run has done up to the divergence."""
    saved: Tally | None
    """What the recorded run spent after the divergence; None if unknown."""
    lost: Lost | None
    """What the recorded run achieved after the divergence; None if unknown."""
    final_reason: str | None
    """Why the recorded run ended; None if it has not."""


class ForkBody(Model):
    """Where to branch off from a recorded run, and the settings to change."""

    at: int = Field(ge=1, le=10_000_000)
    """The last event of the recorded run that the new run keeps."""
    settings: dict[str, Scalar] = Field(default_factory=dict[str, Scalar], max_length=100)
    run_id: RunId | None = None


class ForkedView(Model):
    """The new run."""

    run: str
    at: int
    """The last event that was kept: the requested one, or the nearest earlier one at which no act was in progress."""
