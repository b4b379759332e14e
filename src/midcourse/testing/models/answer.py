"""Answers of a scripted model: text, a tool call, a refusal, or a server error."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

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


def in_full(line: Line) -> Answer:
    return Says(line) if isinstance(line, (str, Mapping)) else line
