"""A run that has begun, driven here or elsewhere: the interface of `LiveRun` and `FollowedRun`."""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager

from midcourse.domain.approval import Question
from midcourse.domain.phases import Asking
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.drive import Progress
from midcourse.errors import Pending
from midcourse.policy.task_state import TaskState, task_state
from midcourse.ports.abilities import offers
from midcourse.ports.controls import Controls, Questions
from midcourse.ports.store import Store
from midcourse.ports.viewing import Gesture, Handled, View
from midcourse.presentation.narration import Narrator

DECIDED_SECONDS = 0.5
"""The minimum seconds that a resumed run gets for reading a decision that was posted in the meantime."""


class RunInProgress(Controls[str]):
    """A run that has begun: iterate over its progress or its narration, control it, answer it, and await its result.

    `Agent.start` and `Agent.pick_up` drive one in this process (`LiveRun`); `Agent.follow` follows one that another process drives
    (`FollowedRun`). Both have these methods. Progress is queued until it is iterated over, so starting late misses nothing.
    """

    run_id: str

    def __init__(
        self, run_id: str, before: Run | None, open_store: Callable[[], AbstractContextManager[Store]]
    ) -> None:
        """`before` is the state before the first turn that is queued; None until it is known."""
        self.run_id = run_id
        self._before: Run | None = before
        self._open_store = open_store
        self._turns: asyncio.Queue[Progress | None] = asyncio.Queue()

    @property
    @abstractmethod
    def run(self) -> Run | None:
        """The latest known state. None: a run that is resumed has not been loaded yet."""

    @property
    def task_state(self) -> TaskState:
        """The current state of the task."""
        return task_state(self.run) if self.run else "PENDING"

    @abstractmethod
    def _working(self) -> asyncio.Task[Result]:
        """The task that drives or follows the run, and queues its turns and after them None."""

    async def result(self) -> Result:
        """Wait for the end of the run. Cancelling this does what `close` does."""
        return await self._working()

    async def result_unless_asked(self, wait: float | None) -> Result:
        """Wait for the end of the run. If it waits for a decision longer than `wait` seconds, `close` it here and raise `Pending`.

        Cancelling this closes it, too.
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
                await self.close()
                waits = f"run {self.run_id} waits for a decision: midcourse approve {self.run_id}"
                raise Pending(waits, self.run_id) from None
            except asyncio.CancelledError:
                await self.close()
                raise
            phase = turn.run.phase
            question = phase.question if isinstance(phase, Asking) else 0
            # later turns at the same question, such as looks at the world, do not extend the wait
            if question != asked:
                asked, until = question, asyncio.get_running_loop().time() + patience if question else None

    @abstractmethod
    async def close(self) -> None:
        """Let go of the run. One that is driven here stops where it is and can be resumed; one that is followed continues."""

    async def __aiter__(self) -> AsyncIterator[Progress]:
        work = self._working()
        while (turn := await self._turns.get()) is not None:
            yield turn
        await work

    async def narrate(self) -> AsyncIterator[str]:
        """Yield a sentence for each thing that happens in the run, from the first queued turn to its end."""
        narrator, begun = Narrator(), False
        async for turn in self:
            if not begun:
                begun = True
                narrator.add_commands(issued.command for issued in (self._before.pending if self._before else ()))
                await self._add_plans(narrator)
            elif narrator.new_plan_version(turn.event):
                await self._add_plans(narrator)
            if line := narrator.describe(turn.event, turn.commands):
                yield line.text

    async def _add_plans(self, narrator: Narrator) -> None:
        with self._open_store() as store:
            for plan in await store.plans(self.run_id):
                narrator.add_plan(plan)

    async def question(self) -> Question | None:
        """The open question of the run, if there is one."""
        with self._open_store() as store:
            return await store.open_question(self.run_id) if offers(store, Questions) else None

    @abstractmethod
    async def attend(self) -> str:
        """Let a person act in the world of the paused run. Returns where to find it. Raises `ConnectionError` if that is not possible."""

    @abstractmethod
    async def view(self, since: str) -> View | None:
        """A picture of the run's world now, for a person who watches. None: it has no pictures. Raises `ConnectionError`."""

    @abstractmethod
    async def handle(self, gestures: tuple[Gesture, ...], since: str | None) -> Handled:
        """Repeat the gestures of a person who has taken over the world. Raises `NotAttended` and `ConnectionError`."""
