"""Port of the embedder: texts to vectors, near each other where the texts mean the same."""

from typing import Protocol

from midcourse.domain.records.lesson import Embedding


class Embedder(Protocol):
    async def embed(self, text: str) -> Embedding:
        """A point of unit length. Raises `OSError` if the provider cannot be reached."""
        ...
