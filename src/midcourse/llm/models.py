"""Models by name (`provider:name`, with fallbacks after `|`), each built once, and their connections.

A connection is opened by the first call in an event loop and closed with the loop. In another loop the answer to a call would be
lost, although it is paid for. To open one for each call would take 50 ms of CPU, because all trusted certificates are read.
"""

import asyncio
import os
import re
import threading
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles import ModelProfile, merge_profile
from pydantic_ai.providers.openai import OpenAIProvider

from midcourse.errors import TaskInvalid

OPENAI = "OPENAI_API_KEY"
_OWN_SERVER = "; a server of your own needs none: export MIDCOURSE_MODEL_BASE_URL=http://127.0.0.1:8080/v1"
_KEY = re.compile(r"[Ss]et the `(\w+)` environment variable")
"""The library's message that names the variable of the key."""

MOST_KEPT = 32


class _ModelCache(threading.local):
    """The models that were built, for each thread, because a model's connections belong to an event loop."""

    def __init__(self) -> None:
        self.models: dict[object, Model] = {}


_cache = _ModelCache()


def build_models(names: str, *, base_url: str = "", thinks: bool = False) -> tuple[Model, ...]:
    """Build the models, or return those that were built for the same names and environment.

    `thinks` says so of the models of a server at `base_url`, of which the library knows nothing. Building one takes 50 ms, and runs share
    its connections. Raises `TaskInvalid` for an unknown name or a missing key.
    """
    environment, built = frozenset(os.environ.items()), list[Model]()
    for name in split_names(names):
        key = (name, base_url, thinks, environment)
        if key not in _cache.models:
            model = _build_model(name, base_url, thinks)
            if len(_cache.models) >= MOST_KEPT:
                _cache.models.clear()
            _cache.models[key] = model
        built.append(_cache.models[key])
    return tuple(built)


def build_provider(base_url: str) -> OpenAIProvider:
    """Return the provider for a server with OpenAI's protocol. Without a key it gets one, since the library requires one."""
    return OpenAIProvider(base_url=base_url, api_key=os.environ.get(OPENAI) or "none")


def split_names(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split("|"))


def _build_model(name: str, base_url: str, thinks: bool) -> Model:
    provider, _, model = name.partition(":")
    if not (provider and model):
        raise TaskInvalid(f"model '{name}' is written provider:name, such as openai:gpt-5")
    try:
        if base_url and provider in ("openai", "openai-chat"):
            # Local servers speak chat completions, not responses.
            known = OpenAIChatModel(model, provider=build_provider(base_url))
            if not thinks or known.profile.get("supports_thinking", False):
                return known
            profile = ModelProfile(supports_thinking=True, thinking_enabled_by_default=True)
            return OpenAIChatModel(
                model, provider=build_provider(base_url), profile=merge_profile(known.profile, profile)
            )
        return infer_model(name)
    except (UserError, ImportError, ValueError) as error:
        if key := _KEY.search(str(error)):
            raise TaskInvalid(
                f"model '{name}' needs a key: export {key[1]}=...{_OWN_SERVER if key[1] == OPENAI else ''}"
            ) from None
        raise TaskInvalid(f"model '{name}': {error}") from error


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
