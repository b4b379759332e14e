"""Whether a model can be reached, found out without asking it anything that costs."""

from typing import Any

from pydantic_ai.models import Model

from midcourse.llm.connection import connect
from midcourse.llm.named import each_name, models_named


async def listed(names: str, *, base_url: str = "") -> tuple[tuple[str, bool | None], ...]:
    """Each model by name, and whether its server lists it. None: this provider cannot be asked.

    Raises `TaskInvalid` for a missing key or a name that means nothing, and what the provider's library raises if nothing answers.
    """
    models = models_named(names, base_url=base_url)
    return tuple([(name, await _is_listed(model)) for name, model in zip(each_name(names), models, strict=True)])


async def _is_listed(model: Model) -> bool | None:
    """OpenAI's library and Anthropic's have the same call for it."""
    listing: Any = getattr(getattr(getattr(model, "client", None), "models", None), "list", None)
    if listing is None:
        return None
    await connect(model)
    return model.model_name in {each.id async for each in listing()}
