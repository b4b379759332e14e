"""Turns Ctrl-C and SIGTERM into callbacks or an event of the running event loop."""

import asyncio
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager


@contextmanager
def handle_signals(*, interrupt: Callable[[], None], terminate: Callable[[], None]) -> Generator[None]:
    """Call these on SIGINT and SIGTERM, where the platform lets an event loop handle signals."""
    loop = asyncio.get_running_loop()
    try:
        loop.add_signal_handler(signal.SIGINT, interrupt)
        loop.add_signal_handler(signal.SIGTERM, terminate)
    except (NotImplementedError, ValueError, RuntimeError):  # Windows, or not the main thread
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        loop.remove_signal_handler(signal.SIGTERM)


def stop_event() -> asyncio.Event:
    """An event that SIGINT and SIGTERM set, for commands that run until they are stopped."""
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    return stopped


async def is_set_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for the event for at most this long. Returns whether it is set."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
