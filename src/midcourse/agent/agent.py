"""The agent: runs tasks in a world, with a planner, an approver and a store."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Self, TypeVar, overload
from weakref import WeakValueDictionary

from midcourse.agent import undo as undoing
from midcourse.agent.blocking import runs_loop
from midcourse.agent.callables import ApproverFunction, PlannerFunction, as_approver, as_planner
from midcourse.agent.control import LocalControl, LocalStore
from midcourse.agent.following import FollowedRun
from midcourse.agent.live_run import LiveRun
from midcourse.agent.models import add_call_reserves, build_embedder, build_roles
from midcourse.agent.roles import ROLES, OptionalRoles, RoleModels
from midcourse.agent.start import check_references, new_run, new_run_id
from midcourse.agent.tools.agent_tool import ONE_CALL, AgentTool
from midcourse.agent.typed_result import TypedResult, with_type
from midcourse.agent.wiring import Job, build_planner, build_telemetry, build_world, expected_catalogue, model_settings
from midcourse.config.defaults import DenyAll, EnvironmentVault, LeaveOpen, check_secrets, user, user_id
from midcourse.config.output import read_output_type
from midcourse.config.settings import Settings
from midcourse.config.task.check import check_against
from midcourse.domain.agreement import Agreement
from midcourse.domain.plan import PlanVersion
from midcourse.domain.result import Result
from midcourse.domain.task import Task
from midcourse.errors import TaskInvalid
from midcourse.history import replay
from midcourse.history.journal import journal_of
from midcourse.home.stores import open_blobs, open_lessons, open_lessons_beside, open_segments
from midcourse.home.stores import open_store as open_local_store
from midcourse.perform import Lessons, Ports
from midcourse.policy import task_state as task_states
from midcourse.ports.abilities import offers
from midcourse.ports.approver import Approver, FormFiller
from midcourse.ports.blobs import Blobs
from midcourse.ports.clock import Clock, SystemClock
from midcourse.ports.memory import Embedder, Memory
from midcourse.ports.plan_cache import PlanCache
from midcourse.ports.planner import Planner
from midcourse.ports.store import Restorable, Store
from midcourse.ports.vault import Secrets, Vault, reveal_all
from midcourse.ports.world import Eliciting, Picturing, World
from midcourse.presentation.notebook import show_in_notebooks
from midcourse.redact import keep_out_of_logs

log = logging.getLogger(__name__)

T = TypeVar("T")

FINDING = Lock()
IN_USE: WeakValueDictionary[int, Lock] = WeakValueDictionary()
"""Locks by the id of a world. A tool holds its lock and, through its agent, the world, so no other world gets the id meanwhile."""

show_in_notebooks()


@dataclass(frozen=True)
class Agent(OptionalRoles):
    """Runs tasks in a world. Every run is kept in a store and can be resumed from there after a crash.

    Without an approver everything irreversible is denied: such a run ends as `rejected`. Without a planner, a language
    model plans: `model`, or the one in the settings. A planner may also be a function that takes a `PlanningContext` and returns a `Plan`;
    an approver, one that takes a `Question` and returns a `Decision`, a bool, or None to leave it open. The fields of the other roles are in
    `OptionalRoles`.
    """

    world: World
    planner: Planner | PlannerFunction | None = None
    _: KW_ONLY
    model: str = ""
    approver: Approver | ApproverFunction | None = None
    settings: Settings | None = None
    store: Store | None = None
    clock: Clock | None = None
    vault: Vault | None = None
    segments: PlanCache | None = None
    """Plans that worked, if the setting `reuse` is on; by default in a file of the home."""
    memory: Memory | None = None
    """Lessons of earlier runs; by default beside the store, if that is a file."""
    embedder: Embedder | None = None
    blobs: Blobs | None = None
    """Where screenshots are stored; by default in the folder of each run in the home."""

    def __post_init__(self) -> None:
        if isinstance(self.world, type):
            raise TypeError(f"world: {self.world.__name__} is a class; give an object of it, {self.world.__name__}()")
        as_planner(self.planner), as_approver(self.approver)  # both refuse what they cannot use

    @overload
    async def run(self, task: Task | str, *, run_id: str = "", again: bool = False) -> Result: ...

    @overload
    async def run(
        self, task: Task | str, *, output_type: type[T], run_id: str = "", again: bool = False
    ) -> TypedResult[T]: ...

    async def run(
        self, task: Task | str, *, output_type: type[T] | None = None, run_id: str = "", again: bool = False
    ) -> Result:
        """Carry out a task, or a goal in words, and return the result.

        If the task has a business key and an earlier run with it succeeded, the result of that run is returned; if the earlier
        run was interrupted, it is resumed. `again` starts a new run although an earlier one, which failed, may have done the task.

        With `output_type` (a Pydantic model, a dataclass or a TypedDict) the task's output is of this type, and so is `result.output`.
        """
        if output_type is None:
            return await self.start(task, run_id=run_id, again=again).result()
        task = replace(Task(goal=task) if isinstance(task, str) else task, output=read_output_type(output_type))
        return with_type(await self.start(task, run_id=run_id, again=again).result(), output_type)

    @overload
    def run_sync(self, task: Task | str, *, run_id: str = "", again: bool = False) -> Result: ...

    @overload
    def run_sync(
        self, task: Task | str, *, output_type: type[T], run_id: str = "", again: bool = False
    ) -> TypedResult[T]: ...

    def run_sync(
        self, task: Task | str, *, output_type: type[T] | None = None, run_id: str = "", again: bool = False
    ) -> Result:
        """The same as `run`, for programs without an event loop. Raises `RuntimeError` if one is running, as in a notebook."""
        _refuse_inside_a_loop("agent.run(…)")
        if output_type is None:
            return asyncio.run(self.run(task, run_id=run_id, again=again))
        return asyncio.run(self.run(task, output_type=output_type, run_id=run_id, again=again))

    def start(self, task: Task | str, *, run_id: str = "", again: bool = False) -> LiveRun:
        """Start a run and return it as a `LiveRun`. Needs a running event loop."""
        task = self._complete_task(Task(goal=task) if isinstance(task, str) else task)
        # Only for their prices and to know which there are: the run builds its own, in its event loop and with its secrets.
        roles = self._build_roles()
        task = replace(task, limits=add_call_reserves(task.limits, roles))
        check_secrets(task.secrets, self.vault or EnvironmentVault())
        check_references(task)
        run = new_run(task, run_id or new_run_id(), roles)
        return LiveRun(run, task, world=self.world, open_store=self.open_store, ports=self.build_ports, again=again)

    def _complete_task(self, task: Task) -> Task:
        """Complete a task from the agent's settings, where it has no limits, agreement or user of its own."""
        settings = self._settings
        return replace(
            task,
            limits=task.limits.with_defaults(settings.limits()),
            agreement=settings.agreement() if task.agreement == Agreement() else task.agreement,
            by=task.by or user(),
            by_id=task.by_id if task.by else user_id(),
        )

    async def resume(self, run_id: str, *, restored: bool = False) -> Result:
        """Resume a run after its process has died. The world is observed first; finished steps are not repeated.

        Raises `StoreRestored` if the database is a copy or has lost records; `restored` accepts that.
        """
        return await self.pick_up(run_id, restored=restored).result()

    def resume_sync(self, run_id: str, *, restored: bool = False) -> Result:
        """The same as `resume`, for programs without an event loop. Raises `RuntimeError` if one is running."""
        _refuse_inside_a_loop("agent.resume(…)")
        return asyncio.run(self.resume(run_id, restored=restored))

    def pick_up(self, run_id: str, *, world_is_open: bool = False, restored: bool = False) -> LiveRun:
        """Resume a run and return it as a `LiveRun`. `world_is_open`: its world is already open, and is as the run left it."""
        if restored:
            with self.open_store() as store:
                if offers(store, Restorable):
                    store.accept_records(run_id)
        return LiveRun(
            run_id, world=self.world, open_store=self.open_store, ports=self.build_ports, world_is_open=world_is_open
        )

    @asynccontextmanager
    async def follow(
        self, run_id: str, *, approver: Approver | ApproverFunction | None = None
    ) -> AsyncGenerator[FollowedRun]:
        """Follow a run that another process drives with the same store. It can be used like a `LiveRun`.

        Progress begins with the first turn. `approver` is asked the run's questions in addition to approvers elsewhere: the
        first answer counts. Leaving the block does not change the run. Raises `RunUnknown`.
        """
        with self.open_store() as store:
            if not offers(store, LocalStore):
                raise TaskInvalid(f"runs in a {type(store).__name__} cannot be followed in Python; midcourse watch can")
            run = FollowedRun(LocalControl(store, run_id), await store.initial_state(run_id), log.warning)
            run.approver = as_approver(approver)
            try:
                yield run
            finally:
                await run.close()

    async def unfinished(self) -> tuple[str, ...]:
        """Runs that have not ended and that no process drives, the oldest first. A program can pick them up when it starts.

        On Windows, where it is not known what other processes drive, these are all that have not ended. Raises `TaskInvalid` for a
        store that cannot tell, such as a `PostgresStore`: picking up a run that a worker drives would end the worker's turn.
        """
        with self.open_store() as store:
            if not offers(store, LocalStore):
                raise TaskInvalid(
                    f"a {type(store).__name__} cannot tell which runs no process drives; name the runs to pick up"
                )
            left = [run.id for run in reversed(await store.runs()) if run.phase != "ended"]
            return tuple(run for run in left if not store.is_claimed(run))

    def as_tool(
        self,
        task: Task | str,
        *,
        name: str,
        description: str = "",
        inputs: Mapping[str, type] | None = None,
        key: str = ONE_CALL,
        wait: float | None = 0.0,
    ) -> AgentTool:
        """Make a tool for agents of another framework: `agent.as_tool("Order a lamp", name="order_lamp").for_pydantic_ai()`.

        The model of that agent chooses the `inputs`, with these types. Each call is a run with the business key `key`, which may
        contain `conversation`, `call` and the inputs; a second call with the same key returns the answer of the first. A call waits
        for a decision for at most `wait` seconds. Without an approver, the answer to a call with an open question is 'pending', and
        says how a person decides it.
        """
        task = Task(goal=task) if isinstance(task, str) else task
        return AgentTool(
            agent=self if self.approver else replace(self, approver=LeaveOpen()),
            task=task,
            name=name,
            description=description or task.goal,
            inputs=dict(inputs or {}),
            key=key,
            wait=wait,
            in_use=_find_lock(self.world),
        )

    async def plans(self, run_id: str) -> tuple[PlanVersion, ...]:
        """Every plan version of a run: its parent, why and from which observation it was made, its steps, and repairs to it."""
        with self.open_store() as store:
            return await store.plans(run_id)

    async def compare_plans(self, run_id: str, earlier: int, later: int) -> replay.PlanComparison:
        """Compare two plan versions: steps kept, changed, dropped and added. Raises `TaskInvalid` for an unknown version."""
        with self.open_store() as store:
            return replay.compare_plans(await journal_of(store, run_id), earlier, later)

    async def task_state(self, run_id: str) -> task_states.TaskState:
        """The state of the task, such as PENDING_APPROVAL, APPROVED or FAILED. Another process may drive the run."""
        with self.open_store() as store:
            return task_states.task_state((await store.load(run_id))[0])

    async def undo(self, run_id: str, step: int | None = None, *, dry_run: bool = False) -> undoing.UndoReport:
        """Undo the acts of an ended run, newest first, or only act number `step`. See docs/undo.md.

        For each inverse the approver is asked, unless approvals are off; then it is carried out once and verified. Acts that
        cannot be undone are in the report with the reason. `dry_run` only finds the inverses. Raises `TaskInvalid`, `RunUnknown` and `RunBusy`.
        """
        with self.open_store() as store:
            acts = self.undo_acts(store, run_id, step=step, dry_run=dry_run)
            return undoing.UndoReport(run=run_id, acts=tuple([act async for act in acts]))

    def undo_acts(
        self, store: Store, run_id: str, *, step: int | None = None, dry_run: bool = False
    ) -> AsyncGenerator[undoing.UndoneAct]:
        """The same as `undo`, for a run in this store: yields each act as soon as it has been undone or left."""
        settings = self._settings.with_overrides(undoing.WITHOUT_MODELS)

        async def carry_out(task: Task, planner: Planner) -> Result:
            return await replace(self, planner=planner, model="", settings=settings, store=store).run(task)

        return undoing.undo_acts(
            store, run_id, world=self.world, settings=settings, carry_out=carry_out, step=step, dry_run=dry_run
        )

    def undo_sync(self, run_id: str, step: int | None = None, *, dry_run: bool = False) -> undoing.UndoReport:
        """The same as `undo`, for programs without an event loop. Raises `RuntimeError` if one is running."""
        _refuse_inside_a_loop("agent.undo(…)")
        return asyncio.run(self.undo(run_id, step, dry_run=dry_run))

    def with_store(self, store: Store) -> Self:
        """The same agent with this store."""
        return replace(self, store=store)

    @contextmanager
    def open_store(self) -> Generator[Store]:
        """The agent's store; one that the agent opened itself is closed after use."""
        if self.store is not None:
            yield self.store
            return
        store = open_local_store(self._settings.home)
        try:
            yield store
        finally:
            store.close()

    @cached_property
    def _settings(self) -> Settings:
        return self.settings or Settings.load()

    def _build_roles(self, secrets: Secrets = (), run: str = "") -> RoleModels:
        """Build the roles of one run. Runs may be in different event loops, which cannot share connections."""
        planner = as_planner(self.planner)
        roles = build_roles(self._settings, planner=planner, model=self.model, secrets=secrets, run=run)
        given = {port: getattr(self, port) for port in ROLES if port != "planner" and getattr(self, port) is not None}
        return replace(roles, **given)

    def _open_lessons(self) -> Lessons | None:
        """Open the memory of earlier runs; None if the settings want no lessons, or the store has no place beside it."""
        settings = self._settings
        if not settings.lessons:
            return None
        memory = self.memory
        if memory is None:
            name = settings.agent
            memory = (
                open_lessons_beside(self.store, agent=name) if self.store else open_lessons(settings.home, agent=name)
            )
        if memory is None:
            return None
        embedder = self.embedder or build_embedder(settings)
        return Lessons(memory=memory, embedder=embedder, above=settings.lesson_similarity)

    def build_ports(self, store: Store, run_id: str, task: Task) -> Ports:
        """Build the ports of one run. This also sets up the world for the run, and keeps the run's secrets out of logs."""
        vault = self.vault or EnvironmentVault()
        secrets = reveal_all(vault, task.secrets)
        keep_out_of_logs(secrets)
        settings = self._settings
        if (task.limits.vision or settings.images != "off") and offers(self.world, Picturing):
            self.world.picture_looks()
        approver = as_approver(self.approver) or DenyAll()
        if offers(self.world, Eliciting):
            self.world.elicit_with(approver.fill_in if offers(approver, FormFiller) else None)
        return Ports(
            run_id=run_id,
            task=task,
            world=self.world,
            blobs=self.blobs or open_blobs(settings.home),
            approver=approver,
            store=store,
            clock=self.clock or SystemClock(),
            vault=vault,
            segments=(self.segments or open_segments(settings.home)) if settings.reuse else None,
            lessons=self._open_lessons(),
            step_delay_seconds=settings.step_delay_seconds,
            telemetry=build_telemetry(run_id, task, settings, secrets),
            **self._build_roles(secrets, run_id).as_ports(),
        )


def _find_lock(world: World) -> Lock:
    """Return the lock that a call of a tool holds while it uses the world. Agents that were derived from each other share it."""
    with FINDING:
        return IN_USE.setdefault(id(world), Lock())


def _refuse_inside_a_loop(call: str) -> None:
    if runs_loop():
        raise RuntimeError(f"an event loop runs here already, as in a notebook: write `await {call}`")


def build_agent(job: Job, folder: Path, approver: Approver | None) -> Agent:
    """Build the agent of a job. Its world writes into `folder`, for example downloads or the log of a simulated world.

    Raises `TaskInvalid` for a task that names skills or probes that the world does not have.
    """
    world = build_world(job.file.world, folder)
    check_against(job.file, expected_catalogue(job.file.world) if job.file.world.process else world.catalogue())
    return Agent(
        world=world,
        planner=None if job.file.planner.name == "model" else build_planner(job.file.planner),
        model=job.file.planner.model,
        approver=approver,
        settings=model_settings(job),
    )
