"""Points in a worker's code at which its process is killed or frozen, once for each run that asks for it.

row        before an act is written down as dispatched: reversible and irreversible ones only
act        all is checked and written down; the act is sent next
acting     the world is at it
acted      the world has answered; nothing of it is written down
outcome    the outcome is written down; nothing follows from it yet
"""

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from midcourse.domain.outcome import Outcome
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.ports.driving import Claim
from midcourse.ports.world import Call, World
from midcourse.store.postgres import PostgresStore

Point: TypeAlias = Literal["row", "act", "acting", "acted", "outcome"]
POINTS: tuple[Point, ...] = ("row", "act", "acting", "acted", "outcome")


@dataclass(frozen=True, kw_only=True)
class PlannedKill:
    point: Point
    zone: str
    """At the first act on this zone."""
    freeze: bool = False


class Interrupter:
    """The kill is recorded first, so that the next worker of the run is spared."""

    def __init__(self, deaths: Path, doom_of: Callable[[str], PlannedKill | None]) -> None:
        self._deaths = deaths
        self._doom_of = doom_of

    def concerns(self, run_id: str) -> bool:
        return self._doom_of(run_id) is not None

    def awaits(self, run_id: str, zone: str, point: Point) -> bool:
        planned_kill = self._doom_of(run_id)
        return (
            planned_kill is not None
            and (planned_kill.zone, planned_kill.point) == (zone, point)
            and not self._mark(run_id).exists()
        )

    def strike(self, run_id: str, zone: str, point: Point, command: int) -> bool:
        """Whether it did. Only who was frozen comes back from it."""
        planned_kill = self._doom_of(run_id)
        if planned_kill is None or not self.awaits(run_id, zone, point):
            return False
        met = {"run": run_id, "point": point, "command": command, "pid": os.getpid(), "at": time.time()}
        draft = self._mark(run_id).with_suffix(".part")
        draft.write_text(json.dumps(met), encoding="utf-8")
        draft.replace(self._mark(run_id))
        os.kill(os.getpid(), signal.SIGSTOP if planned_kill.freeze else signal.SIGKILL)
        return True

    def note_answer(self, run_id: str, outcome: Outcome) -> None:
        """The world's answer to a worker that acts after having been frozen."""
        self._mark(run_id).with_suffix(".answer").write_text(outcome.reason or outcome.status, encoding="utf-8")

    def _mark(self, run_id: str) -> Path:
        return self._deaths / f"{run_id}.json"


class InterruptedWorld:
    def __init__(self, world: World, interrupter: Interrupter, run_id: str) -> None:
        self._world = world
        self._fate = interrupter
        self._run_id = run_id

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    async def act(self, call: Call) -> Outcome:
        thawed = self._fate.strike(self._run_id, call.zone, "act", call.command)
        acting = asyncio.create_task(self._world.act(call))
        if thawed:
            acting.add_done_callback(lambda done: self._fate.note_answer(self._run_id, done.result()))
        if self._fate.awaits(self._run_id, call.zone, "acting"):
            await asyncio.wait([acting], timeout=0.03)
            self._fate.strike(self._run_id, call.zone, "acting", call.command)
        outcome = await asyncio.shield(acting)  # a frozen worker has been asked to stop by now, and ignores it
        self._fate.strike(self._run_id, call.zone, "acted", call.command)
        return outcome


class InterruptedStore:
    def __init__(self, store: PostgresStore, interrupter: Interrupter) -> None:
        self._store = store
        self._fate = interrupter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def records(self, claim: Claim) -> "InterruptedBatch":
        return InterruptedBatch(self._store.records(claim), self._fate)


class InterruptedBatch:
    def __init__(self, batch: Any, interrupter: Interrupter) -> None:
        self._batch = batch
        self._fate = interrupter
        self._ended: tuple[str, str, int] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)

    async def write_ledger(self, run_id: str, entry: LedgerEntry) -> None:
        zone = await self._zone(run_id, entry) if self._fate.concerns(run_id) else ""
        if entry.outcome is None and entry.barred_at is None:
            self._fate.strike(run_id, zone, "row", entry.command)
        await self._batch.write_ledger(run_id, entry)
        if entry.outcome is not None:
            self._ended = run_id, zone, entry.command

    async def keep(self, *turn: Any, **fence: Any) -> None:
        await self._batch.keep(*turn, **fence)
        self._strike_outcome()

    async def flush(self) -> None:
        await self._batch.flush()
        self._strike_outcome()

    def _strike_outcome(self) -> None:
        if self._ended is not None:
            run_id, zone, command = self._ended
            self._fate.strike(run_id, zone, "outcome", command)

    async def _zone(self, run_id: str, entry: LedgerEntry) -> str:
        plan = await self._batch.plan(run_id, entry.version)
        return plan.steps[entry.index].zone if plan else ""
