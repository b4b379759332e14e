"""The agent: a world, a planner and a person, and tasks for them."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cached_property

from midcourse.app.defaults import DenyAll, EnvironmentVault, check_secrets, user
from midcourse.app.home import DATABASE, KEPT, LESSONS, open_home, open_store
from midcourse.app.key import Done, Free, Unfinished, standing_of
from midcourse.app.models.reserves import reserving
from midcourse.app.models.roles import Minds, embedder_for, minds_by
from midcourse.app.records.journal import journal_of
from midcourse.app.records.plan_diff import Comparison, compare
from midcourse.app.settings.run import Settings
from midcourse.director.decide import objection
from midcourse.domain.agreement import Agreement
from midcourse.domain.approval import Decision, Question
from midcourse.domain.argument import Reference
from midcourse.domain.budget import Limits
from midcourse.domain.event import CancelAsked, Control, Guided, PauseAsked, ResumeAsked
from midcourse.domain.expectation import Expectation, Probe
from midcourse.domain.plan import PlanVersion
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.drive import Progress
from midcourse.errors import KeyTaken, TaskInvalid
from midcourse.perform import Lessons, Ports
from midcourse.perform.asking import decided
from midcourse.policy.approval.check import why_needs_all_values
from midcourse.policy.evidence.verification import needs_reader
from midcourse.policy.failure.ineffective_settings import find_ineffective_setting
from midcourse.policy.spelling import unknown
from midcourse.policy.task_state import TaskState, task_state
from midcourse.ports.approver import Approver
from midcourse.ports.clock import Clock, SystemClock
from midcourse.ports.closeness import ClosenessJudge, WordOverlap
from midcourse.ports.detour import DetourPlanner
from midcourse.ports.embedder import Embedder
from midcourse.ports.extractor import Extractor
from midcourse.ports.judge import ProgressJudge, WordsSeen
from midcourse.ports.memory import Memory
from midcourse.ports.monitor import Monitor, Rules
from midcourse.ports.outliner import Outliner
from midcourse.ports.plan_cache import PlanCache
from midcourse.ports.planner import Planner
from midcourse.ports.reader import Pictures, Reader
from midcourse.ports.reflector import Reflector, RuleReflector
from midcourse.ports.store import Claimable, Store
from midcourse.ports.vault import Secrets, Vault, reveal_all
from midcourse.ports.verifier import Verifier
from midcourse.ports.world import World
from midcourse.redact import keep_out_of_logs
from midcourse.runtimes.local import LocalRuntime
from midcourse.store.sqlite import SqliteStore
from midcourse.store.sqlite_memory import SqliteMemory
from midcourse.store.sqlite_plan_cache import SqlitePlanCache


@dataclass(frozen=True)
class Agent:
    """Runs tasks in a world. Every run is kept in a store and can be resumed from there after a crash.

    Without an approver nobody can agree to anything irreversible: such a run ends as `rejected`. Without a planner a
    language model plans: `model`, or the one that the settings name.
    """

    world: World
    planner: Planner | None = None
    _: KW_ONLY
    model: str = ""
    approver: Approver | None = None
    settings: Settings | None = None
    store: Store | None = None
    clock: Clock | None = None
    vault: Vault | None = None
    segments: PlanCache | None = None
    """Where segments that worked are kept, if the setting `reuse` is on; by default in a file of the home."""
    memory: Memory | None = None
    """What earlier runs learned. Without one it is kept beside the runs, if those are in a file."""
    embedder: Embedder | None = None
    detour_planner: DetourPlanner | None = None
    """Finds a way to steps that are out of reach. Without one, they are planned around."""
    closeness_judge: ClosenessJudge | None = None
    """Says how near a detour's goal is; without one, the words on the screen do."""
    verifier: Verifier | None = None
    """Judges expectations that are only words. Without one a model does, if one is named."""
    extractor: Extractor | None = None
    """Reads what no skill brought back, likewise."""
    reader: Reader | None = None
    """Turns pictures into zones if the setting `vision` is on, likewise."""
    pictures: Pictures | None = None
    """Where the world keeps its screenshots."""
    outliner: Outliner | None = None
    """Names coarse goals, if the setting `outline` wants them. Without one, and without a model that plans, there are none."""
    progress_judge: ProgressJudge | None = None
    """Says how far the outline is; without one, the words on the screen do."""
    monitor: Monitor | None = None
    """Reviews the path, if the setting `monitor` wants it; without one, and without a model for it, rules do."""
    reflector: Reflector | None = None
    """Explains failures to whoever plans next; without one, and without a model for it, rules do."""

    def __post_init__(self) -> None:
        parts: dict[str, object] = {"world": self.world, "planner": self.planner, "approver": self.approver}
        for name, given in parts.items():
            if isinstance(given, type):
                raise TypeError(f"{name}: {given.__name__} is a class; give an object of it, {given.__name__}()")

    async def run(self, task: Task | str, *, run_id: str = "", again: bool = False) -> Result:
        """Carry out a task, or a goal in words, and say what came of it.

        If the task has a key and a run under it has done it, that run's result comes back and nothing is done; if a
        run under it was interrupted, that one goes on. `again` begins anew although a run that failed may have done it.
        """
        return await self.start(task, run_id=run_id, again=again).result()

    def run_sync(self, task: Task | str, *, run_id: str = "", again: bool = False) -> Result:
        """`run` for programs without an event loop. Raises `RuntimeError` where one runs already, such as in a notebook."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise RuntimeError("an event loop runs here already, as in a notebook: write `await agent.run(…)`")
        return asyncio.run(self.run(task, run_id=run_id, again=again))

    def start(self, task: Task | str, *, run_id: str = "", again: bool = False) -> "LiveRun":
        """Begin a run and stay in touch with it. Needs a running event loop."""
        task = self._under_settings(Task(goal=task) if isinstance(task, str) else task)
        minds = self._minds()
        task = replace(task, limits=reserving(task.limits, minds))
        check_secrets(task.secrets, self.vault or EnvironmentVault())
        check_references(task)
        run = new_run(
            task,
            run_id or new_run_id(),
            detours=self.detour_planner is not None or self._settings.detours,
            outlines=(self.outliner or minds.outliner) is not None,
            reflects=(self.reflector or minds.reflector) is not None,
        )
        return LiveRun(self, self._store, run, task, again=again)

    def _under_settings(self, task: Task) -> Task:
        """The task with the agent's settings and policy wherever it says nothing itself."""
        settings = self._settings
        return replace(
            task,
            limits=task.limits.over(settings.limits()),
            agreement=settings.agreement() if task.agreement == Agreement() else task.agreement,
            by=task.by or user(),
        )

    async def resume(self, run_id: str, *, restored: bool = False) -> Result:
        """Go on with a run whose process died. The world is looked at first; nothing finished is done again.

        Raises `StoreRestored` if the database is a copy or has lost records; `restored` accepts that.
        """
        return await self.pick_up(run_id, restored=restored).result()

    def pick_up(self, run_id: str, *, at_hand: bool = False, restored: bool = False) -> "LiveRun":
        """`resume`, staying in touch with the run. `at_hand`: its world is open already, and as the run left it."""
        store = self._store
        if restored and isinstance(store, SqliteStore):
            store.accept_records(run_id)
        return LiveRun(self, store, run_id, at_hand=at_hand)

    async def plans(self, run_id: str) -> tuple[PlanVersion, ...]:
        """Every plan version of a run: its parent, why it was made, from what, its steps, and what was repaired in it."""
        with self._open_store() as store:
            return await store.plans(run_id)

    async def compare_plans(self, run_id: str, earlier: int, later: int) -> Comparison:
        """What one plan version kept, changed, dropped and added. Raises `TaskInvalid` if there is no such version."""
        with self._open_store() as store:
            return compare(await journal_of(store, run_id), earlier, later)

    async def task_state(self, run_id: str) -> TaskState:
        """PENDING_APPROVAL, APPROVED, FAILED and so on: how the task stands, whoever drives the run."""
        with self._open_store() as store:
            return task_state((await store.load(run_id))[0])

    @contextmanager
    def _open_store(self) -> Generator[Store]:
        """A store of our own is open only for as long as it is used."""
        store = self._store
        try:
            yield store
        finally:
            if self.store is None and isinstance(store, SqliteStore):
                store.close()

    @cached_property
    def _settings(self) -> Settings:
        return self.settings or Settings.load()

    @property
    def _store(self) -> Store:
        return self.store or open_store(self._settings.home)

    def _minds(self, secrets: Secrets = (), run: str = "") -> Minds:
        """Others for each run: runs may be in event loops of their own, which share no connections."""
        minds = minds_by(self._settings, planner=self.planner, model=self.model, secrets=secrets, run=run)
        return replace(
            minds,
            verifier=self.verifier or minds.verifier,
            extractor=self.extractor or minds.extractor,
            reader=self.reader or minds.reader,
        )

    @property
    def _lessons(self) -> Lessons | None:
        settings, memory = self._settings, self.memory
        if memory is None and (self.store is None or isinstance(self.store, SqliteStore)):
            runs = self.store.path if self.store else open_home(settings.home) / DATABASE
            memory = SqliteMemory(runs.with_name(LESSONS), agent=settings.agent)
        if memory is None or not settings.lessons:
            return None
        embedder = self.embedder or embedder_for(settings)
        return Lessons(memory=memory, embedder=embedder, above=settings.lesson_similarity)

    def ports(self, store: Store, run_id: str, task: Task) -> Ports:
        vault = self.vault or EnvironmentVault()
        secrets = reveal_all(vault, task.secrets)
        keep_out_of_logs(secrets)
        minds = self._minds(secrets, run_id)
        return Ports(
            run_id=run_id,
            task=task,
            world=self.world,
            planner=minds.planner,
            verifier=minds.verifier,
            extractor=minds.extractor,
            reader=minds.reader,
            pictures=self.pictures,
            approver=self.approver or DenyAll(),
            store=store,
            clock=self.clock or SystemClock(),
            vault=vault,
            segments=(self.segments or SqlitePlanCache(open_home(self._settings.home) / KEPT))
            if self._settings.reuse
            else None,
            lessons=self._lessons,
            step_delay_seconds=self._settings.step_delay_seconds,
            detour_planner=self.detour_planner or minds.detour_planner,
            closeness_judge=self.closeness_judge or minds.closeness_judge or WordOverlap(),
            outliner=self.outliner or minds.outliner,
            progress_judge=self.progress_judge or minds.judge or WordsSeen(),
            monitor=self.monitor or minds.monitor or Rules(),
            reflector=self.reflector or minds.reflector or RuleReflector(),
        )


