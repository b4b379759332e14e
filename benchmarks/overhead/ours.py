"""Midcourse: a fleet of one worker on the same engine and the same PostgreSQL."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from temporalio.client import Client

from benchmarks.overhead.counts import Counts, count
from benchmarks.overhead.workload import SEGMENTS, Panel, Todo, segment_after
from midcourse.agent.start import new_run
from midcourse.domain.budget import Limits
from midcourse.domain.expectation import Expectation, ZoneHasState
from midcourse.domain.plan import REPLAN, Draft
from midcourse.domain.task import Task
from midcourse.perform import Ports
from midcourse.ports.clock import SystemClock
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.runtimes.temporal.client import FleetClient
from midcourse.runtimes.temporal.wire import name_workflow
from midcourse.runtimes.temporal.worker import FleetWorker
from midcourse.store.postgres import PostgresStore
from midcourse.testing import Approves

TENANT = "bench"
TASK = Task(goal="work the panel", world="panel", limits=Limits(approvals="never"))


@dataclass(frozen=True, kw_only=True)
class ByHeart:
    """Knows every segment beforehand, as the planners of the other arms do."""

    steps: int

    async def plan(self, context: PlanningContext) -> PlanDraft:
        done = len(context.completed)
        drafts = tuple(_draft(todo) for todo in segment_after(done, self.steps))
        last = done + self.steps == SEGMENTS * self.steps
        return PlanDraft(steps=drafts if last else (*drafts, Draft(zone=REPLAN)), final=last)


def _draft(todo: Todo) -> Draft:
    sent = Expectation(checks=(ZoneHasState(label="Log", state="last", value=todo.number),))
    return Draft(
        zone=todo.zone,
        skill=todo.skill,
        arguments=(("number", todo.number),),
        expect=sent if todo.skill == "send" else None,
    )


class NoSecrets:
    def reveal(self, name: str) -> str | None:
        return None


class Ours:
    def __init__(self, client: Client, url: str) -> None:
        self._client = client
        self._store = PostgresStore(url, tenant=TENANT)
        self._fleet = FleetClient(client, store=self._store, tenant=TENANT)
        self._steps: dict[str, int] = {}

    @asynccontextmanager
    async def at_work(self) -> AsyncGenerator[None]:
        worker = FleetWorker(self._client, store=self._store, build_ports=self._build_ports, tenant=TENANT)
        async with self._store, worker:
            yield

    async def run(self, run_id: str, steps: int) -> None:
        self._steps[run_id] = steps
        run = new_run(TASK, run_id)
        await self._store.begin(run, TASK)
        handle = await self._fleet.start(run, world="panel")
        result = await handle.result()
        assert (result.final_reason, result.executions) == ("plan_complete", SEGMENTS * steps), result

    async def counts(self, run_id: str) -> Counts:
        return await count(self._client, name_workflow(TENANT, run_id))

    async def _build_ports(self, run_id: str) -> Ports:
        return Ports(
            run_id=run_id,
            task=TASK,
            world=Panel(),
            planner=ByHeart(steps=self._steps[run_id]),
            approver=Approves(),
            store=self._store,
            clock=SystemClock(),
            vault=NoSecrets(),
        )
