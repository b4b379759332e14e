"""A worker: takes part in driving a tenant's runs and performs their commands."""

import secrets
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType

from temporalio.client import Client
from temporalio.worker import Worker
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from midcourse.ports.store import FleetStore
from midcourse.runtimes.temporal.activities import Activities
from midcourse.runtimes.temporal.sessions import PortsFor
from midcourse.runtimes.temporal.wire import queue_of
from midcourse.runtimes.temporal.workflow import RunWorkflow

RUNNER = SandboxedWorkflowRunner(restrictions=SandboxRestrictions.default.with_passthrough_modules("midcourse"))
"""The core is pure, so every run may share its modules; a replay without this shows that it is."""


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """How much one worker takes on, and how soon others count on it no more."""

    cached_runs: int = 1000
    sessions: int = 1000
    commands: int = 100
    sticky_seconds: float = 10.0
    heartbeat_seconds: float = 10.0
    shutdown_seconds: float = 30.0


class FleetWorker:
    """Use as `async with`: on leaving it takes nothing new and lets what is under way come to its end."""

    def __init__(
        self,
        client: Client,
        *,
        store: FleetStore,
        ports_for: PortsFor,
        tenant: str,
        capacity: Capacity | None = None,
    ) -> None:
        capacity = capacity or Capacity()
        session = f"session-{secrets.token_hex(4)}"
        activities = Activities(store=store, ports_for=ports_for, queue=session, most_sessions=capacity.sessions)
        self._stack = AsyncExitStack()
        self._workers = (
            Worker(
                client,
                task_queue=queue_of(tenant),
                workflows=[RunWorkflow],
                activities=[activities.perform],
                workflow_runner=RUNNER,
                max_cached_workflows=capacity.cached_runs,
                max_concurrent_activities=capacity.commands,
                sticky_queue_schedule_to_start_timeout=timedelta(seconds=capacity.sticky_seconds),
                max_heartbeat_throttle_interval=timedelta(seconds=capacity.heartbeat_seconds / 3),
                graceful_shutdown_timeout=timedelta(seconds=capacity.shutdown_seconds),
            ),
            Worker(
                client,
                task_queue=session,
                activities=[activities.perform],
                max_concurrent_activities=capacity.commands,
                max_heartbeat_throttle_interval=timedelta(seconds=capacity.heartbeat_seconds / 3),
                graceful_shutdown_timeout=timedelta(seconds=capacity.shutdown_seconds),
            ),
        )

    async def __aenter__(self) -> "FleetWorker":
        for worker in self._workers:
            await self._stack.enter_async_context(worker)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)
