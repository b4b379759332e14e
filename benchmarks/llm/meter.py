"""Counts what a model is asked and answers: calls, tokens, and what they would cost.

Tokens in are everything that a provider bills as text: messages, tools and answer schema. Cached is the longest beginning that an
earlier request of the run had, from 1,024 tokens in steps of 128. Prices are OpenAI's list prices of gpt-5.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from midcourse.testing.models import ChatRequest

PRICE_IN, PRICE_CACHED, PRICE_OUT = 1.25, 0.125, 10.0
"""US dollars per million tokens."""
CACHED_FROM, CACHED_STEP = 1_024, 128


@dataclass(frozen=True, kw_only=True)
class Call:
    tokens_in: int
    cached: int
    tokens_out: int
    prompt: str
    answer: str


class Meter:
    """Without `encode` it counts calls only."""

    def __init__(self, encode: Callable[[str], list[int]] | None = None) -> None:
        self.calls: list[Call] = []
        self._encode = encode
        self._seen: list[list[int]] = []
        self._lock = Lock()

    def count(self, request: ChatRequest, answer: str) -> Call:
        with self._lock:
            self.calls.append(call := self._counted(billed(request), answer))
        return call

    def _counted(self, prompt: str, answer: str) -> Call:
        if self._encode is None:
            return Call(tokens_in=0, cached=0, tokens_out=0, prompt=prompt, answer=answer)
        tokens = self._encode(prompt)
        common = max((_common(earlier, tokens) for earlier in self._seen), default=0)
        cached = common // CACHED_STEP * CACHED_STEP if common >= CACHED_FROM else 0
        self._seen.append(tokens)
        return Call(
            tokens_in=len(tokens), cached=cached, tokens_out=len(self._encode(answer)), prompt=prompt, answer=answer
        )

    def spent(self) -> dict[str, float]:
        tokens_in, cached, out = (
            sum(getattr(call, name) for call in self.calls) for name in ("tokens_in", "cached", "tokens_out")
        )
        paid = ((tokens_in - cached) * PRICE_IN + cached * PRICE_CACHED + out * PRICE_OUT) / 1e6
        uncached = (tokens_in * PRICE_IN + out * PRICE_OUT) / 1e6
        return {
            "calls": len(self.calls),
            "tokens_in": tokens_in,
            "cached": cached,
            "tokens_out": out,
            "usd": round(paid, 6),
            "usd_uncached": round(uncached, 6),
        }


def billed(request: ChatRequest) -> str:
    """Everything that counts as input, in the order in which providers put it before the model."""
    fixed = json.dumps(request.body.get("tools") or "") + json.dumps(request.body.get("response_format") or "")
    return fixed + "".join(f"\n<|{message['role']}|>\n{read_text(message)}" for message in request.messages)


def read_text(message: Mapping[str, Any]) -> str:
    """A message's text, and its calls of tools."""
    content = message.get("content") or ""
    text = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
    return text + (json.dumps(message["tool_calls"]) if message.get("tool_calls") else "")


def _common(one: list[int], other: list[int]) -> int:
    return next(_differing(one, other), min(len(one), len(other)))


def _differing(one: list[int], other: list[int]) -> Iterator[int]:
    return (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
