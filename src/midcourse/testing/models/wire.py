"""Answers as OpenAI's chat completions write them: whole, or as a stream of events."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from midcourse.testing.models.script import Calls, ChatRequest, Refuses, Says, Usage

CREATED = 1_700_000_000
LETTERS_A_CHUNK = 12


def completion(answer: Says | Calls | Refuses, request: ChatRequest) -> bytes:
    message = {"role": "assistant", "content": None, "refusal": None} | _said(answer)
    choice = {"index": 0, "message": message, "finish_reason": _finish(answer), "logprobs": None}
    whole = _envelope("chat.completion", request) | {"choices": [choice], "usage": _usage(answer, request)}
    return json.dumps(whole).encode()


def events(answer: Says | Calls | Refuses, request: ChatRequest) -> Iterator[bytes]:
    envelope = _envelope("chat.completion.chunk", request)
    for delta in _deltas(_said(answer)):
        yield _event(envelope | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    yield _event(envelope | {"choices": [{"index": 0, "delta": {}, "finish_reason": _finish(answer)}]})
    if request.wants_usage:
        yield _event(envelope | {"choices": [], "usage": _usage(answer, request)})
    yield b"data: [DONE]\n\n"


def error(status: int, message: str) -> bytes:
    kind = "rate_limit_exceeded" if status == 429 else "server_error" if status >= 500 else "invalid_request_error"
    return json.dumps({"error": {"message": message, "type": kind, "param": None, "code": kind}}).encode()


def model_list(names: tuple[str, ...]) -> bytes:
    data = [{"id": name, "object": "model", "created": CREATED, "owned_by": "midcourse"} for name in names]
    return json.dumps({"object": "list", "data": data}).encode()


def _envelope(kind: str, request: ChatRequest) -> dict[str, Any]:
    return {"id": f"chatcmpl-{request.number}", "object": kind, "created": CREATED, "model": request.model}


def _said(answer: Says | Calls | Refuses) -> dict[str, Any]:
    match answer:
        case Says(content=content):
            return {"content": _text(content)}
        case Refuses(why=why):
            return {"refusal": why}
        case Calls(tool=tool, arguments=arguments, id=call):
            function = {"name": tool, "arguments": _text(arguments)}
            return {"tool_calls": [{"id": call, "type": "function", "function": function}]}


def _deltas(said: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield {"role": "assistant", "content": ""}
    if "tool_calls" not in said:
        for kind, text in said.items():
            yield from ({kind: piece} for piece in _pieces(text))
        return
    (call,) = said["tool_calls"]
    yield {"tool_calls": [call | {"index": 0, "function": call["function"] | {"arguments": ""}}]}
    for piece in _pieces(call["function"]["arguments"]):
        yield {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + LETTERS_A_CHUNK] for start in range(0, len(text), LETTERS_A_CHUNK))


def _event(values: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(values)}\n\n".encode()


def _finish(answer: Says | Calls | Refuses) -> str:
    match answer:
        case Says(finish=finish):
            return finish
        case Calls():
            return "tool_calls"
        case Refuses():
            return "stop"


def _usage(answer: Says | Calls | Refuses, request: ChatRequest) -> Mapping[str, Any]:
    counted = answer.usage or Usage(request.tokens, len(json.dumps(_said(answer))) // 4)
    return {
        "prompt_tokens": counted.prompt,
        "completion_tokens": counted.completion,
        "total_tokens": counted.prompt + counted.completion,
        "prompt_tokens_details": {"cached_tokens": counted.cached},
    }


def _text(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content)
