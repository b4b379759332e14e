"""Connections to models, each opened by the first call in an event loop and closed with the loop.

A connection belongs to the event loop that opened it. In another loop the answer to a call would be
lost, although it is paid for. To open one for each call would take 50 ms of CPU, because all trusted certificates are read.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from pydantic_ai.models import Model

from midcourse.llm.model_names import build_models, split_names


@dataclass(frozen=True, kw_only=True, eq=False)
class _OpenConnection:
    holding: AsyncGenerator[None]
    """A generator, because an event loop closes its generators before it is closed itself."""
    ready: asyncio.Event = field(default_factory=asyncio.Event)


_connections: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[int, _OpenConnection]] = WeakKeyDictionary()


async def connect(model: Model) -> None:
    """Open the model's connection in this event loop, or wait for the call that is opening it."""
    in_loop = _connections.setdefault(asyncio.get_running_loop(), {})
    # Several models, and wrappers around one, share a provider's connections.
    owner = id(model.provider or model)
    if owner in in_loop:
        await in_loop[owner].ready.wait()
        return
    in_loop[owner] = opening = _OpenConnection(holding=_hold_open(model, in_loop, owner))
    try:
        await anext(opening.holding)
    finally:
        opening.ready.set()


async def _hold_open(model: Model, in_loop: dict[int, _OpenConnection], owner: int) -> AsyncGenerator[None]:
    try:
        async with model:
            yield
    finally:
        in_loop.pop(owner, None)


async def check_listed(names: str, *, base_url: str = "") -> tuple[tuple[str, bool | None], ...]:
    """Each model by name, and whether its server lists it, which costs nothing. None: this provider has no list.

    Raises `TaskInvalid` for a missing key or an unknown name, and errors of the provider's library if no server answers.
    """
    models = build_models(names, base_url=base_url)
    return tuple([(name, await _is_listed(model)) for name, model in zip(split_names(names), models, strict=True)])


async def _is_listed(model: Model) -> bool | None:
    # OpenAI's library and Anthropic's have the same call for it.
    listing: Any = getattr(getattr(getattr(model, "client", None), "models", None), "list", None)
    if listing is None:
        return None
    await connect(model)
    return model.model_name in {each.id async for each in listing()}
