"""The adapter of one system: reads the page from a request to the model, and writes moves as an answer in the format of that system."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from benchmarks.llm.decisions import Move, Page
from midcourse.testing.models import ChatRequest

Message: TypeAlias = Mapping[str, Any]
"""A message of the assistant, as in OpenAI's API: `content`, or `tool_calls`."""


class Dialect(Protocol):
    def read(self, request: ChatRequest) -> Page | list[Move] | Message:
        """Return the page that the request shows, or the moves that lead to one, or the answer to a request for something else."""
        ...

    def select_fitting(self, moves: list[Move]) -> list[Move]:
        """Return the moves that fit into one answer."""
        ...

    def write(self, moves: list[Move], page: Page, request: ChatRequest) -> Message: ...


def make_tool_calls(calls: Sequence[tuple[str, Mapping[str, Any]]], request: ChatRequest) -> Message:
    """Return a message with these tool calls."""
    return {
        "content": None,
        "tool_calls": [
            {
                "id": f"call_{request.number}_{n}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for n, (name, arguments) in enumerate(calls)
        ],
    }


def find_origin(address: str) -> str:
    return "/".join(address.split("/")[:3])
