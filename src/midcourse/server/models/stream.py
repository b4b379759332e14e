"""Messages of the event stream. Each SSE message has one of these as JSON in `data`, and its `type` as the event's name."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from midcourse.app.presentation.narration import Tone
from midcourse.domain.budget import Cost
from midcourse.domain.event import Event
from midcourse.domain.observation import ObservationRef
from midcourse.server.models.base import Model


class LineView(Model):
    """What happened in one turn, as a sentence."""

    text: str
    tone: Tone


class StandingView(Model):
    """The state of the run after a turn."""

    phase: str
    status: str
    """What it waits for, in words."""
    wish: Literal["go", "pause", "cancel"]
    plan: int | None
    """The current plan version."""
    cursor: int
    """The first step of it that is not done."""
    question: int | None
    """The question that is open after this turn."""
    spent: Cost
    active_seconds: float
    final_reason: str


class TurnMessage(Model):
    """One turn of the run. Its SSE id is `seq`; send the last one back as `Last-Event-ID` to continue after it."""

    type: Literal["turn"] = "turn"
    seq: int
    at: float
    event: Event
    line: LineView | None
    """None: the turn is not worth a line in a log."""
    standing: StandingView
    made_plan: int | None
    """The plan version that this turn brought."""
    seen: ObservationRef | None
    """The observation that this turn brought."""


class RewindMessage(Model):
    """Forget all turns above `to`: the caller has heard more than there is, because the database was restored."""

    type: Literal["rewind"] = "rewind"
    to: int


class NoticeMessage(Model):
    """Why nothing drives the run; empty when something does again. It has no id and is not repeated."""

    type: Literal["notice"] = "notice"
    why_not_driven: str


class EndMessage(Model):
    """The run has ended and its result is stored. The last message; close the stream."""

    type: Literal["end"] = "end"
    final_reason: str
    success: bool
    verified: bool


StreamMessage: TypeAlias = Annotated[
    TurnMessage | RewindMessage | NoticeMessage | EndMessage, Field(discriminator="type")
]
