"""A worker: takes part in driving a tenant's runs and performs their commands.

    async with FleetWorker(client, store=store, ports_for=ports_for, tenant="acme"):
        await stopped.wait()

With a `build`, a run stays on the build that it began on until it continues in a new execution, and new ones begin on
the build that `make_current` named last.
"""

import secrets
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from types import TracebackType

from temporalio.api.workflowservice.v1 import SetWorkerDeploymentCurrentVersionRequest
from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import UnsandboxedWorkflowRunner, Worker, WorkerDeploymentConfig

from midcourse.ports.store import FleetStore
from midcourse.runtimes.temporal.activities import Activities
from midcourse.runtimes.temporal.sessions import PortsFor
from midcourse.runtimes.temporal.wire import queue_of, session_queue
from midcourse.runtimes.temporal.workflow import RunWorkflow

RUNNER = UnsandboxedWorkflowRunner()
"""The core is pure, so all runs share its modules, and a sandbox would watch over nothing. It would be entered for every
payload, though, which is a tenth of what a worker does. A test replays histories in a sandbox, to show that it is pure."""

NO_BUILD = "none"
"""Said outright: else the library makes one up from the code of every loaded module, which takes it seconds."""


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """How much one worker takes on, and how soon others count on it no more."""

    runs: int = 1000
    """Runs kept in memory; any other is replayed when something happens to it."""
    sessions: int = 1000
    """Worlds held at a time. The session of one that is let go stays open at its host."""
    commands: int = 100
    """Commands performed at a time."""
    heartbeat_seconds: float = 10.0
    """As in `Pace`: a sign of life is sent three times as often."""
    sticky_seconds: float = 10.0
    """How long a run waits for the worker that has it in memory before another replays it."""
    shutdown_seconds: float = 60.0
    """How long a command under way may continue after the worker was asked to stop."""


class FleetWorker:
    """Use as `async with`: on leaving it takes nothing new and lets what is under way come to its end."""

    def __init__(
        self,
        client: Client,
        *,
        store: FleetStore,
        ports_for: PortsFor,
        tenant: str,
        build: str = "",
        capacity: Capacity | None = None,
    ) -> None:
        capacity = capacity or Capacity()
        name = secrets.token_hex(4)
        activities = Activities(store=store, ports_for=ports_for, name=name, most_sessions=capacity.sessions)
        beat = timedelta(seconds=capacity.heartbeat_seconds / 3)
        shutdown = timedelta(seconds=capacity.shutdown_seconds)
        self._stack = AsyncExitStack()
        self._shared = Worker(
            client,
            task_queue=queue_of(tenant),
            workflows=[RunWorkflow],
            activities=[activities.perform],
            workflow_runner=RUNNER,
            deployment_config=_deployment(tenant, build) if build else None,
            build_id=None if build else NO_BUILD,
            max_cached_workflows=capacity.runs,
            max_concurrent_activities=capacity.commands,
            sticky_queue_schedule_to_start_timeout=timedelta(seconds=capacity.sticky_seconds),
            max_heartbeat_throttle_interval=beat,
            graceful_shutdown_timeout=shutdown,
        )
        self._own = Worker(
            client,
            task_queue=session_queue(name),
            activities=[activities.perform],
            build_id=NO_BUILD,
            max_concurrent_activities=capacity.commands,
            max_heartbeat_throttle_interval=beat,
            graceful_shutdown_timeout=shutdown,
        )

    async def __aenter__(self) -> "FleetWorker":
        await self._stack.enter_async_context(self._own)
        await self._stack.enter_async_context(self._shared)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)


async def make_current(client: Client, *, tenant: str, build: str) -> None:
    """From now on new runs begin on this build, and runs that continue move to it. A worker of it must have started."""
    await client.workflow_service.set_worker_deployment_current_version(
        SetWorkerDeploymentCurrentVersionRequest(
            namespace=client.namespace, deployment_name=queue_of(tenant), build_id=build
        )
    )


def _deployment(tenant: str, build: str) -> WorkerDeploymentConfig:
    return WorkerDeploymentConfig(
        version=WorkerDeploymentVersion(deployment_name=queue_of(tenant), build_id=build),
        use_worker_versioning=True,
        default_versioning_behavior=VersioningBehavior.PINNED,
    )
