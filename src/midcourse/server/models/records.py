"""Records of a run: plans and their differences, observations, what was sent with its evidence, replays and forks."""

from pydantic import Field

from midcourse.app.presentation.evidence import SentAct
from midcourse.domain.argument import Argument, Scalar
from midcourse.domain.budget import Spent
from midcourse.domain.observation import ObservationRef
from midcourse.domain.plan import PlanVersion
from midcourse.domain.reflection import ReplanningContext
from midcourse.replay import Lost, Tally, Verdict
from midcourse.server.models.base import Model, RunId
from midcourse.server.models.questions import Row
from midcourse.server.models.stream import LineView


class PlanRow(Model):
    """A plan version."""

    plan: PlanVersion
    reason: str
    """Why it was made, in words."""
    steps: tuple[str, ...]
    """Its steps in words."""
    carried_out: int | None
    """The number of its steps that were carried out; None in a brief list."""
    made_at: float | None
    seq: int | None
    """The turn that brought it."""
    spent: tuple[Spent, ...]
    """What making it cost."""


class TurnLine(Model):
    """A turn in the log."""

    seq: int
    at: float
    line: LineView


class DiffStep(Model):
    index: int
    says: str
    call: str
    effect: str
    arguments: tuple[tuple[str, Argument], ...]


class ArgumentChange(Model):
    name: str
    was: Argument
    now: Argument


class ChangedStep(Model):
    before: DiffStep
    after: DiffStep
    arguments: tuple[ArgumentChange, ...]
    """Only those that differ."""


class PlanDiffView(Model):
    """What a plan kept, changed, dropped and added, and why there is one."""

    before: int
    after: int
    cause: str
    reason: str
    context: ReplanningContext | None
    """For a plan after a failure: the failure, and what was known about it."""
    kept: tuple[DiffStep, ...]
    done: tuple[DiffStep, ...]
    """Steps of the earlier plan that were carried out."""
    dropped: tuple[DiffStep, ...]
    new: tuple[DiffStep, ...]
    changed: tuple[ChangedStep, ...]


class LookRow(Model):
    """An observation in the list."""

    seq: int
    at: float
    seen: ObservationRef
    plan: int | None
    """The plan that was current then."""
    step: int | None
    picture: str
    """The SHA-256 of its screenshot, or empty."""
    size: tuple[int, int] | None


class LookPage(Model):
    looks: tuple[LookRow, ...]
    next: int | None
    """Pass it as `above` for the following page; None: this is the last so far."""


class EffectView(Model):
    act: SentAct
    rows: tuple[Row, ...]
    """What exactly was sent."""


class Effects(Model):
    sent: tuple[EffectView, ...]
    world: tuple[str, ...]
    """The log that a simulated world keeps itself; real worlds have none."""


class ReplayBody(Model):
    """Settings to change in the recorded run."""

    settings: dict[str, Scalar] = Field(default_factory=dict[str, Scalar], max_length=100)


class ReplayView(Model):
    verdict: Verdict
    event: int | None
    """The recorded event at which the two part."""
    events: int
    detail: str
    headline: str
    recorded_there: str
    saved_words: str
    lost_words: str
    hint: str
    recorded: Tally
    until: Tally
    saved: Tally | None
    lost: Lost | None
    final_reason: str | None
    """How the recorded run ended."""


class ForkBody(Model):
    at: int = Field(ge=1, le=10_000_000)
    """The last event that is kept."""
    settings: dict[str, Scalar] = Field(default_factory=dict[str, Scalar], max_length=100)
    run_id: RunId | None = None


class ForkedView(Model):
    run: str
    at: int
    """The event that it branched off after: the one asked for, or the nearest before it at which no act was under way."""
