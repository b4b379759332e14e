"""A claim of a run ends with what holds it: a process, a thread or a task."""

import asyncio
import gc
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from midcourse.errors import RunBusy
from midcourse.store.memory import MemoryStore
from midcourse.store.sqlite import SqliteStore

Claiming = SqliteStore | MemoryStore


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Claiming]:
    if request.param == "memory":
        yield MemoryStore()
        return
    with SqliteStore(tmp_path / "runs.db") as store:
        yield store


async def hold_for_ever(store: Claiming) -> None:
    with store.claim("r"):
        await asyncio.Event().wait()


@contextmanager
def loop_with_holder(store: Claiming) -> Generator[tuple[asyncio.AbstractEventLoop, list[Any]]]:
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda loop, context: None)  # it would tell of the task that was left pending
    kept = [loop.create_task(hold_for_ever(store))]
    loop.run_until_complete(asyncio.sleep(0))
    try:
        yield loop, kept
    finally:
        loop.close()


def test_claim_ends_with_the_loop_of_its_task(store: Claiming) -> None:
    with loop_with_holder(store) as (loop, kept):
        with pytest.raises(RunBusy, match=r"this process \(task 'Task-.*'\) is driving run 'r'"), store.claim("r"):
            pass
        assert store.is_claimed("r")
        loop.close()
        assert store.is_claimed("r") is False
        with store.claim("r"):
            kept.clear()
            gc.collect()  # the first holder's `finally` runs now, and does not release the second one's claim
            assert store.is_claimed("r")
            with pytest.raises(RunBusy), store.claim("r"):
                pass
        assert store.is_claimed("r") is False


def test_claim_of_a_loop_that_may_continue_is_kept(store: Claiming) -> None:
    with loop_with_holder(store) as (loop, kept):
        assert store.is_claimed("r")
        kept[0].cancel()
        loop.run_until_complete(asyncio.gather(*kept, return_exceptions=True))
        assert store.is_claimed("r") is False


def test_claim_ends_with_its_thread(store: Claiming) -> None:
    kept: list[Any] = []

    def claim() -> None:
        kept.append(store.claim("r"))
        kept[0].__enter__()

    thread = threading.Thread(target=claim)
    thread.start()
    thread.join()
    with store.claim("r"):
        pass


def test_forked_process_does_not_hold_what_its_parent_held(tmp_path: Path) -> None:
    """It outlives its parent's claim, and does not end it."""
    reading, writing = os.pipe()
    with SqliteStore(tmp_path / "runs.db") as store:
        with store.claim("r"):
            child = os.fork()
            if child:
                os.waitpid(child, 0)
            else:
                grandchild = os.fork()
                if grandchild:
                    os._exit(0)
                os.close(writing)
                os.read(reading, 1)
                os._exit(0)
            assert store.is_claimed("r")
        inode_is_free = store.is_claimed("r") is False
        os.close(writing)
        os.close(reading)
        assert inode_is_free
