"""Runs coroutines from plain code."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

R = TypeVar("R")


def run_blocking(call: Coroutine[Any, Any, R]) -> R:
    """Run a coroutine from plain code. If this thread already runs an event loop, run it in another thread."""
    if not runs_loop():
        return asyncio.run(call)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(copy_context().run, asyncio.run, call).result()


def runs_loop() -> bool:
    """Whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
