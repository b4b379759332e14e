"""The protocol of an application that an arm uses: it can be started, and it records its effects."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from midcourse.domain.approval import CommitSet
from midcourse.domain.task import Task
from midcourse.ports.planner import Planner


@dataclass(frozen=True, kw_only=True)
class Truth:
    """The outcome of a run by the application's own record."""

    done: bool
    """Everything that the task asks for is stored, with the right values."""
    twice: int
    """Effects that must happen once and happened again."""
    unasked: int
    """Effects that the task did not ask for."""


class Started(Protocol):
    """The application of one trial."""

    @property
    def url(self) -> str: ...

    @property
    def planner(self) -> Planner:
        """A new planner. All arms get the same kind; it sees only zones."""
        ...

    def truth(self) -> Truth: ...

    def asked_for(self, sent: CommitSet) -> bool:
        """Whether the task asks for this request, whether or not it was sent before."""
        ...

    def has(self, sent: CommitSet) -> bool:
        """Whether the effect of this request is stored."""
        ...


class Application(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def task(self) -> Task: ...

    @property
    def secrets(self) -> Mapping[str, str]: ...

    @property
    def origin(self) -> Mapping[str, object]:
        """The policy of its origin: requests that need no approval, and answers that prove that nothing was stored."""
        ...

    def start(self, seed: int, *, calm: bool = False) -> AbstractContextManager[Started]:
        """Start the application with the drift of this seed, or without drift if `calm`."""
        ...
