"""Points in a worker's code at which its process kills or freezes itself, once for each run with a planned kill.

row        before a reversible or irreversible act is recorded as dispatched
act        everything is checked and recorded; the act is sent next
acting     the world performs the act
acted      the world has answered; the answer is not recorded
outcome    the outcome is recorded; the run has not continued yet
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
    """The zone: the kill is at the first act on it."""
    freeze: bool = False


class Interrupter:
    """Kills or freezes its own process at a planned point. It records the kill first, so that it happens once per run."""

    def __init__(self, deaths: Path, find_planned_kill: Callable[[str], PlannedKill | None]) -> None:
        self._records = deaths
        self._find_planned_kill = find_planned_kill

    def has_planned_kill(self, run_id: str) -> bool:
        return self._find_planned_kill(run_id) is not None

    def is_due(self, run_id: str, zone: str, point: Point) -> bool:
        planned_kill = self._find_planned_kill(run_id)
        return (
            planned_kill is not None
            and (planned_kill.zone, planned_kill.point) == (zone, point)
            and not self._record_file(run_id).exists()
        )

    def strike(self, run_id: str, zone: str, point: Point, command: int) -> bool:
        """Kill or freeze this process if it is due. Return whether it was; only a frozen process returns True."""
        planned_kill = self._find_planned_kill(run_id)
        if planned_kill is None or not self.is_due(run_id, zone, point):
            return False
        record = {"run": run_id, "point": point, "command": command, "pid": os.getpid(), "at": time.time()}
        draft = self._record_file(run_id).with_suffix(".part")
        draft.write_text(json.dumps(record), encoding="utf-8")
        draft.replace(self._record_file(run_id))
        os.kill(os.getpid(), signal.SIGSTOP if planned_kill.freeze else signal.SIGKILL)
        return True

    def note_answer(self, run_id: str, outcome: Outcome) -> None:
        """Record the world's answer to an act that was sent after a freeze."""
        self._record_file(run_id).with_suffix(".answer").write_text(outcome.reason or outcome.status, encoding="utf-8")

    def _record_file(self, run_id: str) -> Path:
        return self._records / f"{run_id}.json"


class InterruptedWorld:
    def __init__(self, world: World, interrupter: Interrupter, run_id: str) -> None:
        self._world = world
        self._interrupter = interrupter
        self._run_id = run_id

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    async def act(self, call: Call) -> Outcome:
        thawed = self._interrupter.strike(self._run_id, call.zone, "act", call.command)
        acting = asyncio.create_task(self._world.act(call))
        if thawed:
            acting.add_done_callback(lambda done: self._interrupter.note_answer(self._run_id, done.result()))
        if self._interrupter.is_due(self._run_id, call.zone, "acting"):
            await asyncio.wait([acting], timeout=0.03)
            self._interrupter.strike(self._run_id, call.zone, "acting", call.command)
        outcome = await asyncio.shield(
            acting
        )  # a frozen worker may have been cancelled meanwhile; the act must still be sent
        self._interrupter.strike(self._run_id, call.zone, "acted", call.command)
        return outcome


class InterruptedStore:
    def __init__(self, store: PostgresStore, interrupter: Interrupter) -> None:
        self._store = store
        self._interrupter = interrupter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def records(self, claim: Claim) -> "InterruptedBatch":
        return InterruptedBatch(self._store.records(claim), self._interrupter)


class InterruptedBatch:
    def __init__(self, batch: Any, interrupter: Interrupter) -> None:
        self._batch = batch
        self._interrupter = interrupter
        self._last_outcome: tuple[str, str, int] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch, name)

    async def write_ledger(self, run_id: str, entry: LedgerEntry) -> None:
        zone = await self._find_zone(run_id, entry) if self._interrupter.has_planned_kill(run_id) else ""
        if entry.outcome is None and entry.barred_at is None:
            self._interrupter.strike(run_id, zone, "row", entry.command)
        await self._batch.write_ledger(run_id, entry)
        if entry.outcome is not None:
            self._last_outcome = run_id, zone, entry.command

    async def save_turn(self, *turn: Any, **fence: Any) -> None:
        await self._batch.save_turn(*turn, **fence)
        self._strike_after_outcome()

    async def flush(self) -> None:
        await self._batch.flush()
        self._strike_after_outcome()

    def _strike_after_outcome(self) -> None:
        if self._last_outcome is not None:
            run_id, zone, command = self._last_outcome
            self._interrupter.strike(run_id, zone, "outcome", command)

    async def _find_zone(self, run_id: str, entry: LedgerEntry) -> str:
        plan = await self._batch.plan(run_id, entry.version)
        return plan.steps[entry.index].zone if plan else ""
