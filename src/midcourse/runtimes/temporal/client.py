"""Client of a fleet: starts runs, sends them events, and waits for their results.

client = await connect("127.0.0.1:7233")
fleet = FleetClient(client, store=store, tenant="acme")
handle = await fleet.begin(run, task, world="shop")
why_not = await handle.pause()
result = await handle.result()
"""

import asyncio
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from temporalio.api.enums.v1 import PendingActivityState, PendingWorkflowTaskState, TaskQueueType
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest
from temporalio.client import (
    Client,
    WorkflowExecution,
    WorkflowExecutionDescription,
    WorkflowExecutionStatus,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowUpdateFailedError,
    WorkflowUpdateRPCTimeoutOrCancelledError,
)
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from midcourse.domain.approval import Decision, Question
from midcourse.domain.event import ResumeAsked
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.drive import is_over
from midcourse.errors import RunEnded, RunUnknown
from midcourse.perform.asking import decided
from midcourse.policy.approval.check import why_needs_all_values
from midcourse.policy.approval.question import changes_between, describe_change
from midcourse.ports.controls import Controls
from midcourse.ports.store import FleetStore
from midcourse.runtimes.temporal.attributes import FINAL_REASON, STATUS, TENANT, WORLD, register, status_of
from midcourse.runtimes.temporal.codec import data_converter
from midcourse.runtimes.temporal.wire import Pace, Start, Word, queue_of, run_id_of, workflow_id
from midcourse.runtimes.temporal.workflow import RunWorkflow
from midcourse.sealing import Key

TURN = timedelta(seconds=5)
"""A worker that takes a turn and is not done by then counts as frozen. A turn takes milliseconds, or a second if the whole
history must be read first.
"""


HEALTHY_WITHIN = 120.0
NOT_HEALTHY = "not healthy yet"
"""What a server says that listens already and cannot answer yet, and the seconds in which it will, on a busy machine."""


async def connect(address: str, *, namespace: str = "default", keys: Sequence[Key] = ()) -> Client:
    """To a Temporal server, ready for workers and clients of ours. With `keys`, payloads are sealed."""
    give_up_at = time.monotonic() + HEALTHY_WITHIN
    while True:
        try:
            client = await Client.connect(address, namespace=namespace, data_converter=data_converter(keys))
        except RuntimeError as trouble:
            if NOT_HEALTHY not in str(trouble) or time.monotonic() > give_up_at:
                raise
            await asyncio.sleep(0.1)
        else:
            await register(client)
            return client


PROMPT = 8.0
"""Seconds after which a client that waits for a worker says that none answers."""


class RunBroken(Exception):
    """A bug of ours or of an adapter ended the execution, not the run: once it is fixed, `resume` continues."""


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A run as the engine's lists have it."""

    run: str
    status: str
    """running, asking, paused, ended; or broken."""
    world: str
    final_reason: str
    waits_for_worker: bool = False
    """Whether something of it was handed out, and no worker had taken it at that moment. Only `describe` says so."""


class FleetClient:
    """One tenant's runs on one Temporal namespace."""

    def __init__(self, client: Client, *, store: FleetStore, tenant: str, pace: Pace | None = None) -> None:
        self._client = client
        self._store = store
        self._tenant = tenant
        self._pace = pace or Pace()

    async def begin(self, run: Run, task: Task, *, world: str, after: str = "") -> "RunHandle":
        """Enter a run in the store, then have it driven. Raises what `Store.begin` raises."""
        await self._store.begin(run, task, after=after)
        return await self.start(run, world=world)

    async def start(self, run: Run, *, world: str, picked_up: bool = False) -> "RunHandle":
        """Have a run that is in the store driven. If it is already, nothing happens."""
        attributes = [
            SearchAttributePair(STATUS, status_of(run)),
            SearchAttributePair(WORLD, world),
            SearchAttributePair(TENANT, self._tenant),
        ]
        with suppress(WorkflowAlreadyStartedError):
            await self._client.start_workflow(
                RunWorkflow.go,
                Start(run=run, pace=self._pace, picked_up=picked_up),
                id=workflow_id(self._tenant, run.id),
                task_queue=queue_of(self._tenant),
                task_timeout=TURN,
                search_attributes=TypedSearchAttributes(attributes),
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
            )
        return self.handle(run.id)

    async def has_workers(self) -> bool:
        """Whether a worker has asked for this tenant's work within the last minutes."""
        answer = await self._client.workflow_service.describe_task_queue(
            DescribeTaskQueueRequest(
                namespace=self._client.namespace,
                task_queue=TaskQueue(name=queue_of(self._tenant)),
                task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
            )
        )
        return bool(answer.pollers)

    async def resume(self, run_id: str, *, world: str) -> str:
        """End a pause; or restart a run whose execution broke or never began.

        Returns why that comes to nothing, or nothing.
        """
        try:
            listed = await self.handle(run_id).describe()
        except RunUnknown:
            listed = None
        if listed is not None and listed.status != "broken":
            return await self.handle(run_id).tell(ResumeAsked(), seconds=PROMPT)
        run, _ = await self._store.load(run_id)
        if is_over(run):
            raise RunEnded(f"run {run_id} has ended")
        await self.start(run, world=world, picked_up=run.seq > 0)
        return ""

    def handle(self, run_id: str) -> "RunHandle":
        """Of a run that was begun, here or elsewhere."""
        found = self._client.get_workflow_handle_for(RunWorkflow.go, workflow_id(self._tenant, run_id))
        return RunHandle(found, self._store)

    async def runs(self, *, status: str = "", world: str = "", final_reason: str = "") -> AsyncIterator[Listed]:
        """This tenant's runs, newest first, as far as the engine still knows them; the store knows all."""
        wanted = ((TENANT, self._tenant), (STATUS, status), (WORLD, world), (FINAL_REASON, final_reason))
        query = " AND ".join(f"{key.name} = '{_quoted(value)}'" for key, value in wanted if value)
        seen: set[str] = set()
        async for execution in self._client.list_workflows(query):
            if execution.id not in seen and execution.status != WorkflowExecutionStatus.CONTINUED_AS_NEW:
                seen.add(execution.id)  # earlier executions of the same run broke
                yield _listed(execution)


