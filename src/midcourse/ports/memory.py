"""Port of the memory: lessons of one agent, and the counts that all agents of a tenant share.

Agents share only numbers by default. Texts are shared once a person has approved that, in the form that the person has read.
"""

from typing import Protocol

from midcourse.domain.failure import Track
from midcourse.domain.records.lesson import NO_TEXT, Embedding, Lesson, Recalled, Untrusted

LATEST_RUNS = 100
"""The number of recent runs that a track covers: older fixes say little about the current state."""

MOST_COMPARED = 500
"""The number of recent lessons that are compared by their tasks."""

ALIKE = 0.6
"""Default similarity threshold, for trigrams: 2 % false matches on messages of real programs (`benchmarks/memory.py`)."""


class Memory(Protocol):
    """Lessons of one agent of one tenant. Writing twice for the same run counts once."""

    async def save(self, lesson: Lesson, point: Embedding | None = None) -> None:
        """Save a lesson. Of a known one, values that are not empty replace the earlier ones."""
        ...

    async def credit(self, key: str, run: str, fix: Untrusted = NO_TEXT) -> None:
        """Record that a new plan fixed it in this run, by these steps. Only the last verdict of a run counts."""
        ...

    async def debit(self, key: str, run: str) -> None:
        """Record that planning again did not help in this run."""
        ...

    async def track(self, key: str, *, besides: str = "") -> Track:
        """The counts over the latest runs of all agents, except the run `besides`."""
        ...

    async def recall(self, signature: str, limit: int = 3) -> tuple[Recalled, ...]:
        """Lessons with exactly this signature that this agent may read: its own first, then shared ones."""
        ...

    async def alike(self, point: Embedding, *, above: float, limit: int = 3) -> tuple[Recalled, ...]:
        """Lessons that this agent may read with at least this similarity, the most similar first."""
        ...

    async def of_task(self, error_type: str, task: str, *, above: float, limit: int = 3) -> tuple[Recalled, ...]:
        """Lessons of this error type that this agent may read and that were met in similar tasks, the most similar first."""
        ...

    # --- for people

    async def lessons(self) -> tuple[Lesson, ...]:
        """All lessons of the tenant's agents, the latest first."""
        ...

    async def share(self, key: str, agent: str, by: str) -> bool:
        """Let the other agents read it in its current form. False: the lesson does not exist."""
        ...

    async def forget(self, key: str) -> int:
        """Delete the lesson of every agent, and all its counts. Returns the number of deleted lessons."""
        ...


class Embedder(Protocol):
    """Turns a text into a vector. Similar failures are found by comparing vectors."""

    async def embed(self, text: str) -> Embedding:
        """A vector of unit length. Raises `OSError` if the provider cannot be reached."""
        ...
