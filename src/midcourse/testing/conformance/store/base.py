"""Base of the conformance suites for stores: creates and closes a store, and compares records."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from inspect import isawaitable
from pathlib import Path
from typing import Any, TypeVar

from midcourse.domain.records.answers import AskedConsequence
from midcourse.errors import MidcourseError
from midcourse.ports.store import Store
from midcourse.testing.conformance.store_samples import (
    turns,
)


def asked(run: str, question: int, shape: str, consequence: str) -> AskedConsequence:
    return AskedConsequence(run=run, question=question, shape=shape, consequence=consequence)


async def keep_all(store: Store, run_id: str) -> None:
    for turn in turns(run_id):
        await store.save_turn(*turn)


@contextmanager
def refused(error: type[MidcourseError]) -> Generator[None]:
    """As `pytest.raises`, so that importing this module needs no pytest."""
    try:
        yield
    except error:
        return
    raise AssertionError(f"{error.__name__} was not raised")


def same(found: object, expected: object) -> bool:
    """Equality that tells True from 1 and 1 from 1.0: an approval binds what is sent, to the letter."""
    return found == expected and repr(found) == repr(expected)


class StoreSuite:
    """Creates and closes a store. Each test runs in one event loop."""

    def make_store(self, tmp_path: Path) -> Store:
        """An empty store, a new one for each test."""
        raise NotImplementedError

    def reopen(self, store: Store) -> Store | None:
        """The same store as another process would find it; None if it does not outlive its process."""
        return None

    async def close_store(self, store: Store) -> None:
        """Called at the end for every store that was made or reopened. Calls its `close`, if it has one."""
        close: Callable[[], Any] | None = getattr(store, "close", None)
        if close is not None:
            closing = close()
            if isawaitable(closing):
                await closing

    @asynccontextmanager
    async def opened(self, tmp_path: Path) -> AsyncGenerator[Store]:
        store = self.make_store(tmp_path)
        try:
            yield store
        finally:
            await self.close_store(store)


S = TypeVar("S", bound=StoreSuite)


def with_store(
    body: Callable[[S, Store], Awaitable[None]],
) -> Callable[[S, Path], None]:
    """A coroutine over an open store as a plain test. Not `functools.wraps`: pytest would ask for its parameters."""

    def test(self: S, tmp_path: Path) -> None:
        async def play() -> None:
            async with self.opened(tmp_path) as store:
                await body(self, store)

        asyncio.run(play())

    test.__name__, test.__qualname__, test.__doc__ = body.__name__, body.__qualname__, body.__doc__
    return test
