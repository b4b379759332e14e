"""A small fleet in this process: a worker and a client of a real Temporal server, and runs with worlds in memory."""

import asyncio
import secrets
from dataclasses import dataclass, field, replace
from typing import Any

from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle, WorkflowHistory

from midcourse.agent.roles import OptionalRoles
from midcourse.agent.start import new_run
from midcourse.agent.wiring import build_planner, load_job
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.perform import Lessons, Ports
from midcourse.ports.approver import Approver
from midcourse.ports.clock import SystemClock
from midcourse.ports.closeness import ClosenessJudge, WordOverlap
from midcourse.ports.detour import DetourPlanner
from midcourse.ports.driving import SharedStore
from midcourse.ports.judge import ProgressJudge, WordsSeen
from midcourse.ports.monitor import Monitor, Rules
from midcourse.ports.outliner import Outliner
from midcourse.ports.plan_cache import PlanCache
from midcourse.ports.planner import Planner
from midcourse.ports.reflector import Reflector, RuleReflector
from midcourse.ports.vault import Vault
from midcourse.ports.world import World
from midcourse.runtimes.temporal.attributes import TENANT
from midcourse.runtimes.temporal.client import FleetClient, RunHandle
from midcourse.runtimes.temporal.wire import Placement, name_workflow, read_run_id
from midcourse.runtimes.temporal.worker import Capacity, FleetWorker
from midcourse.testing import Approves
from midcourse.worlds.simulated import Fault, LoggedEffect, Shop
from midcourse.worlds.simulated.base import SimulatedWorld
from tests.harness import Safe
from tests.scenarios.stage import keep_session

QUICK = Placement(heartbeat_seconds=2.0)


@dataclass(frozen=True, kw_only=True)
class Cast:
    """The world, planner, approver and other ports of a run."""

    world: World
    planner: Planner
    task: Task
    approver: Approver = field(default_factory=Approves)
    vault: Vault = field(default_factory=Safe)
    segments: PlanCache | None = None
    detour_planner: DetourPlanner | None = None
    closeness_judge: ClosenessJudge | None = None
    lessons: Lessons | None = None
    outliner: Outliner | None = None
    progress_judge: ProgressJudge = field(default_factory=WordsSeen)
    monitor: Monitor = field(default_factory=Rules)
    reflector: Reflector | None = None


@dataclass(kw_only=True)
class Fleet:
    client: Client
    store: SharedStore
    tenant: str
    placement: Placement = QUICK
    casts: dict[str, Cast] = field(default_factory=dict[str, Cast])

    @property
    def runs(self) -> FleetClient:
        return FleetClient(self.client, store=self.store, tenant=self.tenant, placement=self.placement)

    async def build_ports(self, run_id: str) -> Ports:
        cast = self.casts[run_id]
        return Ports(
            run_id=run_id,
            task=cast.task,
            world=cast.world,
            planner=cast.planner,
            approver=cast.approver,
            store=self.store,
            clock=SystemClock(),
            vault=cast.vault,
            segments=cast.segments,
            detour_planner=cast.detour_planner,
            closeness_judge=cast.closeness_judge or WordOverlap(),
            lessons=cast.lessons,
            outliner=cast.outliner,
            progress_judge=cast.progress_judge,
            monitor=cast.monitor,
            reflector=cast.reflector or RuleReflector(),
        )

    def add_run(self, cast: Cast, run_id: str = "") -> Run:
        run = new_run(
            cast.task,
            run_id or f"r-{secrets.token_hex(4)}",
            OptionalRoles(detour_planner=cast.detour_planner, outliner=cast.outliner, reflector=cast.reflector),
        )
        self.casts[run.id] = cast
        return run

    async def begin(self, cast: Cast, run_id: str = "") -> RunHandle:
        run = self.add_run(cast, run_id)
        await self.store.begin(run, cast.task)
        return await self.runs.start(run, world=cast.world.name)

    async def list_runs(self, query: str = "") -> list[str]:
        """Return the ids of this tenant's runs in Temporal's own lists."""
        own = f"{TENANT.name} = '{self.tenant}'"
        found = self.client.list_workflows(f"{own} AND {query}" if query else own)
        return [read_run_id(execution.id) async for execution in found]

    async def wait_for_status(self, handle: RunHandle, status: str) -> None:
        async with asyncio.timeout(600):
            while (await handle.describe()).status != status:
                await asyncio.sleep(0.02)

    def worker(self, **capacity: Any) -> FleetWorker:
        usual = Capacity(heartbeat_seconds=self.placement.heartbeat_seconds, shutdown_seconds=5.0)
        return FleetWorker(
            self.client,
            store=self.store,
            build_ports=self.build_ports,
            tenant=self.tenant,
            capacity=replace(usual, **capacity),
        )

    def execution(self, run_id: str) -> WorkflowHandle[Any, Any]:
        """The Temporal workflow of a run."""
        return self.client.get_workflow_handle(name_workflow(self.tenant, run_id))

    async def history(self, run_id: str) -> WorkflowHistory:
        return await self.execution(run_id).fetch_history()


def order(*faults: Fault, **limits: Any) -> Cast:
    """The task `order` with its shop in this process, in a session that another worker can attach to."""
    job = load_job("order", {})
    task = replace(job.task, limits=replace(job.task.limits, **limits))
    world = keep_session(Shop, faults=faults, **job.file.world.options)
    return Cast(world=world, planner=build_planner(job.file.planner), task=task)


def effects(cast: Cast) -> tuple[LoggedEffect, ...]:
    """The effects in the world's own log."""
    assert isinstance(cast.world, SimulatedWorld)
    return cast.world.effects.present(float("inf"))


def event_names(history: WorkflowHistory) -> list[str]:
    """The names of a history's events, such as `ACTIVITY_TASK_SCHEDULED`."""
    return [EventType.Name(event.event_type).removeprefix("EVENT_TYPE_") for event in history.events]
