"""Port of the embedder: turns texts into vectors, which are close to each other for texts of similar meaning."""

from typing import Protocol

from midcourse.domain.records.lesson import Embedding


class Embedder(Protocol):
    """Turns a text into a vector. Similar failures are found by comparing vectors."""

    async def embed(self, text: str) -> Embedding:
        """A vector of unit length. Raises `OSError` if the provider cannot be reached."""
        ...
