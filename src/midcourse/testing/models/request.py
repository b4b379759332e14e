"""A request to the scripted model, and the parts of it that tests and scripts read."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


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
