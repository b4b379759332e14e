"""Connections to models: opened by the first call, kept for the next, closed with the event loop or with whoever asks.

A connection belongs to the event loop that opened it. A library that is handed an old one loses the answer, which is
paid for by then; one that opens a new one for each call reads all trusted certificates each time, at 50 ms of CPU.
"""

import asyncio
from collections.abc import AsyncGenerator
from weakref import WeakKeyDictionary, finalize, ref

from pydantic_ai.models import Model


class Connections:
    """Those of one who asks. A generator holds them, because an event loop ends its generators before it ends itself."""

    def __init__(self) -> None:
        self._ready: WeakKeyDictionary[asyncio.AbstractEventLoop, set[int]] = WeakKeyDictionary()

    async def ready(self, model: Model) -> None:
        """From here on the model can be asked in this event loop."""
        loop = asyncio.get_running_loop()
        ready = self._ready.setdefault(loop, set())
        if id(model) in ready:
            return
        ready.add(id(model))
        holding = _holding(model)
        finalize(self, _let_go, ref(loop), holding).atexit = False
        await anext(holding)


async def _holding(model: Model) -> AsyncGenerator[None]:
    async with model:
        yield


def _let_go(loop: ref[asyncio.AbstractEventLoop], holding: AsyncGenerator[None]) -> None:
    """Nobody asks any more. If the loop is gone, so are its generators."""
    there = loop()
    if there is not None and not there.is_closed():
        there.call_soon_threadsafe(_close, there, holding)


def _close(loop: asyncio.AbstractEventLoop, holding: AsyncGenerator[None]) -> None:
    closing = loop.create_task(holding.aclose())
    _closing.add(closing)
    closing.add_done_callback(_closing.discard)


_closing: set[asyncio.Task[None]] = set()
"""An event loop forgets a task that nobody else holds."""