class LiveRun:
    """A run under way: iterate over its progress, pause, resume, guide or cancel it, await its result.

    What happens is kept until somebody iterates, so nothing is missed by beginning late. Under a business key `run_id`
    may turn out to be that of an earlier run, at the latest when the first turn or the result is there.
    """

    def __init__(
        self,
        agent: Agent,
        store: Store,
        run: Run | str,
        task: Task | None = None,
        *,
        again: bool = False,
        at_hand: bool = False,
    ) -> None:
        self.run_id = run if isinstance(run, str) else run.id
        self._agent = agent
        self._store = store
        self._own_store = agent.store is None
        self._at_hand = at_hand
        self._latest: Run | None = None if isinstance(run, str) else run
        self._turns: asyncio.Queue[Progress | None] = asyncio.Queue()
        self._unsent: list[Control] = []
        self._runtime: LocalRuntime | None = None
        self._task = asyncio.create_task(self._go(run, task, again), name=f"run {self.run_id}")

    @property
    def task_state(self) -> TaskState:
        """How the task stands by now."""
        return task_state(self._latest) if self._latest else "PENDING"

    async def result(self) -> Result:
        """What the run came to. Cancelling this waits for nothing and leaves the run to be resumed."""
        return await self._task

    async def __aiter__(self) -> AsyncIterator[Progress]:
        while (turn := await self._turns.get()) is not None:
            yield turn
        await self._task

    def pause(self) -> str:
        """After the step under way. Returns why it would come to nothing, or nothing."""
        return self.tell(PauseAsked())

    def resume(self) -> str:
        return self.tell(ResumeAsked())

    def cancel(self) -> str:
        """After the step under way: an act is never broken off."""
        return self.tell(CancelAsked())

    def guide(self, text: str) -> str:
        """Advice for the next plan."""
        return self.tell(Guided(text=text))

    async def attend(self) -> str:
        """While it is paused: have a person act in its world. Says where. Raises `ConnectionError` if that cannot be."""
        return await self._agent.world.attend()

    def answer(self, question: Question, decision: Decision) -> str:
        """Decide a question that an approver put out without waiting. Returns why it is not taken, or nothing."""
        return why_needs_all_values(question, decision) or self.tell(decided(question, decision))

    def tell(self, event: Control) -> str:
        why_not = objection(self._latest, event) if self._latest else ""
        if not why_not and self._runtime:
            self._runtime.tell(event)
        elif not why_not:
            self._unsent.append(event)
        return why_not

    async def _go(self, run: Run | str, task: Task | None, again: bool) -> Result:
        try:
            if task is None or isinstance(run, str):
                return await self._pick_up(self.run_id)
            return await self._begin(run, task, again)
        finally:
            self._turns.put_nowait(None)
            if self._own_store and isinstance(self._store, SqliteStore):
                self._store.close()

    async def _begin(self, run: Run, task: Task, again: bool) -> Result:
        while True:
            match await standing_of(self._store, task.key, again=again):
                case Done(result=result):
                    self.run_id = result.run
                    return result
                case Unfinished(run=earlier):
                    with self._claim(earlier):
                        if await self._store.result(earlier) is None:
                            return await self._drive(*await self._store.load(earlier))
                case Free(after=after):
                    try:
                        with self._claim(run.id):
                            await self._store.begin(run, task, after=after)
                            return await self._drive(run, task)
                    except KeyTaken:
                        continue  # somebody else was faster: see what they make of it

    async def _pick_up(self, run_id: str) -> Result:
        with self._claim(run_id):
            return await self._drive(*await self._store.load(run_id))

    async def _drive(self, run: Run, task: Task) -> Result:
        self.run_id, self._latest = run.id, run
        if isinstance(self._store, SqliteStore):
            self._store.check_records(run.id)
        runtime = LocalRuntime(self._agent.ports(self._store, run.id, task), self._heard)
        self._runtime = runtime
        for event in self._unsent:
            runtime.tell(event)
        await runtime.resume(at_hand=self._at_hand)
        result = await self._store.result(run.id)
        assert result is not None, "a run that ended has a result"
        return result

    def _claim(self, run_id: str) -> AbstractContextManager[None]:
        return self._store.claim(run_id) if isinstance(self._store, Claimable) else nullcontext()

    def _heard(self, progress: Progress) -> None:
        self._latest = progress.run
        self._turns.put_nowait(progress)


