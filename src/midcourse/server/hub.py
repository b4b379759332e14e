"""The hub: follows each watched run once for all its viewers.

A watched run has one log of messages in memory. A viewer is a position in that log, so a slow viewer delays no other and needs no queue.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from midcourse.agent.control import NotDriven
from midcourse.domain.events import Planned, RevertPlanned, TryPlanned
from midcourse.domain.phases import Asking, Ended
from midcourse.domain.plan import PlanVersion
from midcourse.domain.run import Run
from midcourse.drive import Progress, is_over
from midcourse.history.replay import Trail
from midcourse.presentation.narration import Narrator
from midcourse.presentation.status import run_status
from midcourse.server.models.stream import (
    EndMessage,
    LineView,
    NoticeMessage,
    RewindMessage,
    StandingView,
    TurnMessage,
)
from midcourse.server.views import current_step
from midcourse.tenants.runs import TenantRuns

log = logging.getLogger(__name__)

PLANNED = (Planned, TryPlanned, RevertPlanned)
"""The events with which plans are stored."""
GLANCE = 0.2
"""Seconds between two reads of the journal."""
LINGER = 30.0
"""Seconds that a log is kept after the last viewer has left."""
CHUNK = 100
"""Turns that are described in one go. A long journal takes seconds, so other requests are answered in between."""
PATIENCE = 60.0
"""Seconds for which the database may be unreachable before the stream ends; viewers then connect again."""


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A message as it is sent."""

    type: str
    data: str
    seq: int = 0
    id: str | None = None


