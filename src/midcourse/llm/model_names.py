"""Models by name: `provider:name`, and after `|` those that are asked if it cannot be reached."""

import os
import re
import threading

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from midcourse.errors import TaskInvalid

NO_KEY = "none"
"""For a server of one's own that asks for no key; the library wants one all the same."""


OPENAI = "OPENAI_API_KEY"
_OWN_SERVER = "; a server of your own needs none: export MIDCOURSE_MODEL_BASE_URL=http://127.0.0.1:8080/v1"
_KEY = re.compile(r"[Ss]et the `(\w+)` environment variable")
"""How the library says which variable has the key."""

MOST_KEPT = 32


class _Made(threading.local):
    """Of each thread, because what a model is reached by belongs to an event loop."""

    def __init__(self) -> None:
        self.models: dict[object, Model] = {}


_made = _Made()


def models_named(names: str, *, base_url: str = "") -> tuple[Model, ...]:
    """The same again for the same names and environment: to make one takes 50 ms, and runs share its connections.

    Raises `TaskInvalid` for a name that means nothing and for a key that is missing.
    """
    return tuple(_kept(name, base_url) for name in each_name(names))


def _kept(name: str, base_url: str) -> Model:
    key = (name, base_url, frozenset(os.environ.items()))
    if key not in _made.models:
        made = _model(name, base_url)
        if len(_made.models) >= MOST_KEPT:
            _made.models.clear()
        _made.models[key] = made
    return _made.models[key]


def each_name(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split("|"))


def _model(name: str, base_url: str) -> Model:
    provider, _, model = name.partition(":")
    if not (provider and model):
        raise TaskInvalid(f"model '{name}' is written provider:name, such as openai:gpt-5")
    try:
        if base_url and provider in ("openai", "openai-chat"):
            served = OpenAIProvider(base_url=base_url, api_key=os.environ.get(OPENAI) or NO_KEY)
            return OpenAIChatModel(model, provider=served)  # what servers of one's own speak
        return infer_model(name)
    except (UserError, ImportError, ValueError) as error:
        if key := _KEY.search(str(error)):
            raise TaskInvalid(
                f"model '{name}' needs a key: export {key[1]}=...{_OWN_SERVER if key[1] == OPENAI else ''}"
            ) from None
        raise TaskInvalid(f"model '{name}': {error}") from error