def check_references(task: Task) -> None:
    """Raises `TaskInvalid` for a `done_when` that refers to what the task does not have."""
    known = {"input": tuple(dict(task.inputs)), "secret": task.secrets, "file": task.files}
    arguments = task.done_when.arguments if isinstance(task.done_when, Probe) else ()
    for _, value in arguments:
        if isinstance(value, Reference) and value.name not in known.get(value.source, (value.name,)):
            raise TaskInvalid(f"done_when: {unknown(value.source, value.name, known[value.source])}")


def new_run(task: Task, run_id: str, *, detours: bool = False, outlines: bool = False, reflects: bool = False) -> Run:
    """`detours`, `outlines` and `reflects`: somebody is there to plan and to draw them, and to explain failures.

    Raises `TaskInvalid` for a limit that can never take effect, and if four eyes are to see it and nobody says whose are the
    first two.
    """
    changed = [field.name for field in fields(Limits) if getattr(task.limits, field.name) != field.default]
    if why := find_ineffective_setting(task.limits, changed):
        raise TaskInvalid(why)
    if task.agreement.four_eyes and not task.by.strip():
        raise TaskInvalid("four_eyes: whoever starts the run must not decide its questions, so say who that is (`by`)")
    return Run(
        id=run_id,
        limits=task.limits,
        has_done_when=task.done_when is not None,
        has_detours=detours,
        done_in_words=isinstance(task.done_when, Expectation) and needs_reader(task.done_when),
        wants_data=bool(task.output),
        has_outliner=outlines,
        has_reflector=reflects,
        not_by=task.by if task.agreement.four_eyes else "",
    )


def new_run_id() -> str:
    """Sorts by time, and nobody else has it."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}"