class WatchedRun:
    """The log of one run, and the task that extends it."""

    def __init__(self, tenant_runs: TenantRuns, run_id: str, opening: Run) -> None:
        self.log: list[Sent] = []
        self.viewers = 0
        self.left_at = 0.0
        self.over = False
        self._runs = tenant_runs
        self._run_id = run_id
        self._opening = opening
        self._control = tenant_runs.control(run_id)
        self._trail = Trail(opening)
        self._narrator = Narrator()
        self._narrator.add_commands(issued.command for issued in opening.pending)
        self._plans: dict[int, PlanVersion] = {}
        self._notice = ""
        self._looked = False
        self._news = asyncio.Condition()
        self._task = asyncio.create_task(self._follow(), name=f"watch {run_id}")

    @property
    def broken(self) -> bool:
        """Whether the log ended before the run did."""
        return self.over and not (self.log and self.log[-1].type == "end")

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def read(self, last_id: str) -> AsyncGenerator[Sent]:
        """All messages after this id, then new ones as they come; ends after the last message of the run."""
        self.viewers += 1
        try:
            if last_id:
                await self._wait_until_caught_up()
            place, rewind = self._find_place_after(last_id)
            if rewind is not None:
                yield rewind
            if self._notice and not any(sent.type == "notice" for sent in self.log[place:]):
                yield _encode(NoticeMessage(why_not_driven=self._notice))
            while True:
                while place < len(self.log):
                    yield self.log[place]
                    place += 1
                if self.over:
                    return
                async with self._news:
                    while place == len(self.log) and not self.over:
                        await self._news.wait()
        finally:
            self.viewers -= 1
            self.left_at = time.monotonic()

    async def _wait_until_caught_up(self) -> None:
        async with self._news:
            await self._news.wait_for(lambda: self._looked or self.over)

    def _find_place_after(self, last_id: str) -> tuple[int, Sent | None]:
        """The place in the log after this id. If the log is shorter, the database was restored: then also a message to send first."""
        if not last_id.isascii() or not last_id.isdigit():
            return 0, None
        last = int(last_id)
        if last > self._trail.run.seq:
            return 0, _encode(RewindMessage(to=self._opening.seq))
        return next((place for place, sent in enumerate(self.log) if sent.seq > last), self._find_place_of_end()), None

    def _find_place_of_end(self) -> int:
        """The place where a viewer who has every turn continues: at the end message, or after the log if the run has not ended."""
        return len(self.log) - 1 if self.log and self.log[-1].type == "end" else len(self.log)

    async def _follow(self) -> None:
        quiet = 0
        away_since = 0.0
        try:
            while True:
                try:
                    turned = await self._read_journal()
                    away_since = 0.0
                except OSError:
                    away_since = away_since or time.monotonic()
                    if time.monotonic() - away_since > PATIENCE:
                        raise
                    await asyncio.sleep(1.0)
                    continue
                quiet = 0 if turned else quiet + 1
                await self._check_driver(quiet)
                if is_over(self._trail.run) and await self._add_end():
                    return
                if not turned:
                    await asyncio.sleep(GLANCE)
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("run %s can no longer be watched", self._run_id)
        finally:
            self.over = True
            await self._notify_viewers()

    async def _read_journal(self) -> bool:
        """Add new turns of the journal to the log. Returns whether there were any."""
        rows = await self._runs.store.events(self._run_id, self._trail.run.seq)
        if rows and (not self._plans or any(isinstance(row.event, PLANNED) for row in rows)):
            for plan in await self._runs.store.plans(self._run_id, max(self._plans, default=0)):
                self._plans[plan.version] = plan
                self._narrator.add_plan(plan)
        for begin in range(0, len(rows), CHUNK):
            self.log += map(self._build_turn, self._trail.take(rows[begin : begin + CHUNK]))
            await self._notify_viewers()
            await asyncio.sleep(0.01 if begin + CHUNK < len(rows) else 0)
        if not self._looked:
            self._looked = True
            await self._notify_viewers()
        return bool(rows)

    def _build_turn(self, turn: Progress) -> Sent:
        run, event = turn.run, turn.event
        made = self._narrator.new_plan_version(event)
        line = self._narrator.describe(event, turn.commands)
        plan = self._plans.get(run.segment.version) if run.segment else None
        message = TurnMessage(
            seq=run.seq,
            at=event.at,
            event=event,
            line=LineView(text=line.text, tone=line.tone) if line else None,
            standing=StandingView(
                phase=run.phase.kind,
                status=run_status(run, run.now, current_step(run, plan)),
                wish=run.requested,
                plan=run.segment.version if run.segment else None,
                cursor=run.segment.cursor if run.segment else 0,
                question=run.phase.question if isinstance(run.phase, Asking) else None,
                spent=run.budget.spent,
                active_seconds=run.budget.active_seconds,
                final_reason=run.phase.reason if isinstance(run.phase, Ended) else "",
            ),
            made_plan=made or None,
            seen=getattr(event, "seen", None),
        )
        return _encode(message, seq=run.seq, id=str(run.seq))

    async def _check_driver(self, quiet: int) -> None:
        """Add a notice when no process drives the run any more, and another when one does again."""
        if quiet % max(1, self._control.quiet_looks) or is_over(self._trail.run):
            return
        try:
            why = await self._control.why_not_driven() if quiet else ""
        except NotDriven as broken:
            why = str(broken)
        if why != self._notice:
            self._notice = why
            self.log.append(_encode(NoticeMessage(why_not_driven=why), seq=self._trail.run.seq))
            await self._notify_viewers()

    async def _add_end(self) -> bool:
        result = await self._runs.store.result(self._run_id)
        if result is None:
            await asyncio.sleep(GLANCE)
            return False
        message = EndMessage(final_reason=result.final_reason, success=result.success, verified=result.verified)
        self.log.append(_encode(message, seq=self._trail.run.seq))
        return True

    async def _notify_viewers(self) -> None:
        async with self._news:
            self._news.notify_all()


def _encode(
    message: TurnMessage | RewindMessage | NoticeMessage | EndMessage,
    seq: int = 0,
    id: str | None = None,  # noqa: A002
) -> Sent:
    return Sent(type=message.type, data=message.model_dump_json(), seq=seq, id=id)


class Hub:
    """The watched runs of all tenants."""

    def __init__(self) -> None:
        self._watched: dict[tuple[str, str], WatchedRun] = {}

    async def watch(self, tenant: str, tenant_runs: TenantRuns, run_id: str) -> WatchedRun:
        """The log of this run, which is followed from now on. Raises `RunUnknown`."""
        await self._sweep()
        key = (tenant, run_id)
        found = self._watched.get(key)
        if found is None or found.broken:
            opening = await tenant_runs.store.initial_state(run_id)
            found = self._watched.get(key)  # another viewer may have created it during the await
            if found is None or found.broken:
                found = self._watched[key] = WatchedRun(tenant_runs, run_id, opening)
        found.left_at = time.monotonic()
        return found

    @property
    def watched(self) -> int:
        return len(self._watched)

    async def close(self) -> None:
        for run in self._watched.values():
            await run.close()

    async def _sweep(self) -> None:
        """Forget runs that are no longer watched."""
        now = time.monotonic()
        left = [
            key
            for key, run in self._watched.items()
            if not run.viewers and now - run.left_at > (0.0 if run.over else LINGER)
        ]
        for run in [self._watched.pop(key) for key in left]:
            await run.close()
