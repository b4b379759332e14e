"""Connections to models: opened by the first call, kept for the next, closed with the event loop or with whoever asks.

A connection belongs to the event loop that opened it. A library that is handed an old one loses the answer, which is
paid for by then; one that opens a new one for each call reads all trusted certificates each time, at 50 ms of CPU.
"""

import asyncio
from collections.abc import AsyncGenerator
from weakref import WeakKeyDictionary

from pydantic_ai.models import Model


class Connections:
    """Those of one who asks. What holds them is a generator, because event loops and garbage collection end those properly."""

    def __init__(self) -> None:
        self._held: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, AsyncGenerator[None]]] = WeakKeyDictionary()

    async def ready(self, model: Model) -> None:
        """From here on the model can be asked in this event loop."""
        held = self._held.setdefault(asyncio.get_running_loop(), {})
        if id(model) not in held:
            held[id(model)] = _holding(model)
            await anext(held[id(model)])


async def _holding(model: Model) -> AsyncGenerator[None]:
    async with model:
        yield
