"""What this process holds, such as locks, and for which task or thread: a lock ends with its holder.

A task may be torn down without its `finally`, for example by a second Ctrl-C during the cleanup after the first one. While the process
lives, the operating system keeps its locks. So whatever else needs a lock here releases it once its holder is gone.
"""

import os
import sys
import threading
import weakref
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio


@dataclass(frozen=True, eq=False)
class Holder:
    """The task that runs now, or the thread if no event loop runs in it."""

    thread: threading.Thread
    task: "weakref.ref[asyncio.Task[Any]] | None"

    @staticmethod
    def current() -> "Holder":
        task = None
        asyncio = sys.modules.get(
            "asyncio"
        )  # if nothing has imported it, no task runs: a command that only reads starts faster
        if asyncio is not None:
            with suppress(RuntimeError):
                task = asyncio.current_task()
        return Holder(threading.current_thread(), None if task is None else weakref.ref(task))

    @property
    def is_gone(self) -> bool:
        """Whether it can never continue. A task also cannot if its event loop was left and the thread of that loop has ended."""
        if self.task is None:
            return not self.thread.is_alive()
        task = self.task()
        if task is None or task.done() or task.get_loop().is_closed():
            return True
        return not (task.get_loop().is_running() or self.thread.is_alive())

    def __str__(self) -> str:
        task = None if self.task is None else self.task()
        return f"task '{task.get_name()}'" if task is not None else f"thread '{self.thread.name}'"


@dataclass(eq=False)
class _Held:
    holder: Holder
    release: Callable[[], object]
    forget: Callable[[], object] | None
    is_over: bool = False


_HELD: dict[Hashable, _Held] = {}
_one_at_a_time = threading.RLock()
"""Reentrant: garbage collection may close a coroutine that was torn down, and so release a lock, at any moment."""


@contextmanager
def hold(what: Hashable, release: Callable[[], object], forget: Callable[[], object] | None = None) -> Generator[None]:
    """Hold something until the context ends, or until its holder is gone and something else needs it. It is released once.

    `forget` is called in a forked process instead of `release`, which is the parent's.
    """
    held = _Held(Holder.current(), release, forget)
    with _one_at_a_time:
        _HELD[what] = held
    try:
        yield
    finally:
        _release(what, held)


def release_abandoned(what: Hashable) -> bool:
    """Release this if its holder is gone. Return whether it was."""
    held = _HELD.get(what)
    if held is None or not held.holder.is_gone:
        return False
    _release(what, held)
    return True


def holder_of(what: Hashable) -> Holder | None:
    """What holds this in this process."""
    held = _HELD.get(what)
    return held.holder if held else None


def _release(what: Hashable, held: _Held) -> None:
    with _one_at_a_time:
        if _HELD.get(what) is held:
            del _HELD[what]
        if not held.is_over:
            held.is_over = True
            held.release()


def _begin_child() -> None:
    global _one_at_a_time  # another thread of the parent may have had it
    _one_at_a_time = threading.RLock()
    inherited = [*_HELD.values()]
    _HELD.clear()
    for held in inherited:
        held.is_over = True
        if held.forget:
            held.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_child)
