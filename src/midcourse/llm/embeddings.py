"""Embedder for any provider that pydantic-ai knows, and for any server with OpenAI's protocol."""

import math
from typing import Any

from pydantic_ai.embeddings import EmbeddingModel, infer_embedding_model
from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
from pydantic_ai.exceptions import ModelAPIError, UnexpectedModelBehavior, UserError
from pydantic_ai.providers import Provider, infer_provider

from midcourse.domain.records.lesson import Embedding
from midcourse.errors import TaskInvalid
from midcourse.llm.models import build_provider

LONGEST = 2000
"""Characters of a text that are sent."""


class ModelEmbedder:
    """Embeds texts with a model. It opens a connection for each text, since only failures are embedded."""

    def __init__(self, name: str, base_url: str = "") -> None:
        """`name` is `provider:model`. Raises `TaskInvalid` for an unknown name or a missing key."""
        self.name = name
        self._base_url = base_url
        self._build_model()  # raises if it cannot be built

    async def embed(self, text: str) -> Embedding:
        model, provider = self._build_model()
        try:
            async with provider:
                answer = await model.embed(text[:LONGEST], input_type="query")
        except (ModelAPIError, UnexpectedModelBehavior, ValueError) as error:
            raise ConnectionError(f"{self.name}: {error}") from error
        return Embedding(model=self.name, values=_normalize(answer.embeddings[0] if answer.embeddings else ()))

    def _build_model(self) -> tuple[EmbeddingModel, Provider[Any]]:
        kind, _, name = self.name.partition(":")
        try:
            if self._base_url and kind == "openai":
                served = build_provider(self._base_url)
                return OpenAIEmbeddingModel(name, provider=served), served
            provider = infer_provider(kind)
            return infer_embedding_model(self.name, provider_factory=lambda _: provider), provider
        except (UserError, ImportError, ValueError) as error:
            raise TaskInvalid(f"embedder '{self.name}': {error}") from error


def _normalize(values: Any) -> tuple[float, ...]:
    length = math.sqrt(math.fsum(value * value for value in values))
    if not length:
        raise ConnectionError("the embedding is empty")
    return tuple(value / length for value in values)
