"""Runs a world in its own thread with its own event loop, so that a world that blocks does not delay the others."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

from midcourse.containment import CallAborted, Contained
from midcourse.domain.approval import CommitSet
from midcourse.domain.argument import Pairs
from midcourse.domain.observation import Observation, Unseen
from midcourse.domain.outcome import Outcome
from midcourse.ports.abilities import offers
from midcourse.ports.viewing import Attendable, Gesture, Handled, NotAttended, View, Watchable
from midcourse.ports.world import Call, Catalogue, Finding, Pictured, Rereads, Settling, World

T = TypeVar("T")


async def start_in_thread(make: Callable[[], World]) -> World:
    """Make a world in a new thread, since its constructor may block, and some objects belong to the thread that made them."""
    made: Future[Threaded] = Future()
    threading.Thread(target=lambda: asyncio.run(_run_world(make, made)), name="world", daemon=True).start()
    return await asyncio.wrap_future(made)


async def _run_world(make: Callable[[], World], made: "Future[Threaded]") -> None:
    over = asyncio.Event()
    try:
        made.set_result(Threaded(make(), asyncio.get_running_loop(), over))
    except BaseException as error:  # in a thread it would end nothing, and the session would wait for its world
        made.set_exception(error if isinstance(error, Exception) else CallAborted(error))
        return
    await over.wait()


async def _keep_thread(work: Coroutine[Any, Any, T]) -> T:
    """Await a call of the world. `SystemExit` would end its event loop without an answer to the call."""
    async with Contained(keeps_process=True):
        return await work


class Threaded:
    """A world in another thread. Every call is passed on to the event loop of that thread; `close` ends that loop."""

    def __init__(self, world: World, loop: asyncio.AbstractEventLoop, over: asyncio.Event) -> None:
        self._world = world
        self._loop = loop
        self._over = over

    @property
    def name(self) -> str:
        return self._world.name

    @property
    def fences(self) -> bool:
        return self._world.fences

    def catalogue(self) -> Catalogue:
        return self._world.catalogue()

    async def open(self) -> str:
        try:
            return await self._call(self._world.open())
        except BaseException:
            self._stop()
            raise

    async def attach(self, handle: str) -> bool:
        return await self._call(self._world.attach(handle))

    async def conceal(self, secrets: Pairs) -> None:
        await self._call(self._world.conceal(secrets))

    async def observe(self) -> Observation | Unseen:
        return await self._call(self._world.observe())

    async def settle(self) -> None:
        if offers(self._world, Settling):
            await self._call(self._world.settle())

    async def read_screenshot(self, digest: str) -> bytes | None:
        return await self._call(self._world.read_screenshot(digest)) if offers(self._world, Pictured) else None

    async def commit_set(self, call: Call) -> CommitSet | None:
        return await self._call(self._world.commit_set(call))

    async def reread(self, call: Call, names: tuple[str, ...]) -> tuple[str, ...] | None:
        return await self._call(self._world.reread(call, names)) if offers(self._world, Rereads) else None

    async def act(self, call: Call) -> Outcome:
        return await self._call(self._world.act(call))

    async def probe(self, name: str, arguments: Pairs) -> Finding:
        return await self._call(self._world.probe(name, arguments))

    async def view(self, since: str) -> View | None:
        return await self._call(self._world.view(since)) if offers(self._world, Watchable) else None

    async def handle(self, gestures: tuple[Gesture, ...], since: str | None) -> Handled:
        if not offers(self._world, Attendable):
            raise NotAttended(f"a person cannot act in {self._world.name} from afar")
        return await self._call(self._world.handle(gestures, since))

    async def attend(self) -> str:
        return await self._call(self._world.attend())

    async def bar(self, command: int) -> None:
        await self._call(self._world.bar(command))

    async def close(self) -> None:
        try:
            await self._call(self._world.close())
        finally:
            self._stop()

    async def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_keep_thread(work), self._loop))

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
