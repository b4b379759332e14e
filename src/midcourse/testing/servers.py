"""Database server for tests and first tries."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["postgres_server"]


@contextmanager
def postgres_server(folder: Path | str) -> Generator[str]:
    """Start PostgreSQL in a folder, yield the owner's URL, and remove both. Needs the extra `up`."""
    from midcourse.store.postgres import development

    try:
        yield development.start(folder)
    finally:
        development.remove(folder)
