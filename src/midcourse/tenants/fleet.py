"""The runs of a tenant of a fleet: in PostgreSQL, driven by workers."""

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from midcourse.agent.fork import Forked
from midcourse.agent.start import StartedRun
from midcourse.agent.wiring import Job, decode_job
from midcourse.config.settings import Settings
from midcourse.domain.approval import Question
from midcourse.errors import FleetUnavailable, NotForkable, RunUnknown
from midcourse.fleet.blobs import open_tenant_blobs
from midcourse.fleet.connection import Fleet, RequestFailed, broken_runs, start_durable_run
from midcourse.fleet.control import FleetControl
from midcourse.history.journal import Journal
from midcourse.home.fleet_store import FleetStore
from midcourse.ports.blobs import Blobs
from midcourse.ports.memory import Memory
from midcourse.ports.store import RunSummary
from midcourse.ports.viewing import Gesture, Handled, View
from midcourse.tenants.runs import RunState, driven_state

REFRESHED = 5.0
"""Seconds for which the list of broken runs is cached: to make it, Temporal has to describe each of them."""


class FleetRuns:
    """Durable runs of one tenant. Use it in one event loop."""

    kind: Literal["fleet"] = "fleet"

    def __init__(self, fleet: Fleet, settings: Settings) -> None:
        self.settings = settings
        self.store: FleetStore = fleet.store
        self.blobs: Blobs = open_tenant_blobs(fleet.settings, fleet.store, settings.home)
        self._fleet = fleet
        self._broken: set[str] = set()
        self._refreshed_at = -REFRESHED

    def state_of(self, run: RunSummary) -> RunState:
        found = driven_state(run)
        return "interrupted" if run.id in self._broken and found not in ("done", "failed") else found

    def control(self, run_id: str) -> FleetControl:
        return FleetControl(self._fleet, run_id)

    async def refresh(self) -> None:
        """Ask Temporal which runs broke. If it cannot be reached, the last known list stays."""
        if time.monotonic() - self._refreshed_at < REFRESHED:
            return
        self._refreshed_at = time.monotonic()
        try:
            self._broken = await broken_runs(self._fleet)
        except RequestFailed:
            return

    async def task_of(self, run: RunSummary) -> str:
        return run.task or await self._task_name(run.id)

    async def _task_name(self, run_id: str) -> str:
        _, job = await self.store.job(run_id)
        return str(json.loads(job)["name"]) if job else ""

    async def job_of(self, run_id: str) -> Job | None:
        _, job = await self.store.job(run_id)
        return decode_job(job) if job else None

    async def start(self, job: Job, run_id: str, *, again: bool = False) -> StartedRun:
        try:
            return await start_durable_run(self._fleet, job, run_id, again=again)
        except RequestFailed as trouble:
            raise _unavailable(trouble) from trouble

    async def continue_start(self, run_id: str) -> None:
        try:
            await self._fleet.runs.handle(run_id).describe()
        except RunUnknown:
            run, task = await self.store.load(run_id)
            await self._fleet.runs.start(run, world=task.world)
        except RequestFailed as trouble:
            raise _unavailable(trouble) from trouble

    async def resume(self, run_id: str) -> str:
        task, _ = await self.store.job(run_id)
        try:
            why_not = await self._fleet.runs.resume(run_id, world=task.world)
        except RequestFailed as trouble:
            raise _unavailable(trouble) from trouble
        self._broken.discard(run_id)
        return why_not

    async def open_questions(self, limit: int) -> tuple[Question, ...]:
        return await self.store.open_questions(limit)

    def folder(self, run_id: str) -> Path | None:
        """None: what worlds wrote is on the machines of hosts and workers."""
        return None

    def driven_here(self) -> tuple[str, ...]:
        return ()

    async def has_workers(self) -> bool | None:
        try:
            return await self._fleet.runs.has_workers()
        except RequestFailed:
            return None

    def broken(self) -> tuple[str, ...]:
        return tuple(sorted(self._broken))

    async def fork(
        self, journal: Journal, at: int, run_id: str, changes: Mapping[str, str], *, by: str, by_id: str
    ) -> Forked:
        raise NotForkable(
            "a durable run is forked on your own machine: save its journal (GET /runs/{id}/journal), then midcourse fork FILE"
        )

    async def take_over(self, run_id: str) -> str:
        return await self.control(run_id).attend()

    async def view(self, run_id: str, since: str) -> View | None:
        return await self.control(run_id).view(since)

    async def handle(self, run_id: str, gestures: tuple[Gesture, ...], since: str | None) -> Handled:
        return await self.control(run_id).handle(gestures, since)

    def lessons(self, agent: str = "default") -> Memory:
        return self.store.memory(agent)

    async def ping(self) -> None:
        """Check the database only: watching and deciding do not need Temporal."""
        await self.store.audit_head()

    async def close(self) -> None:
        """Close the store. The runs continue, because workers drive them."""
        await self.store.close()


def _unavailable(trouble: RequestFailed) -> FleetUnavailable:
    return FleetUnavailable(
        f"Temporal did not answer: {trouble.message}; what is stored can be seen and decided meanwhile"
    )
