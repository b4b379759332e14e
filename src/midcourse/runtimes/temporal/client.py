"""Client of a fleet: starts runs, sends them events, and waits for their results.

client = await connect("127.0.0.1:7233")
fleet = FleetClient(client, store=store, tenant="acme")
await store.begin(run, task)
handle = await fleet.start(run, world="shop")
why_not = await handle.pause()
result = await handle.result()
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from temporalio.api.enums.v1 import PendingActivityState, PendingWorkflowTaskState, TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import (
    Client,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
)
from temporalio.common import SearchAttributePair, TypedSearchAttributes, WorkflowIDReusePolicy
from temporalio.exceptions import ActivityError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from midcourse.domain.approval import Question
from midcourse.domain.events import ResumeAsked
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.drive import is_over
from midcourse.errors import RunEnded, RunUnknown
from midcourse.ports.controls import PostedControls, Request
from midcourse.ports.driving import SharedStore
from midcourse.runtimes.temporal.attributes import FINAL_REASON, STATUS, TENANT, WORLD, derive_status, register
from midcourse.runtimes.temporal.codec import data_converter
from midcourse.runtimes.temporal.profile import Profile
from midcourse.runtimes.temporal.supervisor import SupervisorWorkflow
from midcourse.runtimes.temporal.wire import WAKE, Placement, name_queue, name_workflow, read_run_id
from midcourse.sealing import Key

TURN = timedelta(seconds=5)
"""The timeout of a turn, after which its worker counts as frozen. A turn takes milliseconds, or a second if the whole history
must be read first.
"""


HEALTHY_WITHIN = 120.0
"""Seconds within which a server that listens can answer, even on a busy machine."""
NOT_HEALTHY = "not healthy yet"
"""Part of the error message of a server that listens but cannot answer yet."""


async def connect(
    address: str, *, namespace: str = "default", keys: Sequence[Key] = (), profile: Profile | None = None
) -> Client:
    """Connect to a Temporal server and register the search attributes. With `keys`, payloads are sealed.

    A `profile` secures the connection; address and namespace are those given here.
    """
    secured = profile or Profile(name="")
    give_up_at = time.monotonic() + HEALTHY_WITHIN
    while True:
        try:
            client = await Client.connect(
                address,
                namespace=namespace,
                data_converter=data_converter(keys),
                tls=secured.tls or False,
                api_key=secured.api_key or None,
                rpc_metadata=secured.metadata,
            )
        except RuntimeError as error:
            if NOT_HEALTHY not in str(error) or time.monotonic() > give_up_at:
                raise
            await asyncio.sleep(0.1)
        else:
            await register(client)
            return client


NAMED_WITHIN = 15.0
"""Seconds in which an overloaded server finds its namespace again: for moments it says that the namespace does not exist."""
UNBROKEN = (WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.COMPLETED)
PROMPT = 2.0
"""Seconds that posting a message waits for Temporal. Without Temporal, a worker finds the message in the store."""


class RunBroken(Exception):
    """A bug ended the execution, not the run: once it is fixed, `resume` continues."""


@dataclass(frozen=True, kw_only=True)
class RunExecution:
    """A run as Temporal lists it."""

    run: str
    status: str
    """running, asking, paused, ended; or broken."""
    world: str
    final_reason: str
    waits_for_worker: bool
    """Whether it has a task that no worker has taken."""


class FleetClient:
    """One tenant's runs on one Temporal namespace."""

    def __init__(
        self,
        client: Client,
        *,
        store: SharedStore,
        tenant: str,
        placement: Placement | None = None,
    ) -> None:
        self._client = client
        self._store = store
        self.tenant = tenant
        self._placement = placement or Placement()

    async def start(self, run: Run, *, world: str) -> "RunHandle":
        """Start a run that is in the store. Do nothing if it is already started."""
        attributes = [
            SearchAttributePair(STATUS, derive_status(run)),
            SearchAttributePair(WORLD, world),
            SearchAttributePair(TENANT, self.tenant),
        ]
        give_up_at = time.monotonic() + NAMED_WITHIN
        while True:
            try:
                with suppress(WorkflowAlreadyStartedError):
                    await self._client.start_workflow(
                        SupervisorWorkflow.go,
                        self._placement,
                        id=name_workflow(self.tenant, run.id),
                        task_queue=name_queue(self.tenant),
                        task_timeout=TURN,
                        search_attributes=TypedSearchAttributes(attributes),
                        id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
                    )
            except RPCError as error:
                if error.status != RPCStatusCode.NOT_FOUND or time.monotonic() > give_up_at:
                    raise
                await asyncio.sleep(0.2)
            else:
                return self.handle(run.id)

    async def has_workers(self) -> bool:
        """Return whether a worker has asked for this tenant's work within the last minutes."""
        answer = await self._client.workflow_service.describe_task_queue(
            DescribeTaskQueueRequest(
                namespace=self._client.namespace,
                task_queue=TaskQueue(name=name_queue(self.tenant)),
                task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
            )
        )
        return bool(answer.pollers)

    async def resume(self, run_id: str, *, world: str) -> str:
        """End a pause, or restart a run whose execution broke or never began.

        Return why that has no effect, or an empty string.
        """
        try:
            listed = await self.handle(run_id).describe()
        except RunUnknown:
            listed = None
        if listed is not None and listed.status != "broken":
            return await self.handle(run_id).tell(ResumeAsked())
        run, _ = await self._store.load(run_id)
        if is_over(run):
            raise RunEnded(f"run {run_id} has ended")
        await self.start(run, world=world)
        return ""

    def handle(self, run_id: str) -> "RunHandle":
        """Return the handle of a run that was started, here or by another process."""
        found = self._client.get_workflow_handle_for(SupervisorWorkflow.go, name_workflow(self.tenant, run_id))
        return RunHandle(found, self._store)