class RunHandle(Controls[Coroutine[Any, Any, str]]):
    """A run under way somewhere. What is told to it is refused with a reason if it would come to nothing."""

    def __init__(self, handle: "WorkflowHandle[RunWorkflow, str]", store: FleetStore) -> None:
        self.run_id = run_id_of(handle.id)
        self._handle = handle
        self._store = store

    async def answer(self, question: Question, decision: Decision) -> str:
        """Decide a question that is out. If it has been replaced by another, the refusal says what changed."""
        if incomplete := why_needs_all_values(question, decision):
            return incomplete
        why_not = await self.tell(decided(question, decision))
        return f"{why_not}{await self._changed_since(question)}" if why_not else ""

    async def _changed_since(self, question: Question) -> str:
        """What is asked about now differs so from what this question showed; nothing if it still is the open one."""
        now = await self._store.open_question(self.run_id)
        if now is None or now.id == question.id:
            return ""
        changes = changes_between(question.consequences, now.consequences)
        return f"; changed since: {'; '.join(map(describe_change, changes))}" if changes else ""

    async def tell(self, word: Word, /, *, seconds: float = 30.0) -> str:
        """Raises `TimeoutError` if no worker has taken it in this time. It may still be taken later."""
        try:
            async with asyncio.timeout(
                seconds
            ):  # `rpc_timeout` is for each of the requests that the library waits with
                await self._handle.execute_update(RunWorkflow.tell, word)  # pyright: ignore[reportUnknownMemberType]
        except WorkflowUpdateFailedError as refused:
            return str(refused.cause)
        except (TimeoutError, WorkflowUpdateRPCTimeoutOrCancelledError):
            raise TimeoutError(f"no worker answered for run {self.run_id} within {seconds:g} s") from None
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            return await self._why_not_there()
        return ""

    async def describe(self) -> Listed:
        """As the engine has it. Raises `RunUnknown` if it has no such run."""
        try:
            found = await self._handle.describe()
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            raise RunUnknown(f"run {self.run_id} is not driven here") from None
        return replace(_listed(found), waits_for_worker=_waits_for_worker(found))

    async def result(self) -> Result:
        """Wait for the end of the run, and say what it came to."""
        try:
            await self._handle.result()
        except WorkflowFailureError as failure:
            raise RunBroken(f"run {self.run_id} broke: {failure.cause}") from failure
        result = await self._store.result(self.run_id)
        assert result is not None, "a run that ended has a result"
        return result

    async def _why_not_there(self) -> str:
        result = await self._store.result(self.run_id)
        return f"the run has ended: {result.final_reason}" if result else f"run {self.run_id} is not driven here"


def _waits_for_worker(found: WorkflowExecutionDescription) -> bool:
    raw = found.raw_description
    turn = raw.pending_workflow_task.state == PendingWorkflowTaskState.PENDING_WORKFLOW_TASK_STATE_SCHEDULED
    handed_out = PendingActivityState.PENDING_ACTIVITY_STATE_SCHEDULED
    return turn or any(activity.state == handed_out for activity in raw.pending_activities)


def _listed(execution: WorkflowExecution) -> Listed:
    said = execution.typed_search_attributes
    alive = execution.status in (WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.COMPLETED)

    def value_of(key: SearchAttributeKey[str]) -> str:
        return said.get(key) or ""

    return Listed(
        run=run_id_of(execution.id),
        status=value_of(STATUS) if alive else "broken",
        world=value_of(WORLD),
        final_reason=value_of(FINAL_REASON),
    )


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace("'", "\\'")
