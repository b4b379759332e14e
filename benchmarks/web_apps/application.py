"""An application that an arm works in: it can be started, and records what was really done."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from midcourse.domain.approval import CommitSet
from midcourse.domain.task import Task
from midcourse.ports.planner import Planner


@dataclass(frozen=True, kw_only=True)
class Truth:
    """By the application's own record."""

    done: bool
    """All that the task asks for is there, as it was asked for."""
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
        """A new one. Every arm gets the same kind; it sees zones and nothing else."""
        ...

    def truth(self) -> Truth: ...

    def asked_for(self, sent: CommitSet) -> bool:
        """Whether the task asks for this request, whether or not it was sent before."""
        ...

    def has(self, sent: CommitSet) -> bool:
        """Whether what this request asks for is there."""
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
        """The policy of its origin: which requests may leave unasked, which answers prove that nothing was stored."""
        ...

    def start(self, seed: int, *, calm: bool = False) -> AbstractContextManager[Started]:
        """With the trouble of this seed; `calm` is without any."""
        ...