class RunHandle(PostedControls):
    """A run in the fleet. A request that would have no effect is refused with a reason."""

    def __init__(self, handle: "WorkflowHandle[SupervisorWorkflow, str]", store: SharedStore) -> None:
        self.run_id = read_run_id(handle.id)
        self._handle = handle
        self._store = store

    async def open_question(self) -> Question | None:
        return await self._store.open_question(self.run_id)

    async def tell(self, request: Request, /) -> str:
        """Post a message, which a worker finds even without a signal. A run without a supervisor accepts none until it is resumed."""
        if await self._is_abandoned():
            result = await self._store.result(self.run_id)
            return f"the run has ended: {result.final_reason}" if result else f"run {self.run_id} is not driven here"
        posted = await self._store.post(self.run_id, replace(request, at=time.time()))
        if posted.number and posted.resting:
            with suppress(RPCError, TimeoutError):
                async with asyncio.timeout(PROMPT):
                    await self._handle.signal(WAKE, posted.number)
        return posted.refused

    async def _is_abandoned(self) -> bool:
        """Return whether no supervisor has the run. False if Temporal cannot be reached, since posting a message needs only the store."""
        try:
            async with asyncio.timeout(PROMPT):
                return (await self.describe()).status == "broken"
        except RunUnknown:
            return True
        except (RPCError, TimeoutError):
            return False

    async def describe(self) -> RunExecution:
        """Return the run as Temporal lists it. Raise `RunUnknown` if it has no such run."""
        try:
            found = await self._handle.describe()
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            raise RunUnknown(f"run {self.run_id} is not driven here") from None
        raw = found.raw_description
        turn_waits = raw.pending_workflow_task.state == PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_SCHEDULED
        handed_out = PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
        shown = found.typed_search_attributes
        return RunExecution(
            run=self.run_id,
            status=shown.get(STATUS) or "" if found.status in UNBROKEN else "broken",
            world=shown.get(WORLD) or "",
            final_reason=shown.get(FINAL_REASON) or "",
            waits_for_worker=turn_waits or any(activity.state == handed_out for activity in raw.pending_activities),
        )

    async def result(self) -> Result:
        """Wait for the end of the run, and return its result."""
        try:
            await self._handle.result()
        except WorkflowFailureError as failure:
            bug = failure.cause.cause if isinstance(failure.cause, ActivityError) else failure.cause
            raise RunBroken(f"run {self.run_id} broke: {bug}") from failure
        result = await self._store.result(self.run_id)
        assert result is not None, "a run that ended has a result"
        return result
