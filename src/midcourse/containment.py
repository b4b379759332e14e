"""Containment of calls into user code and adapters: each ends in time, as a return value or as an `Exception`.

Python has exceptions that are not an `Exception`, and asyncio acts on each of them. A `CancelledError` ends a task without a trace,
`KeyboardInterrupt` and `SystemExit` leave the event loop in the middle of all other tasks. If user code raises one of them, for example
because it awaited a task that something else had cancelled, the run would never get an answer to its command.
"""

import asyncio
from types import TracebackType
from typing import Any

from midcourse.exception_text import describe_exception


class CallAborted(Exception):
    """A call raised something that is not an `Exception`, such as `CancelledError` or a time-out of gevent. Its outcome is unknown."""

    def __init__(self, raised: BaseException) -> None:
        super().__init__(describe_exception(raised))
        self.raised = raised


class Contained:
    """A context for one call: after `seconds` it raises `TimeoutError`, and what is not an `Exception` becomes `CallAborted`.

    Three things pass: the cancellation that this task was sent, what is thrown into a coroutine that is being closed, and exceptions
    that end the process. `keeps_process` contains those, too: for a world on a host, which also serves others.
    """

    def __init__(self, seconds: float | None = None, *, keeps_process: bool = False) -> None:
        self._seconds = seconds
        self._keeps_process = keeps_process

    async def __aenter__(self) -> None:
        if self._seconds is not None and self._seconds <= 0:
            raise TimeoutError  # the call is not begun: a plain function could not be interrupted
        self._task = asyncio.current_task()
        self._limit = asyncio.timeout(self._seconds)
        await self._limit.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, Exception) or self._passes(error):
            await self._limit.__aexit__(kind, error, trace)
            return
        aborted = CallAborted(error)
        await self._limit.__aexit__(CallAborted, aborted, None)
        raise aborted from error

    def _passes(self, error: BaseException) -> bool:
        if ends_process(error):
            return not self._keeps_process
        if not is_running(self._task):
            return True
        return isinstance(error, asyncio.CancelledError) and self._task is not None and self._task.cancelling() > 0


def ends_process(error: BaseException) -> bool:
    """Whether the exception asks the process to end: Ctrl-C or `sys.exit`, alone or in a group."""
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup((KeyboardInterrupt, SystemExit)) is not None
    return isinstance(error, KeyboardInterrupt | SystemExit)


def is_running(task: "asyncio.Task[Any] | None") -> bool:
    """Whether this task runs right now. Code of a task also runs when its coroutine is closed, and then it must only clean up."""
    try:
        return task is not None and asyncio.current_task() is task
    except RuntimeError:  # no event loop is running
        return False
