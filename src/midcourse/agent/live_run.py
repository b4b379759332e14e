"""A local run that is under way: follow its progress, control it, await its result."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, nullcontext

from midcourse.agent.start import start_under_key
from midcourse.containment import Contained
from midcourse.director.decide import why_no_effect
from midcourse.domain.approval import Decision, Question
from midcourse.domain.events import Control
from midcourse.domain.phases import Asking
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.drive import Progress
from midcourse.errors import Pending
from midcourse.perform import Ports
from midcourse.policy.approval.objection import find_objection
from midcourse.policy.approval.question import bind_decision
from midcourse.policy.task_state import TaskState, task_state
from midcourse.ports.abilities import offers
from midcourse.ports.controls import Controls
from midcourse.ports.store import Claimable, Store
from midcourse.ports.viewing import Attendable, Gesture, Handled, NotAttended, View, Watchable
from midcourse.ports.world import World
from midcourse.runtimes.driver import Driver
from midcourse.store.sqlite import SqliteStore

DECIDED_SECONDS = 0.5
"""The minimum seconds that a resumed run gets for reading a decision that was posted in the meantime."""


class LiveRun(Controls[str]):
    """A run that this process drives: iterate over its progress, control it, and await its result. `Agent.start` makes one.

    Progress is queued until it is iterated over, so starting late misses nothing. With a business key, `run_id` may change to that
    of an earlier run, at the latest with the first turn or the result.
    """

    def __init__(
        self,
        run: Run | str,
        task: Task | None = None,
        *,
        world: World,
        store: Store,
        ports: Callable[[str, Task], Ports],
        close_store: bool = False,
        again: bool = False,
        world_is_open: bool = False,
    ) -> None:
        """Start a new run, given `run` and `task`, or resume the stored run with this id. `ports` builds its ports."""
        self.run_id = run if isinstance(run, str) else run.id
        self._world = world
        self._store = store
        self._ports = ports
        self._close_store = close_store
        self._world_is_open = world_is_open
        self._latest: Run | None = None if isinstance(run, str) else run
        self._turns: asyncio.Queue[Progress | None] = asyncio.Queue()
        self._unsent: list[Control] = []
        self._runtime: Driver | None = None
        self._task = asyncio.create_task(self._go(run, task, again), name=f"run {self.run_id}")

    @property
    def task_state(self) -> TaskState:
        """The current state of the task."""
        return task_state(self._latest) if self._latest else "PENDING"

    async def result(self) -> Result:
        """Wait for the end of the run. Cancelling this stops the run where it is, so that it can be resumed."""
        return await self._task

    async def result_unless_asked(self, wait: float | None) -> Result:
        """Wait for the end of the run. If it waits for a decision longer than `wait` seconds, stop driving it and raise `Pending`.

        Cancelling this stops the run where it is, so that it can be resumed.
        """
        if wait is None:
            return await self.result()
        patience = max(wait, DECIDED_SECONDS)
        turns, asked, until = aiter(self), 0, None
        while True:
            try:
                async with asyncio.timeout_at(until):
                    turn = await anext(turns)
            except StopAsyncIteration:
                return await self.result()
            except TimeoutError:
                await self.stop()
                waits = f"run {self.run_id} waits for a decision: midcourse approve {self.run_id}"
                raise Pending(waits, self.run_id) from None
            except asyncio.CancelledError:
                await self.stop()
                raise
            phase = turn.run.phase
            question = phase.question if isinstance(phase, Asking) else 0
            if (
                question != asked
            ):  # later turns at the same question, such as looks at the world, do not extend the wait
                asked, until = question, asyncio.get_running_loop().time() + patience if question else None

    async def stop(self) -> None:
        """Stop driving the run where it is, so that it can be resumed."""
        self._task.cancel()
        await asyncio.wait([self._task])

    async def __aiter__(self) -> AsyncIterator[Progress]:
        while (turn := await self._turns.get()) is not None:
            yield turn
        await self._task

    async def attend(self) -> str:
        """Let a person act in the world of the paused run. Returns where to find it. Raises `ConnectionError` if that is not possible."""
        return await self._world.attend()

    async def view(self, since: str) -> View | None:
        """A picture of the run's world now, for a person who watches. None: it has no pictures."""
        return await self._world.view(since) if offers(self._world, Watchable) else None

    async def handle(self, gestures: tuple[Gesture, ...], since: str | None) -> Handled:
        """Repeat the gestures of a person who has taken over the world. Raises `NotAttended`."""
        if not offers(self._world, Attendable):
            raise NotAttended(f"a person cannot act in {self._world.name} from afar")
        return await self._world.handle(gestures, since)

    def answer(self, question: Question, decision: Decision, /) -> str:
        """Decide a question that the approver left open. Returns why the decision is refused, or an empty text."""
        objection = find_objection(question, decision)
        return objection.text if objection else self.tell(bind_decision(question, decision))

    def tell(self, event: Control, /) -> str:
        why_not = why_no_effect(self._latest, event) if self._latest else ""
        if not why_not and self._runtime:
            self._runtime.tell(event)
        elif not why_not:
            self._unsent.append(event)
        return why_not

    async def _go(self, run: Run | str, task: Task | None, again: bool) -> Result:
        try:
            async with Contained():  # a stray `CancelledError` would look as if this task had been cancelled
                if task is None or isinstance(run, str):
                    with self._claim(self.run_id):
                        return await self._drive(*await self._store.load(self.run_id))
                return await self._begin(run, task, again)
        finally:
            self._turns.put_nowait(None)
            if self._close_store and isinstance(self._store, SqliteStore):
                self._store.close()

    async def _begin(self, run: Run, task: Task, again: bool) -> Result:
        async def begin(after: str) -> Result:
            with self._claim(run.id):
                await self._store.begin(run, task, after=after)
                return await self._drive(run, task)

        async def resume(earlier: str) -> Result | None:
            with self._claim(earlier):
                if await self._store.result(earlier) is None:
                    return await self._drive(*await self._store.load(earlier))
            return None

        result = await start_under_key(self._store, task.key, begin=begin, resume=resume, again=again)
        self.run_id = result.run
        return result

    async def _drive(self, run: Run, task: Task) -> Result:
        self.run_id, self._latest = run.id, run
        if isinstance(self._store, SqliteStore):
            self._store.check_records(run.id)
        runtime = Driver(self._ports(run.id, task), self._record)
        self._runtime = runtime
        for event in self._unsent:
            runtime.tell(event)
        await runtime.resume(world_is_open=self._world_is_open)
        result = await self._store.result(run.id)
        assert result is not None, "a run that ended has a result"
        return result

    def _claim(self, run_id: str) -> AbstractContextManager[None]:
        return self._store.claim(run_id) if offers(self._store, Claimable) else nullcontext()

    def _record(self, progress: Progress) -> None:
        self._latest = progress.run
        self._turns.put_nowait(progress)
