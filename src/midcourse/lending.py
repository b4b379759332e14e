"""Lends a number of equal things, such as connections or places for turns, to tenants. Of the tenants that wait, the one that had fewest lately is next.

If the order of arrival decided, each step of a tenant with few runs would wait behind a hundred runs of another tenant.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

HALF_LIFE = 10.0
"""Seconds after which half of what a tenant had is forgotten."""
FORGOTTEN = 0.01


class Lending:
    """Lends at most `count` things at a time, in one event loop."""

    def __init__(self, count: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._left = count
        self._clock = clock
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._had: dict[str, float] = {}
        """How many things each tenant had lately."""
        self._counted_at = clock()

    @asynccontextmanager
    async def lend(self, tenant: str) -> AsyncGenerator[None]:
        """Borrow one thing while the context is open, after earlier requests of the same tenant."""
        await self._borrow(tenant)
        try:
            yield
        finally:
            self._give_back()

    async def _borrow(self, tenant: str) -> None:
        if self._left:
            self._lend(tenant)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was lent in the moment of the cancellation
                self._give_back()
            raise

    def _lend(self, tenant: str) -> None:
        self._left -= 1
        self._had[tenant] = self._had.get(tenant, 0.0) + 1.0

    def _give_back(self) -> None:
        self._left += 1
        self._forget()
        while self._waiting:
            tenant = min(self._waiting, key=lambda name: self._had.get(name, 0.0))
            turns = self._waiting[tenant]
            turn = turns.popleft()
            if not turns:
                del self._waiting[tenant]
            if not turn.cancelled():
                self._lend(tenant)
                turn.set_result(None)
                return

    def _forget(self) -> None:
        """Reduce all counts from time to time, so that a tenant that had many is not last forever."""
        now = self._clock()
        if now - self._counted_at >= HALF_LIFE:
            share = 0.5 ** ((now - self._counted_at) / HALF_LIFE)
            self._counted_at = now
            self._had = {name: had * share for name, had in self._had.items() if had * share > FORGOTTEN}
