"""Models by name: `provider:name`, with fallbacks after `|`."""

import os
import re
import threading

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from midcourse.errors import TaskInvalid

NO_KEY = "none"
"""For a local server that needs no key, since the library requires one."""


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


def build_models(names: str, *, base_url: str = "") -> tuple[Model, ...]:
    """Build the models, or return those that were built for the same names and environment.

    Building one takes 50 ms, and runs share its connections. Raises `TaskInvalid` for an unknown name or a missing key.
    """
    return tuple(_get_or_build(name, base_url) for name in split_names(names))


def _get_or_build(name: str, base_url: str) -> Model:
    key = (name, base_url, frozenset(os.environ.items()))
    if key not in _cache.models:
        model = _build_model(name, base_url)
        if len(_cache.models) >= MOST_KEPT:
            _cache.models.clear()
        _cache.models[key] = model
    return _cache.models[key]


def split_names(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split("|"))


def _build_model(name: str, base_url: str) -> Model:
    provider, _, model = name.partition(":")
    if not (provider and model):
        raise TaskInvalid(f"model '{name}' is written provider:name, such as openai:gpt-5")
    try:
        if base_url and provider in ("openai", "openai-chat"):
            served = OpenAIProvider(base_url=base_url, api_key=os.environ.get(OPENAI) or NO_KEY)
            return OpenAIChatModel(model, provider=served)  # local servers speak chat completions, not responses
        return infer_model(name)
    except (UserError, ImportError, ValueError) as error:
        if key := _KEY.search(str(error)):
            raise TaskInvalid(
                f"model '{name}' needs a key: export {key[1]}=...{_OWN_SERVER if key[1] == OPENAI else ''}"
            ) from None
        raise TaskInvalid(f"model '{name}': {error}") from error
