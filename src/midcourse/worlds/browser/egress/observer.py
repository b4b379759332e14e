"""Who is told of everything that leaves a browser, or wanted to. Nobody, but for `midcourse effects learn`."""

from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

from midcourse.worlds.browser.egress.request import Request

if TYPE_CHECKING:
    from midcourse.worlds.browser.egress.outbox import Sent


class Witness(Protocol):
    def passed(self, request: Request) -> None:
        """It left without having to be allowed."""
        ...

    def sent(self, sent: "Sent") -> None:
        """It was allowed to leave; its answer is still to come."""
        ...

    def refused(self, what: str) -> None: ...


WITNESS: ContextVar[Witness | None] = ContextVar("midcourse_witness", default=None)
