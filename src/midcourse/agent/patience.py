"""Waiting for what another process, thread or task has in use: never longer than the caller said, and never in silence."""

import asyncio
import logging
import time

from midcourse.agent.control import LocalStore
from midcourse.errors import Pending, RunBusy
from midcourse.ports.abilities import offers
from midcourse.ports.controls import Inbox
from midcourse.ports.store import Store

log = logging.getLogger(__name__)

BUSY_SECONDS = 0.05
"""Seconds between two checks."""
SAYS_AFTER = 10.0
"""Seconds after which a wait is logged, and again whenever it has lasted twice as long."""


class Patience:
    """How long one caller waits, counted from its first pause. `seconds` is the longest time, None if there is none."""

    def __init__(self, caller: str, seconds: float | None) -> None:
        self._caller = caller
        self._seconds = seconds
        self._began: float | None = None
        self._says_at = SAYS_AFTER

    async def pause(self, waits_for: str) -> bool:
        """Wait for a moment. False: the time is over."""
        self._began = time.monotonic() if self._began is None else self._began
        waited = time.monotonic() - self._began
        left = float("inf") if self._seconds is None else self._seconds - waited
        if left <= 0:
            return False
        if waited >= self._says_at:
            log.warning("%s has been waiting for %.0f s: %s", self._caller, waited, waits_for)
            self._says_at *= 2
        await asyncio.sleep(min(BUSY_SECONDS, left))
        return True

    async def wait_for_run(self, store: Store, run_id: str, busy: RunBusy) -> None:
        """Wait until nothing else seems to drive this run. Raises `Pending` if that takes longer than the caller waits.

        Only the lock is checked, which is quick: callers that tried to drive the run would take its processor time.
        """
        while await self.pause(str(busy)):
            if not (offers(store, LocalStore) and store.is_claimed(run_id)):
                return
        if offers(store, Inbox) and await store.open_question(run_id):
            raise Pending(f"run {run_id} waits for a decision: midcourse approve {run_id}", run_id) from None
        raise Pending(f"{busy}, and the call is not over; call again to get what it returned", run_id) from None
