"""Heartbeats of an activity, sent in the background."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from temporalio import activity


@contextmanager
def heartbeats() -> Generator[None]:
    """Send heartbeats in the background, three per heartbeat timeout."""
    timeout = activity.info().heartbeat_timeout
    assert timeout is not None, "every activity is watched"
    loop, pause = asyncio.get_running_loop(), timeout.total_seconds() / 3

    def beat() -> None:
        nonlocal next_beat
        activity.heartbeat()
        next_beat = loop.call_later(pause, beat)

    next_beat = loop.call_later(pause, beat)
    try:
        yield
    finally:
        next_beat.cancel()
