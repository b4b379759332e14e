"""What an adapter does for one system: it reads the page out of a request to the model, and writes moves as that system expects an answer."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from benchmarks.llm.decisions import Move, Page
from midcourse.testing.models import ChatRequest

Message: TypeAlias = Mapping[str, Any]
"""Of the assistant, as in OpenAI's API: `content`, or `tool_calls`."""


class Dialect(Protocol):
    def read(self, request: ChatRequest) -> Page | list[Move] | Message:
        """The page that the request shows. Where it shows none: what to do to see one. Where it asks for something else: the answer."""
        ...

    def fitting(self, moves: list[Move]) -> list[Move]:
        """Those that one answer can hold."""
        ...

    def write(self, moves: list[Move], page: Page, request: ChatRequest) -> Message: ...


def calls(made: Sequence[tuple[str, Mapping[str, Any]]], request: ChatRequest) -> Message:
    """Calls of tools."""
    return {
        "content": None,
        "tool_calls": [
            {
                "id": f"call_{request.number}_{n}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for n, (name, arguments) in enumerate(made)
        ],
    }


def origin_of(address: str) -> str:
    return "/".join(address.split("/")[:3])
