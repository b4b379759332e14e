"""Messages of the event stream. Each SSE message has one of these as JSON in `data`, and its `type` as the event's name."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from midcourse.domain.budget import Cost
from midcourse.domain.events import Event
from midcourse.domain.observation import ObservationRef
from midcourse.presentation.narration import Tone
from midcourse.server.models.base import Model


class LineView(Model):
    """What happened in one turn, as a sentence."""

    text: str
    tone: Tone


class StandingView(Model):
    """The state of the run after a turn."""

    phase: str
    status: str
    """What the run waits for, in words."""
    wish: Literal["go", "pause", "cancel"]
    plan: int | None
    """The current plan version."""
    cursor: int
    """The index of the first step of the plan that is not done."""
    question: int | None
    """The number of the question that is open after this turn."""
    spent: Cost
    active_seconds: float
    final_reason: str


class TurnMessage(Model):
    """One turn of the run: an event, and the state after it."""

    type: Literal["turn"] = "turn"
    seq: int
    at: float
    event: Event
    line: LineView | None
    """The line of the log; None for a turn that the log leaves out."""
    standing: StandingView
    made_plan: int | None
    """The version of the plan that was made in this turn."""
    seen: ObservationRef | None
    """The observation that was made in this turn."""


class RewindMessage(Model):
    """Discard all turns after `to`. The database was restored, so turns that were sent no longer exist."""

    type: Literal["rewind"] = "rewind"
    to: int


class NoticeMessage(Model):
    """Why no process drives the run; empty when one does again. It has no SSE id and is not sent again after a reconnect."""

    type: Literal["notice"] = "notice"
    why_not_driven: str


class EndMessage(Model):
    """The last message: the run has ended and its result is stored. Close the stream."""

    type: Literal["end"] = "end"
    final_reason: str
    success: bool
    verified: bool


StreamMessage: TypeAlias = Annotated[
    TurnMessage | RewindMessage | NoticeMessage | EndMessage, Field(discriminator="type")
]
