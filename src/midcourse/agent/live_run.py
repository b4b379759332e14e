"""A run that this process drives."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext

from midcourse.agent.run_in_progress import RunInProgress
from midcourse.agent.start import start_under_key
from midcourse.containment import Contained
from midcourse.director.decide import why_no_effect
from midcourse.domain.approval import Decision, Question
from midcourse.domain.events import Control
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.drive import Progress
from midcourse.perform import Ports
from midcourse.policy.approval.objection import find_objection
from midcourse.policy.approval.question import bind_decision
from midcourse.ports.abilities import offers
from midcourse.ports.store import Claimable, Restorable, Store
from midcourse.ports.viewing import Attendable, Gesture, Handled, NotAttended, View, Watchable
from midcourse.ports.world import World
from midcourse.runtimes.driver import Driver


class LiveRun(RunInProgress):
    """A run that this process drives. `Agent.start` and `Agent.pick_up` make one.

    With a business key, `run_id` may change to that of an earlier run, at the latest with the first turn or the result.
    """

    def __init__(
        self,
        run: Run | str,
        task: Task | None = None,
        *,
        world: World,
        open_store: Callable[[], AbstractContextManager[Store]],
        ports: Callable[[Store, str, Task], Ports],
        again: bool = False,
        world_is_open: bool = False,
    ) -> None:
        """Start a new run, given `run` and `task`, or resume the stored run with this id. `ports` builds its ports."""
        self._latest: Run | None = None if isinstance(run, str) else run
        super().__init__(run if isinstance(run, str) else run.id, self._latest, open_store)
        self._world = world
        self._opened = ExitStack()
        self._store = self._opened.enter_context(open_store())
        self._ports = ports
        self._world_is_open = world_is_open
        self._unsent: list[Control] = []
        self._runtime: Driver | None = None
        self._task = asyncio.create_task(self._go(run, task, again), name=f"run {self.run_id}")

    @property
    def run(self) -> Run | None:
        return self._latest

    def _working(self) -> asyncio.Task[Result]:
        return self._task

    async def stop(self) -> None:
        """Stop driving the run where it is, so that it can be resumed."""
        self._task.cancel()
        await asyncio.wait([self._task])

    async def close(self) -> None:
        await self.stop()

    async def attend(self) -> str:
        return await self._world.attend()

    async def view(self, since: str) -> View | None:
        return await self._world.view(since) if offers(self._world, Watchable) else None

    async def handle(self, gestures: tuple[Gesture, ...], since: str | None) -> Handled:
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
            self._opened.close()

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
        self._before = run
        if offers(self._store, Restorable):
            self._store.check_records(run.id)
        runtime = Driver(self._ports(self._store, run.id, task), self._record)
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
