"""Port of the inbox: messages to a run from other processes. Each is checked when it is posted and decided exactly once, in order."""

from abc import abstractmethod
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Protocol

from midcourse.domain.approval import Decision, Question
from midcourse.policy.approval.check import why_needs_all_values
from midcourse.policy.approval.question import bind_decision, say_changes
from midcourse.ports.controls import Controls, Request


@dataclass(frozen=True, kw_only=True)
class Message:
    number: int
    """Its place among all messages of the run, from 1 on."""
    event: Request


@dataclass(frozen=True, kw_only=True)
class Posted:
    """The result of posting a message: its number, or why it was refused."""

    number: int = 0
    refused: str = ""
    resting: bool = False
    """Whether no driver runs the run, so that one has to be started for this message."""


class Questions(Protocol):
    """A store through which other processes see what a run asks."""

    async def save_question(self, question: Question) -> None:
        """What the run asks now, in place of what it asked before."""
        ...

    async def open_question(self, run_id: str) -> Question | None:
        """The question that the run waits with."""
        ...


class Inbox(Questions, Protocol):
    """What other processes need of a store to control a run.

    A message is accepted on the state that it will be decided on: the driver's next turn is refused until it has been read. So
    an accepted approval cannot expire in between, and of two approvals of one question the second is refused.
    """

    async def post(self, run_id: str, event: Request) -> Posted:
        """Add a message, unless it would have no effect, given those that are not decided yet."""
        ...

    async def messages(self, run_id: str, after: int) -> tuple[Message, ...]:
        """Those above this number, in order."""
        ...


class PostedControls(Controls[Coroutine[Any, Any, str]]):
    """Controls of a run that another process drives, by messages. All return why the run refuses it, or an empty text."""

    @abstractmethod
    async def open_question(self) -> Question | None: ...

    async def answer(self, question: Question, decision: Decision, /) -> str:
        """Decide a question that is open. If it has been replaced by another, the refusal says what changed."""
        if incomplete := why_needs_all_values(question, decision):
            return incomplete
        why_not = await self.tell(bind_decision(question, decision))
        return f"{why_not}{say_changes(question, await self.open_question())}" if why_not else ""
