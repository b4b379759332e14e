"""Script of a model: the requests that it is asked, the answers that it gives, and their order."""

import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal, TypeAlias

from midcourse.errors import TaskInvalid

Finish: TypeAlias = Literal["stop", "length", "content_filter", "tool_calls"]


@dataclass(frozen=True)
class Usage:
    """Tokens as the server reports them, regardless of the text. `cached` are among those of the prompt."""

    prompt: int
    completion: int
    cached: int = 0


@dataclass(frozen=True)
class Says:
    """Answers with this text, or with this value as JSON. It is not checked against the schema of the request, and text need not be
    JSON. Empty text is an empty answer.
    """

    content: str | Mapping[str, Any] | Sequence[Any]
    usage: Usage | None = None
    """Without one, a token for every four letters."""
    finish: Finish = "stop"


@dataclass(frozen=True)
class Calls:
    """Calls a tool. If the arguments are text, they are sent unchanged, even if they are not JSON."""

    tool: str
    arguments: str | Mapping[str, Any]
    usage: Usage | None = None
    id: str = "call_0"


@dataclass(frozen=True)
class Refuses:
    """A refusal with a reason."""

    why: str = "I cannot help with that."
    usage: Usage | None = None


@dataclass(frozen=True)
class Fails:
    """An HTTP error: 429 with `retry_after` seconds, 500, 401, 400."""

    status: int = 500
    message: str = "scripted failure"
    retry_after: float | None = None


@dataclass(frozen=True)
class Blurts:
    """Status 200 with exactly this body, which may be neither JSON nor a completion."""

    body: str = '{"id": "chatcmpl-'


@dataclass(frozen=True)
class Late:
    """The answer after a delay."""

    answer: "Line"
    seconds: float


@dataclass(frozen=True)
class Slow:
    """The answer's bytes arrive a few at a time, all of them after `seconds`."""

    answer: "Line"
    seconds: float


@dataclass(frozen=True)
class Cut:
    """The connection breaks after this share of the answer's bytes."""

    answer: "Line"
    share: float = 0.5


Answer: TypeAlias = Says | Calls | Refuses | Fails | Blurts | Late | Slow | Cut

Line: TypeAlias = Answer | str | Mapping[str, Any]
"""As it is written in a script: text and values are short for `Says`."""


def complete_line(line: Line) -> Answer:
    return Says(line) if isinstance(line, (str, Mapping)) else line


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """One request for a chat completion. `number` counts from 0."""

    number: int
    headers: Mapping[str, str]
    """The HTTP headers, with names in lower case."""
    body: Mapping[str, Any]

    @property
    def model(self) -> str:
        return self.body.get("model", "")

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        return self.body.get("messages", [])

    @property
    def text(self) -> str:
        """The text of all messages."""
        return "\n".join(part["text"] for part in self._parts() if "text" in part)

    @property
    def system(self) -> str:
        return "\n".join(part["text"] for part in self._parts("system", "developer") if "text" in part)

    @property
    def images(self) -> tuple[str, ...]:
        """The addresses of pictures; `data:` where they came along."""
        return tuple(part["image_url"]["url"] for part in self._parts() if "image_url" in part)

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema that the answer was to follow; empty if none was given."""
        wanted: Any = self.body.get("response_format") or {}
        return wanted.get("json_schema", {}).get("schema", {})

    @property
    def role(self) -> str:
        """The role that asks, which is the name of the answer's schema or of the first tool."""
        wanted: Any = self.body.get("response_format") or {}
        return wanted.get("json_schema", {}).get("name", "") or next(iter(self.tools), "")

    @property
    def tools(self) -> tuple[str, ...]:
        return tuple(tool["function"]["name"] for tool in self.body.get("tools") or ())

    @property
    def streams(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def wants_usage(self) -> bool:
        """Whether a stream is to end with the tokens that it took."""
        options: Any = self.body.get("stream_options") or {}
        return bool(options.get("include_usage"))

    def _parts(self, *roles: str) -> Iterator[Mapping[str, Any]]:
        for message in self.messages:
            content: Any = message.get("content") or ""
            if not roles or message.get("role") in roles:
                yield from [{"text": content}] if isinstance(content, str) else content

    @property
    def tokens(self) -> int:
        """One for every four letters of what the model was given."""
        return len(json.dumps([self.messages, self.body.get("tools"), self.body.get("response_format")])) // 4


Script: TypeAlias = Sequence[Line] | Callable[[ChatRequest], Line]
"""The first answer to the first request, the second to the second, and the last one from then on."""


def make_answerer(script: Script) -> Callable[[ChatRequest], Answer]:
    ask = script if callable(script) else _in_order(script)
    return lambda request: complete_line(ask(request))


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
        return make_answerer(self._script)(ChatRequest(number=number, headers=request.headers, body=request.body))
