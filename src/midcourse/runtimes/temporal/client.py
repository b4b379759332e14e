"""The fleet as a client sees it: begin runs, tell them something, wait for what they come to."""

from temporalio.client import Client, WorkflowHandle
from temporalio.common import SearchAttributePair, TypedSearchAttributes, WorkflowIDReusePolicy
from temporalio.exceptions import WorkflowAlreadyStartedError

from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.ports.store import FleetStore
from midcourse.runtimes.temporal.attributes import STATUS, TENANT, WORLD, register, status_of
from midcourse.runtimes.temporal.codec import data_converter
from midcourse.runtimes.temporal.wire import WORKFLOW, Pace, Start, queue_of, workflow_id


async def connect(address: str, *, namespace: str = "default") -> Client:
    """To a Temporal server, ready for workers and clients of ours."""
    client = await Client.connect(address, namespace=namespace, data_converter=data_converter())
    await register(client)
    return client


class FleetClient:
    def __init__(self, client: Client, *, store: FleetStore, tenant: str, pace: Pace | None = None) -> None:
        self._client = client
        self._store = store
        self._tenant = tenant
        self._pace = pace or Pace()

    async def begin(self, run: Run, task: Task, *, world: str, after: str = "") -> None:
        """Enter a run in the store, then have it driven. Raises what `Store.begin` raises."""
        await self._store.begin(run, task, after=after)
        await self.start(run, world=world)

    async def start(self, run: Run, *, world: str) -> None:
        """Have a run that is in the store driven; if it is already, nothing happens."""
        attributes = TypedSearchAttributes(
            [
                SearchAttributePair(STATUS, status_of(run)),
                SearchAttributePair(WORLD, world),
                SearchAttributePair(TENANT, self._tenant),
            ]
        )
        try:
            await self._client.start_workflow(
                WORKFLOW,
                Start(run=run, pace=self._pace),
                id=workflow_id(self._tenant, run.id),
                task_queue=queue_of(self._tenant),
                search_attributes=attributes,
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
            )
        except WorkflowAlreadyStartedError:
            return

    async def result(self, run_id: str) -> Result:
        """Wait for the end of a run, and say what it came to."""
        handle: WorkflowHandle[object, str] = self._client.get_workflow_handle(
            workflow_id(self._tenant, run_id), result_type=str
        )
        await handle.result()
        result = await self._store.result(run_id)
        assert result is not None, "a run that ended has a result"
        return result
