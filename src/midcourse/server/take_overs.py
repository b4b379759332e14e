"""Worlds that callers have taken over: who acts in which world, what they see, and the record of what they did."""

import time
from contextlib import suppress
from dataclasses import dataclass, field
from secrets import token_hex

from midcourse.domain.events import TakenOver
from midcourse.ports.viewing import Gesture, Handled, NotAttended, PersonAction, View
from midcourse.server.access.identity import Caller
from midcourse.server.live import LiveView
from midcourse.tenants.runs import TenantRuns

PERIOD = 0.2
"""Seconds between two pictures for the person who acts."""
RECORDED_WITHIN = 2.0
"""Seconds within which the person's acts are written to the run's journal."""
MOST_LINES = 200
"""The maximum number of lines of one entry in the journal."""
WORDS = {
    "clicked": "clicked {what}",
    "typed": "typed into {what}",
    "pressed": "pressed {what}",
    "scrolled": "scrolled {what}",
    "went_back": "went back {what}",
    "answered": "answered {what}",
    "sent": "sent {what}",
}


def describe(deed: PersonAction) -> str:
    words = WORDS[deed.kind].format(what=deed.what)
    if deed.kind == "typed":
        return f"{words} ({deed.times} {'character' if deed.times == 1 else 'characters'})"
    return f"{words} ({deed.times} times)" if deed.times > 1 else words


@dataclass
class TakeOver:
    """The take-over of one run's world by one caller, until the run is resumed or another caller takes over."""

    by: Caller
    run_id: str
    tenant_runs: TenantRuns
    id: str = field(default_factory=lambda: token_hex(8))
    dialog: str = ""
    deeds: list[PersonAction] = field(default_factory=list[PersonAction])
    """Acts that are not in the journal yet."""
    recorded_at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.view = LiveView(self._look, PERIOD)

    async def handle(self, gestures: tuple[Gesture, ...]) -> None:
        """Repeat the caller's gestures in the world. Raises `NotAttended` and `ConnectionError`."""
        self._note(await self.tenant_runs.handle(self.run_id, gestures, None))
        await self._record_if_due()

    async def record(self) -> None:
        """Write everything that was done so far to the journal."""
        with suppress(ConnectionError, NotAttended):  # the world may be gone: then only the known acts are recorded
            self._note(await self.tenant_runs.handle(self.run_id, (), None))
        await self._post()

    async def _look(self, since: str) -> View:
        done = await self.tenant_runs.handle(self.run_id, (), since)
        self._note(done)
        await self._record_if_due()
        return done.view

    def _note(self, done: Handled) -> None:
        self.dialog = done.dialog
        for deed in done.deeds:
            last = self.deeds[-1] if self.deeds else None
            if last and (last.kind, last.what) == (deed.kind, deed.what) and deed.kind != "sent":
                self.deeds[-1] = PersonAction(kind=deed.kind, what=deed.what, times=last.times + deed.times)
            else:
                self.deeds.append(deed)

    async def _record_if_due(self) -> None:
        if self.deeds and time.monotonic() - self.recorded_at > RECORDED_WITHIN:
            await self._post()

    async def _post(self) -> None:
        self.recorded_at = time.monotonic()
        while self.deeds:
            some, self.deeds = self.deeds[:MOST_LINES], self.deeds[MOST_LINES:]
            did = tuple(map(describe, some))
            await self.tenant_runs.control(self.run_id).tell(TakenOver(by=self.by.name, by_id=self.by.id, did=did))


class TakeOvers:
    """The take-overs of all tenants. They are in memory only: after a restart a world must be taken over again."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], TakeOver] = {}

    def find(self, tenant: str, run_id: str) -> TakeOver | None:
        return self._held.get((tenant, run_id))

    async def begin(self, caller: Caller, tenant_runs: TenantRuns, run_id: str) -> None:
        """Record that this caller has taken over, in place of an earlier one."""
        await self.end(caller.tenant, run_id)
        with suppress(NotAttended):  # the world is not operated from here but in its own window
            await tenant_runs.handle(run_id, (), None)
            self._held[caller.tenant, run_id] = TakeOver(by=caller, run_id=run_id, tenant_runs=tenant_runs)
        # Last, because viewers read the run again after this event.
        await tenant_runs.control(run_id).tell(TakenOver(by=caller.name, by_id=caller.id))

    async def end(self, tenant: str, run_id: str) -> None:
        """End the take-over and record what was done. From now on the caller can neither see the world nor act in it."""
        held = self._held.pop((tenant, run_id), None)
        if held is not None:
            await held.record()
            await held.view.close()

    async def close(self) -> None:
        for held in self._held.values():
            await held.record()
            await held.view.close()
        self._held.clear()
