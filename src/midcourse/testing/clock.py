"""Clock for tests: an hour passes in milliseconds, as soon as all tasks wait for it."""

import asyncio
from itertools import count


class FakeClock:
    """Time stands still while any task works, and jumps to the next sleeper's due time when all are waiting.

    How it knows that all are waiting: `patience` turns of the event loop in a row have passed in which no task called
    `now` or `sleep`. So an approval that expires in an hour does not expire while another task takes its short steps,
    however many they are. Sleepers wake in the order of their due times, one after the other: each has had its turns
    before the clock advances.

    Its limits: it sees only tasks of one event loop. A task that waits for a thread, a process, a socket or a real timer
    (`asyncio.sleep`, `asyncio.timeout`) looks idle to it, and so does a task that takes more than `patience` turns
    without asking for the time. Such tests need a real clock, or `advance` alone with `patience=None`. A loop that polls
    `now` keeps time from passing for ever: sleep instead. One clock belongs to one event loop.
    """

    def __init__(self, start: float = 1_800_000_000.0, *, patience: int | None = 50) -> None:
        self._now = start
        self._patience = patience
        self._calls = 0
        self._order = count()
        self._sleepers: set[tuple[float, int]] = set()

    def now(self) -> float:
        self._calls += 1
        return self._now

    def advance(self, seconds: float) -> None:
        """Advance by hand. Sleepers that are due by then wake in order, as soon as the event loop runs them."""
        if seconds < 0:
            raise ValueError("time does not go back")
        self._calls += 1
        self._now += seconds

    async def sleep(self, seconds: float) -> None:
        self._calls += 1
        me = (self._now + max(0.0, seconds), next(self._order))
        self._sleepers.add(me)
        try:
            await self._wait_for_turn(me)
        finally:
            self._sleepers.discard(me)
            self._calls += 1

    async def _wait_for_turn(self, me: tuple[float, int]) -> None:
        due, quiet, calls = me[0], 0, self._calls
        while True:
            await asyncio.sleep(0)
            quiet = quiet + 1 if calls == self._calls else 0
            calls = self._calls
            if min(self._sleepers) != me:
                continue
            if self._now >= due:
                return
            if self._patience is not None and quiet >= self._patience:
                self._now = due
                return
