"""A scheduler of processes in one event loop: each call to a store or a world waits until the scheduler lets it proceed.

A process that is killed makes no further call, wherever it was. One that is not chosen for a while is a frozen one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tests.harness import START

T = TypeVar("T")


@dataclass(eq=False)
class Waiting:
    """A call that may proceed, or a sleeper until its time."""

    process: "Process"
    label: str
    proceeds: asyncio.Future[None]
    due: float = 0.0


@dataclass(eq=False)
class Process:
    """What can be killed at each of its calls."""

    scheduler: "Scheduler"
    name: str
    skew: float = 0.0
    """Seconds by which its clock is ahead."""
    dead: bool = False
    claimed: tuple[int, str] = (0, "")
    """Epoch and holder of its claim."""
    root: "asyncio.Task[Any] | None" = None

    def run(self, work: Coroutine[Any, Any, Any]) -> None:
        self.root = asyncio.get_running_loop().create_task(work, name=self.name)

    @property
    def is_live(self) -> bool:
        return not self.dead and self.root is not None and not self.root.done()

    def kill(self) -> None:
        """Its tasks are cancelled, and nothing that they do in consequence reaches a store or a world."""
        self.dead = True
        if self.root:
            self.root.cancel()

    async def gate(self, label: str) -> None:
        """Wait for the scheduler before this call."""
        if self.dead:
            raise asyncio.CancelledError
        await self.scheduler.wait(self, label)

    async def call(self, label: str, make: Callable[[], Awaitable[T]], *, writes: bool) -> T:
        """Make a call. A process can be killed before it, and after a write before its answer arrives."""
        await self.gate(label)
        with self.scheduler.in_flight():
            answer = await make()
        if writes:
            await self.gate(f"{label} answered")
        return answer

    # --- its clock

    def now(self) -> float:
        return self.scheduler.now + self.skew

    async def sleep(self, seconds: float) -> None:
        if self.dead:
            raise asyncio.CancelledError
        await self.scheduler.sleep(self, seconds)


@dataclass
class Scheduler:
    now: float = START
    waiting: list[Waiting] = field(default_factory=list[Waiting])
    sleeping: list[Waiting] = field(default_factory=list[Waiting])
    _calls: int = 0
    _landed: asyncio.Event = field(default_factory=asyncio.Event)

    async def wait(self, process: Process, label: str) -> None:
        await self._wait_in(self.waiting, process, label, 0.0)

    async def sleep(self, process: Process, seconds: float) -> None:
        await self._wait_in(self.sleeping, process, "sleep", self.now + max(0.0, seconds))

    async def _wait_in(self, group: list[Waiting], process: Process, label: str, due: float) -> None:
        one = Waiting(process, label, asyncio.get_running_loop().create_future(), due)
        group.append(one)
        try:
            await one.proceeds
        finally:
            if one in group:
                group.remove(one)
        if process.dead:
            raise asyncio.CancelledError

    @contextmanager
    def in_flight(self):
        """Count a call that may take real time."""
        self._calls += 1
        try:
            yield
        finally:
            self._calls -= 1
            self._landed.set()

    def proceed(self, one: Waiting) -> None:
        self.waiting.remove(one)
        one.proceeds.set_result(None)

    def advance(self, to: float) -> None:
        """Set the time, and wake those whose time it is."""
        self.now = max(self.now, to)
        for one in [one for one in self.sleeping if one.due <= self.now]:
            self.sleeping.remove(one)
            if not one.proceeds.done():
                one.proceeds.set_result(None)

    async def settle(self) -> None:
        """Let all tasks run until each waits for the scheduler."""
        ready = asyncio.get_running_loop()._ready  # pyrefly: ignore[missing-attribute]
        while True:
            await asyncio.sleep(0)
            if self._calls:
                self._landed.clear()
                await self._landed.wait()
            elif not ready:
                return
