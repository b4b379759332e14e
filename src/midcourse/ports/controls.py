"""The controls of a run that is under way, the same for local and durable runs."""

from typing import Generic, Protocol, TypeVar

from midcourse.domain.event import ApprovalDecided, CancelAsked, Guided, PauseAsked, ResumeAsked

Request = ApprovalDecided | PauseAsked | ResumeAsked | CancelAsked | Guided
"""What a user may send to a run."""

R = TypeVar("R", covariant=True)


class Controls(Protocol, Generic[R]):
    """Pause, resume, cancel and guide, in terms of `tell`.

    All return why the request is refused, or an empty text: `R` is `str`, or a coroutine of `str` where the answer comes over
    the network.
    """

    def tell(self, event: Request, /) -> R: ...

    def pause(self) -> R:
        """Pause after the step under way. A person may act in the world meanwhile: it is observed before the run continues."""
        return self.tell(PauseAsked())

    def resume(self) -> R:
        return self.tell(ResumeAsked())

    def cancel(self) -> R:
        """Cancel after the step under way: an act is never interrupted."""
        return self.tell(CancelAsked())

    def guide(self, text: str) -> R:
        """Give advice for the next plan."""
        return self.tell(Guided(text=text))
