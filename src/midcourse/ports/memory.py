"""Port of the memory: lessons of one agent, and the counts that all agents of a tenant share.

Only numbers travel from agent to agent by themselves. Words do once a person has shared them, as they were then: what the agent
learns later is not what that person has read.
"""

from typing import Protocol

from midcourse.domain.failure import Track
from midcourse.domain.records.lesson import NOTHING_SAID, Embedding, Lesson, Recalled, Untrusted

LATEST_RUNS = 100
"""How many runs a track goes back: fixes from long ago say little about now."""


class Memory(Protocol):
    """Lessons of one agent of one tenant. What is written twice on behalf of the same run counts once."""

    async def save(self, lesson: Lesson, point: Embedding | None = None) -> None:
        """Of a known lesson, values that are not empty replace the earlier ones."""
        ...

    async def credit(self, key: str, run: str, fix: Untrusted = NOTHING_SAID) -> None:
        """In this run a new plan fixed it, by these steps. Only the last verdict of a run counts."""
        ...

    async def debit(self, key: str, run: str) -> None:
        """In this run planning again did not help."""
        ...

    async def track(self, key: str, *, besides: str = "") -> Track:
        """Over the latest runs of all agents, but for the one that asks."""
        ...

    async def recall(self, signature: str, limit: int = 3) -> tuple[Recalled, ...]:
        """Lessons with exactly this signature that this agent may read: its own first, then shared ones."""
        ...

    async def alike(self, point: Embedding, *, above: float, limit: int = 3) -> tuple[Recalled, ...]:
        """Lessons that this agent may read and that are at least this near, the nearest first."""
        ...

    # --- for people

    async def lessons(self) -> tuple[Lesson, ...]:
        """All of the tenant's agents, the latest first."""
        ...

    async def share(self, key: str, agent: str, by: str) -> bool:
        """Let the other agents read it as it is now. False: the lesson does not exist."""
        ...

    async def forget(self, key: str) -> int:
        """The lesson under every agent, and all numbers. How many lessons that were."""
        ...
