"""One workflow per run that places drivers: again when one is lost, and after a rest when a message or a time is due.

It holds no state of the run and knows nothing of the director, so a deploy with another director changes nothing for it. A
change of this workflow itself has to replay the histories in tests/fixtures/histories.
"""

import asyncio
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy, SearchAttributeUpdate
from temporalio.exceptions import ActivityError, CancelledError
from temporalio.workflow import ActivityCancellationType

from midcourse.domain.replace import replace
from midcourse.runtimes.temporal.attributes import FINAL_REASON, STATUS
from midcourse.runtimes.temporal.wire import ACTIVITY, WAKE, WORKFLOW, Left, Placement

PLACE_AGAIN = RetryPolicy(
    initial_interval=timedelta(seconds=0.1), backoff_coefficient=1.5, maximum_interval=timedelta(seconds=1)
)
LONGEST_DRIVE = timedelta(days=1)
"""A driver hands over after its slice if others wait, and after half of this in any case."""
CONTINUE_AFTER = 2000
"""Events of history after which the supervisor continues in a new execution."""


@workflow.defn(name=WORKFLOW)
class SupervisorWorkflow:
    @workflow.init
    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self._posted = 0
        self._status = "running"

    @workflow.signal(name=WAKE)
    def wake(self, message: int) -> None:
        """Note that the message with this number was posted while the run rested."""
        self._posted = max(self._posted, message)

    @workflow.run
    async def go(self, placement: Placement) -> str:
        """Place drivers until the run ends. Return why it ended."""
        while True:
            left = await self._place()
            if left.why == "ended":
                self._show(left.status, left.final_reason)
                return left.final_reason
            if left.why == "waits":
                self._show(left.status)
                await self._wait(left)
                self._show("running")
            if workflow.info().get_current_history_length() >= CONTINUE_AFTER:
                workflow.continue_as_new(self._placement)

    async def _place(self) -> Left:
        """Have a worker drive the run. If this execution is cancelled meanwhile, the driver cancels the run."""
        self._posted = 0  # a driver reads all messages that were posted before it was placed
        try:
            left = await workflow.execute_activity(
                ACTIVITY,
                self._placement,
                result_type=Left,
                start_to_close_timeout=LONGEST_DRIVE,
                heartbeat_timeout=timedelta(seconds=self._placement.heartbeat_seconds),
                retry_policy=PLACE_AGAIN,
                cancellation_type=ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            )
        except ActivityError as error:
            if not isinstance(error.cause, CancelledError):
                raise
            self._placement = replace(self._placement, cancelled=True)  # no worker had it
            return await self._place()
        self._placement = replace(self._placement, cancelled=False)
        return left

    async def _wait(self, left: Left) -> None:
        """Wait for a message that the last driver has not read, or for its time."""
        timeout = None if left.wake_at is None else max(0.0, left.wake_at - workflow.time())
        try:
            await workflow.wait_condition(lambda: self._posted > left.messages, timeout=timeout)
        except TimeoutError:
            pass
        except asyncio.CancelledError:
            self._placement = replace(self._placement, cancelled=True)

    def _show(self, status: str, final_reason: str = "") -> None:
        if status == self._status:
            return
        self._status = status
        updates: list[SearchAttributeUpdate[str]] = [STATUS.value_set(status)]
        if final_reason:
            updates.append(FINAL_REASON.value_set(final_reason))
        workflow.upsert_search_attributes(updates)
