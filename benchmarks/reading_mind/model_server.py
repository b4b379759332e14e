"""A model that is answered by hand: OpenAI's chat protocol on loopback, and a folder in which each request waits for its answer.

Call NN of a run is `NN.request.json` as it came, `NN.txt` to read, `NN-1.png` and so on for its pictures, and `NN.usage.json` once
it was answered. The answer is the file `NN.answer`: JSON in the form that was asked for, or plain text.

While it waits, the server sends a space every few seconds, which JSON allows before a value. So a client's limit on the time without
data does not end a call that a reader thinks about for an hour.
"""

import base64
import json
import threading
import time
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.llm import tokenizer

PAUSE = 0.05
ALIVE_EVERY = 3.0
"""Seconds between two spaces. After each, a client that has left is noticed."""
SHORTEST_CACHED, CACHED_STEP = 1024, 128
"""A prompt's beginning that an earlier call had too counts as cached from this many tokens on, in steps, as OpenAI counts it."""

Json = dict[str, Any]


def choose_counter() -> tuple[str, Callable[[str], list[Any]]]:
    """How tokens are counted, and the function that does it: o200k_base if its ranks are installed, else four characters a token."""
    if tokenizer.is_installed() and find_spec("tiktoken"):
        return tokenizer.ENCODING, tokenizer.tokenizer()
    return "characters / 4", lambda text: [text[at : at + 4] for at in range(0, len(text), 4)]


class ModelServer:
    """Keeps the requests of one run in a folder, and answers each when its answer file is there."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.counter, self._count = choose_counter()
        self._lock = threading.Lock()
        self._seen: list[list[Any]] = []
        self._stopped = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def start(self) -> None:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": PAUSE}, daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()

    def keep(self, body: Json) -> tuple[Path, Json]:
        """Write a request into the folder. Returns its files' path without a suffix, and what is known of its usage."""
        form = find_form(body)
        shown = render(body)
        ids = self._count(json.dumps(form.get("schema", {}), separators=(",", ":")) + shown)  # as it is sent
        with self._lock:
            number = len(self._seen)
            cached = max((count_common(ids, earlier) for earlier in self._seen), default=0)
            self._seen.append(ids)
        base = self.folder / f"{number:02d}"
        usage = {
            "role": form.get("name", ""),
            "prompt_tokens": len(ids),
            "cached_tokens": cached // CACHED_STEP * CACHED_STEP if cached >= SHORTEST_CACHED else 0,
            "counted_as": self.counter,
            "asked_at": time.time(),
        }
        for place, picture in enumerate(_find_pictures(body), start=1):
            base.with_name(f"{base.name}-{place}.png").write_bytes(picture)
        base.with_suffix(".request.json").write_text(json.dumps(body, ensure_ascii=False), encoding="utf-8")
        _write_at_once(base.with_suffix(".txt"), shown)
        return base, usage

    def complete(self, base: Path, usage: Json, body: Json) -> Json:
        """Make the completion from the answer file, and write what the call has used."""
        answer = base.with_suffix(".answer").read_text(encoding="utf-8").strip()
        used = len(self._count(answer))
        usage = {**usage, "answer_tokens": used, "answered_at": time.time()}
        _write_at_once(base.with_suffix(".usage.json"), json.dumps(usage))
        message, finish = _make_message(answer, body, usage["role"], base.name)
        return {
            "id": f"call-{base.name}",
            "object": "chat.completion",
            "created": int(usage["answered_at"]),
            "model": body.get("model"),
            "choices": [{"index": 0, "finish_reason": finish, "message": message, "logprobs": None}],
            "usage": {
                "prompt_tokens": usage["prompt_tokens"],
                "completion_tokens": used,
                "total_tokens": usage["prompt_tokens"] + used,
                "prompt_tokens_details": {"cached_tokens": usage["cached_tokens"]},
            },
        }

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

            def do_GET(self) -> None:
                models = [{"id": "by-hand", "object": "model", "created": 0, "owned_by": "reader"}]
                self._begin()
                self._send(json.dumps({"object": "list", "data": models}).encode())
                self._send(b"")

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                base, usage = server.keep(body)
                try:
                    self._begin()
                    due = time.monotonic() + ALIVE_EVERY
                    while not base.with_suffix(".answer").exists():
                        if server._stopped.wait(PAUSE):
                            self.close_connection = True
                            return
                        if time.monotonic() > due:
                            self._send(b" ")
                            due = time.monotonic() + ALIVE_EVERY
                    self._send(json.dumps(server.complete(base, usage, body)).encode())
                    self._send(b"")
                except ConnectionError:
                    base.with_suffix(".left").touch()
                    self.close_connection = True

            def _begin(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()

            def _send(self, data: bytes) -> None:
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()

        return Handler


def find_form(body: Json) -> Json:
    """The name and schema of the answer that a request asks for, if it asks for one."""
    if form := (body.get("response_format") or {}).get("json_schema"):
        return {"name": form.get("name", ""), "schema": form.get("schema", {})}
    tools = [tool.get("function", {}) for tool in body.get("tools") or []]
    if len(tools) == 1:
        return {"name": tools[0].get("name", ""), "schema": tools[0].get("parameters", {})}
    return {"name": "", "schema": {"tools": tools}} if tools else {}


def wants_json(body: Json) -> bool:
    """Whether only JSON is an answer. Where tools are offered and none must be called, a text is one too."""
    return bool(body.get("response_format")) or (bool(body.get("tools")) and body.get("tool_choice", "auto") != "auto")


def list_parts(body: Json) -> list[Json]:
    """The parts of a request's messages in their order, each with its role and its text."""
    parts = []
    for message in body["messages"]:
        content = message.get("content") or ""
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            text = part["text"] if part["type"] == "text" else f"[{part['type']}]"
            parts.append({"role": message["role"], "text": text})
        parts.extend(
            {"role": message["role"], "text": json.dumps(call["function"])} for call in message.get("tool_calls") or []
        )
    return parts


def render(body: Json) -> str:
    return "".join(f"\n<|{part['role']}|>\n{part['text']}" for part in list_parts(body))


def _find_pictures(body: Json) -> list[bytes]:
    pictures = []
    for message in body["messages"]:
        for part in message["content"] if isinstance(message.get("content"), list) else []:
            if part["type"] == "image_url":
                _, _, data = part["image_url"]["url"].partition("base64,")
                pictures.append(base64.b64decode(data))
    return pictures


def count_common(ids: Sequence[Any], others: Sequence[Any]) -> int:
    """How many of the first are the same."""
    return next(
        (at for at, (one, other) in enumerate(zip(ids, others, strict=False)) if one != other),
        min(len(ids), len(others)),
    )


def _make_message(answer: str, body: Json, name: str, call_name: str) -> tuple[Json, str]:
    """The answer as a call of a tool if tools were offered and it is JSON, else as text."""
    if not body.get("tools") or not answer.startswith("{"):
        return {"role": "assistant", "content": answer}, "stop"
    given = json.loads(answer)
    calls = given.get("tool_calls", [{"name": name, "arguments": given}])
    called = [
        {
            "id": f"tool-{call_name}-{place}",
            "type": "function",
            "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
        }
        for place, call in enumerate(calls)
    ]
    return {"role": "assistant", "content": given.get("content"), "tool_calls": called}, "tool_calls"


def _write_at_once(path: Path, text: str) -> None:
    """Write a file that a reader waits for: it is there whole, or not at all."""
    new = path.with_name(path.name + ".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)
