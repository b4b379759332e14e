"""Port of the embedder: texts to vectors, close to each other for texts of similar meaning."""

from typing import Protocol

from midcourse.domain.records.lesson import Embedding


class Embedder(Protocol):
    """Turns text into a vector, by which similar failures are found."""

    async def embed(self, text: str) -> Embedding:
        """A vector of unit length. Raises `OSError` if the provider cannot be reached."""
        ...
