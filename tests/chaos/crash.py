"""A port that kills its process at a chosen call."""

import os
import signal
from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast

T = TypeVar("T")


def _always(*_: object) -> bool:
    return True


def mortal(
    port: T,
    method: str,
    when: Literal["before", "after"],
    *,
    if_called_with: Callable[..., bool] = _always,
) -> T:
    """The same port, but the process is killed with SIGKILL around the first matching call of `method`.

    Nothing is cleaned up, flushed or printed: what a test finds afterwards is what had reached the disk.
    """
    return cast(T, _Mortal(port, method, when, if_called_with))


class _Mortal:
    def __init__(self, port: Any, method: str, when: str, matches: Callable[..., bool]) -> None:
        self._port = port
        self._method = method
        self._when = when
        self._matches = matches

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._port, name)
        return self._make_fatal(found) if name == self._method else found

    def _make_fatal(self, call: Callable[..., Any]) -> Callable[..., Any]:
        async def call_and_die(*arguments: Any, **more: Any) -> Any:
            fatal = self._matches(*arguments)
            if fatal and self._when == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            answer = await call(*arguments, **more)
            if fatal:
                os.kill(os.getpid(), signal.SIGKILL)
            return answer

        return call_and_die
