"""Who is told of everything that leaves a browser, or wanted to. Nobody, but for `midcourse effects learn`."""

from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

from midcourse.worlds.browser.egress.request import Request

if TYPE_CHECKING:
    from midcourse.worlds.browser.egress.outbox import SentRequest


class Observer(Protocol):
    def on_passed(self, request: Request) -> None:
        """It left without having to be allowed."""
        ...

    def on_sent(self, sent: "SentRequest") -> None:
        """It was allowed to leave; its answer is still to come."""
        ...

    def on_refused(self, what: str) -> None: ...


OBSERVER: ContextVar[Observer | None] = ContextVar("midcourse_observer", default=None)
