"""Schedules: Temporal starts a workflow at each time, which enters the run of that occurrence and waits for its end.

A firing that is late, repeated or shifted is the same occurrence if `Enter` says so, and then starts nothing.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Literal, TypeAlias

from temporalio import activity, workflow
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleCalendarSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleRange,
    ScheduleSpec,
    ScheduleState,
)
from temporalio.common import (
    RetryPolicy,
    SearchAttributeKey,
    SearchAttributePair,
    TypedSearchAttributes,
    WorkflowIDReusePolicy,
)
from temporalio.exceptions import ApplicationError, ChildWorkflowError, WorkflowAlreadyStartedError
from temporalio.service import RPCError, RPCStatusCode

from midcourse.errors import MidcourseError, TaskInvalid
from midcourse.runtimes.temporal.attributes import STATUS, TENANT, WORLD
from midcourse.runtimes.temporal.client import TURN
from midcourse.runtimes.temporal.supervisor import SupervisorWorkflow
from midcourse.runtimes.temporal.wire import Placement, name_queue, name_schedule, name_workflow

WORKFLOW = "scheduled"
ENTER = "enter_scheduled_run"
FIRED_AT = SearchAttributeKey.for_datetime("TemporalScheduledStartTime")
"""The time at which the schedule was due to fire, even if it fired late."""
AGAIN = RetryPolicy(initial_interval=timedelta(seconds=1), maximum_interval=timedelta(minutes=1))
ENTERED_WITHIN = timedelta(seconds=60)

Overlap: TypeAlias = Literal["wait", "skip", "allow"]
POLICIES: dict[Overlap, ScheduleOverlapPolicy] = {
    "wait": ScheduleOverlapPolicy.BUFFER_ALL,
    "skip": ScheduleOverlapPolicy.SKIP,
    "allow": ScheduleOverlapPolicy.ALLOW_ALL,
}
"""What happens if the previous run has not ended when the next is due: the next waits, is skipped, or runs concurrently."""


@dataclass(frozen=True, kw_only=True)
class ScheduledTask:
    """What a schedule starts."""

    schedule: str
    """Its name."""
    zone: str
    job: str
    tenant: str
    placement: Placement


@dataclass(frozen=True, kw_only=True)
class Firing:
    """One firing of a schedule."""

    task: ScheduledTask
    at: float
    """The time at which it was due."""


@dataclass(frozen=True, kw_only=True)
class Entered:
    """The run of a firing in the store. An empty `run`: the run of this occurrence has ended already."""

    run: str
    world: str = ""


Enter: TypeAlias = Callable[[Firing], Awaitable[Entered]]
"""Stores the run of a firing, or finds the one that an earlier firing for the same occurrence stored."""


@workflow.defn(name=WORKFLOW)
class ScheduledWorkflow:
    @workflow.run
    async def go(self, task: ScheduledTask) -> str:
        """Enter the run of this firing, start its supervisor and wait for its end. Return why it ended; empty if an earlier firing did it."""
        info = workflow.info()
        fired_at = info.typed_search_attributes.get(FIRED_AT) or info.start_time
        entered = await workflow.execute_activity(
            ENTER,
            Firing(task=task, at=fired_at.timestamp()),
            result_type=Entered,
            start_to_close_timeout=ENTERED_WITHIN,
            retry_policy=AGAIN,
        )
        if not entered.run:
            return ""
        attributes = [
            SearchAttributePair(STATUS, "running"),
            SearchAttributePair(WORLD, entered.world),
            SearchAttributePair(TENANT, task.tenant),
        ]
        try:
            return await workflow.execute_child_workflow(
                SupervisorWorkflow.go,
                task.placement,
                id=name_workflow(task.tenant, entered.run),
                task_timeout=TURN,
                search_attributes=TypedSearchAttributes(attributes),
                id_reuse_policy=WorkflowIDReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
                parent_close_policy=workflow.ParentClosePolicy.ABANDON,
            )
        except WorkflowAlreadyStartedError:
            return ""
        except ChildWorkflowError as broken:  # `midcourse resume` continues such a run, and the schedule fires again
            return f"broke: {broken.cause}"


class ScheduledRuns:
    """The activity of a worker that enters runs of schedules."""

    def __init__(self, enter: Enter) -> None:
        self._enter = enter

    @activity.defn(name=ENTER)
    async def enter(self, firing: Firing) -> Entered:
        try:
            return await self._enter(firing)
        except MidcourseError as misuse:
            raise ApplicationError(str(misuse), type=type(misuse).__name__, non_retryable=True) from misuse


# --- for clients


@dataclass(frozen=True, kw_only=True)
class Calendar:
    """When to fire: at these times of these days of the week, 0 being Sunday, in a time zone."""

    days: tuple[int, ...]
    times: tuple[time, ...]
    zone: str

    def spec(self) -> ScheduleSpec:
        days = [ScheduleRange(day) for day in self.days]
        return ScheduleSpec(
            calendars=[
                ScheduleCalendarSpec(hour=[ScheduleRange(at.hour)], minute=[ScheduleRange(at.minute)], day_of_week=days)
                for at in self.times
            ],
            time_zone_name=self.zone,
        )


@dataclass(frozen=True, kw_only=True)
class ListedSchedule:
    name: str
    says: str
    next_at: datetime | None
    last_at: datetime | None


class FleetSchedules:
    """One tenant's schedules on one Temporal namespace."""

    def __init__(self, client: Client, *, tenant: str) -> None:
        self._client = client
        self._tenant = tenant

    async def add(
        self, task: ScheduledTask, calendar: Calendar, *, overlap: Overlap, catch_up: timedelta, says: str
    ) -> None:
        """Create a schedule. Raise `TaskInvalid` if there is one of this name."""
        schedule = Schedule(
            action=ScheduleActionStartWorkflow(
                ScheduledWorkflow.go,
                task,
                id=name_schedule(self._tenant, task.schedule),
                task_queue=name_queue(self._tenant),
            ),
            spec=calendar.spec(),
            policy=SchedulePolicy(overlap=POLICIES[overlap], catchup_window=catch_up),
            state=ScheduleState(note=says),
        )
        try:
            await self._client.create_schedule(self._id(task.schedule), schedule)
        except ScheduleAlreadyRunningError:
            name = task.schedule
            raise TaskInvalid(f"there is a schedule '{name}'; midcourse schedule remove {name} removes it") from None

    async def list_all(self) -> AsyncIterator[ListedSchedule]:
        async for found in await self._client.list_schedules():
            tenant, _, name = found.id.partition("/")
            if tenant != self._tenant or found.schedule is None or found.info is None:
                continue
            recent, coming = found.info.recent_actions, found.info.next_action_times
            yield ListedSchedule(
                name=name,
                says=found.schedule.state.note or "",
                next_at=coming[0] if coming else None,
                last_at=recent[-1].scheduled_at if recent else None,
            )

    async def remove(self, name: str) -> None:
        """Remove a schedule. Its runs are left as they are. Raise `TaskInvalid` if there is none of this name."""
        try:
            await self._client.get_schedule_handle(self._id(name)).delete()
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
            raise TaskInvalid(f"there is no schedule '{name}'; midcourse schedule list shows all") from None

    def _id(self, name: str) -> str:
        return f"{self._tenant}/{name}"
