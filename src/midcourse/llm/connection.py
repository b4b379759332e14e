"""Connections to models: opened by the first call in an event loop, kept for the next, closed by the loop when it ends.

A connection belongs to the event loop that opened it. A library that is handed an old one loses the answer, which is
paid for by then; one that opens a new one for each call reads all trusted certificates each time, at 50 ms of CPU.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from pydantic_ai.models import Model


@dataclass(frozen=True, kw_only=True, eq=False)
class _Open:
    holding: AsyncGenerator[None]
    """A generator, because an event loop ends those before it ends itself."""
    ready: asyncio.Event = field(default_factory=asyncio.Event)


_open: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, _Open]] = WeakKeyDictionary()


async def connect(model: Model) -> None:
    """From here on the model can be asked in this event loop."""
    here = _open.setdefault(asyncio.get_running_loop(), {})
    whose = id(
        model.provider or model
    )  # several models, and what is wrapped around one, share a provider's connections
    if whose in here:
        await here[whose].ready.wait()
        return
    here[whose] = opening = _Open(holding=_held(model, here, whose))
    try:
        await anext(opening.holding)
    finally:
        opening.ready.set()


async def _held(model: Model, here: dict[int, _Open], whose: int) -> AsyncGenerator[None]:
    try:
        async with model:
            yield
    finally:
        here.pop(whose, None)
