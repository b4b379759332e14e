"""Script of a model: a list of answers, or a function of the request."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from threading import Lock
from typing import TypeAlias

from midcourse.errors import TaskInvalid
from midcourse.testing.models.answer import Answer, Fails, Line, in_full
from midcourse.testing.models.request import ChatRequest

Script: TypeAlias = Sequence[Line] | Callable[[ChatRequest], Line]
"""The first answer to the first request, the second to the second, and the last one from then on."""


def answering(script: Script) -> Callable[[ChatRequest], Answer]:
    ask = script if callable(script) else _in_order(script)
    return lambda request: in_full(ask(request))


def _in_order(lines: Sequence[Line]) -> Callable[[ChatRequest], Line]:
    if not lines:
        raise TaskInvalid("a scripted model needs at least one answer")
    return lambda request: lines[min(request.number, len(lines) - 1)]


class Limited:
    """A script behind a rate limit: at most this number of requests in any span of `seconds`. Further requests get a 429 with the
    time to wait.

    `refused` counts those. The server lists them among its requests, but does not pass them to the script.
    """

    def __init__(
        self, script: Script, *, requests: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._script = script
        self._clock = clock
        self._requests, self._seconds = requests, seconds
        self._answered: deque[float] = deque(maxlen=requests)
        self._lock = Lock()
        self._passed = 0
        self.refused = 0

    def __call__(self, request: ChatRequest) -> Answer:
        with self._lock:
            now = self._clock()
            if len(self._answered) == self._requests and (left := self._answered[0] + self._seconds - now) > 0:
                self.refused += 1
                return Fails(429, "rate limit reached", retry_after=left)
            self._answered.append(now)
            number, self._passed = self._passed, self._passed + 1
        return answering(self._script)(ChatRequest(number=number, headers=request.headers, body=request.body))
