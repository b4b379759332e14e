"""The controls of a run that is under way, the same for local and durable runs."""

from abc import abstractmethod
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from midcourse.domain.approval import Decision, Question
from midcourse.domain.events import ApprovalDecided, CancelAsked, Guided, PauseAsked, ResumeAsked, TakenOver
from midcourse.policy.approval.objection import find_objection
from midcourse.policy.approval.question import bind_decision, say_changes

Request = ApprovalDecided | PauseAsked | ResumeAsked | CancelAsked | Guided | TakenOver
"""The events that a user may send to a run."""

R = TypeVar("R", covariant=True)


class Controls(Protocol, Generic[R]):
    """Pause, resume, cancel, guide and answer. All of them send an event with `tell`.

    All return why the request is refused, or an empty text. `R` is `str`, or a coroutine of `str` if the answer comes over the
    network.
    """

    def tell(self, event: Request, /) -> R: ...

    def answer(self, question: Question, decision: Decision, /) -> R:
        """Decide an open question."""
        ...

    def pause(self) -> R:
        """Pause after the current step. A person may then act in the world, since it is observed before the run continues."""
        return self.tell(PauseAsked())

    def resume(self) -> R:
        return self.tell(ResumeAsked())

    def cancel(self) -> R:
        """Cancel after the current step: an act is never interrupted."""
        return self.tell(CancelAsked())

    def guide(self, text: str) -> R:
        """Give guidance for the next plan."""
        return self.tell(Guided(text=text))


@dataclass(frozen=True, kw_only=True)
class Message:
    number: int
    """Its place among all messages of the run, counted from 1."""
    event: Request


@dataclass(frozen=True, kw_only=True)
class Posted:
    """The result of posting a message: its number, or why it was refused."""

    number: int = 0
    refused: str = ""
    resting: bool = False
    """Whether no driver is running, so that one must be started for this message."""


class Questions(Protocol):
    """A store in which other processes find the open questions of runs."""

    async def save_question(self, question: Question) -> None:
        """Save the open question of a run. It replaces the earlier one."""
        ...

    async def open_question(self, run_id: str) -> Question | None:
        """The question that the run waits for, if any."""
        ...


class Inbox(Questions, Protocol):
    """The methods of a store that other processes need to control a run.

    A message is checked against the same state on which it will be decided: the driver's next turn is refused until the message
    has been read. So an accepted approval cannot expire in between, and of two approvals of one question the second is refused.
    """

    async def post(self, run_id: str, event: Request) -> Posted:
        """Add a message, unless it would have no effect after the messages that are not decided yet."""
        ...

    async def messages(self, run_id: str, after: int) -> tuple[Message, ...]:
        """The messages above this number, in order."""
        ...


class PostedControls(Controls[Coroutine[Any, Any, str]]):
    """Controls a run that another process drives, by messages. All methods return why the run refuses, or an empty text."""

    @abstractmethod
    async def open_question(self) -> Question | None: ...

    async def answer(self, question: Question, decision: Decision, /) -> str:
        """Decide an open question. If it has been replaced by another, the refusal says what changed."""
        if objection := find_objection(question, decision):
            return objection.text
        why_not = await self.tell(bind_decision(question, decision))
        return f"{why_not}{say_changes(question, await self.open_question())}" if why_not else ""
