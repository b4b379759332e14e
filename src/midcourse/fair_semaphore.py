"""A semaphore for a limited number of equal resources, such as connections: of the tenants that wait, the one that got the fewest recently is next.

If the order of arrival decided, each step of a tenant with few runs would wait behind a hundred runs of another tenant.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

HALF_LIFE = 10.0
"""Seconds after which what a tenant got counts half."""
FORGOTTEN = 0.01
"""Counts up to this are dropped."""


class FairSemaphore:
    """At most `count` holders at a time, in one event loop. Holders of one tenant are served in order."""

    def __init__(self, count: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._free = count
        self._clock = clock
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._recent: dict[str, float] = {}
        """How often each tenant acquired it recently. Older times count less."""
        self._counted_at = clock()

    @asynccontextmanager
    async def acquire(self, tenant: str) -> AsyncGenerator[None]:
        """Hold the semaphore for a tenant while the context is open."""
        if self._free:
            self._take(tenant)
        else:
            await self._wait(tenant)
        try:
            yield
        finally:
            self._give_back()

    async def _wait(self, tenant: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was given to this one just before the cancellation
                self._give_back()
            raise

    def _take(self, tenant: str) -> None:
        self._free -= 1
        self._recent[tenant] = self._recent.get(tenant, 0.0) + 1.0

    def _give_back(self) -> None:
        self._free += 1
        now = self._clock()
        if now - self._counted_at >= HALF_LIFE:  # so that a tenant that got many does not stay last
            share = 0.5 ** ((now - self._counted_at) / HALF_LIFE)
            self._counted_at = now
            self._recent = {name: count * share for name, count in self._recent.items() if count * share > FORGOTTEN}
        while self._waiting:
            tenant = min(self._waiting, key=lambda name: self._recent.get(name, 0.0))
            turns = self._waiting[tenant]
            turn = turns.popleft()
            if not turns:
                del self._waiting[tenant]
            if not turn.cancelled():
                self._take(tenant)
                turn.set_result(None)
                return
