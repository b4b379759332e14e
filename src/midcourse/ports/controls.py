"""The controls of a run that is under way, the same for local and durable runs."""

from typing import Generic, Protocol, TypeVar

from midcourse.domain.approval import Decision, Question
from midcourse.domain.events import ApprovalDecided, CancelAsked, Guided, PauseAsked, ResumeAsked, TakenOver

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
