"""Embedders behind OpenAI's protocol."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from midcourse.agent.models import build_embedder
from midcourse.config.settings import Settings
from midcourse.errors import TaskInvalid
from midcourse.llm.embeddings import ModelEmbedder
from midcourse.testing.loopback import serve_on_loopback

# --- behind a server


@contextmanager
def serve_embeddings(status: int, answer: Any) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    requests: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            requests.append({"path": self.path, **body})
            text = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with serve_on_loopback(Handler) as address:
        yield f"{address}/v1", requests


def make_response(*values: float) -> dict[str, Any]:
    data = [{"object": "embedding", "index": 0, "embedding": list(values)}]
    return {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 3, "total_tokens": 3}}


async def test_a_server_with_openais_protocol_embeds_a_text() -> None:
    with serve_embeddings(200, make_response(3.0, 4.0)) as (url, requests):
        point = await ModelEmbedder("openai:m", url).embed("it failed")
    assert (point.model, point.values) == ("openai:m", (0.6, 0.8))
    assert (requests[0]["path"], requests[0]["model"], requests[0]["input"]) == ("/v1/embeddings", "m", ["it failed"])


async def test_a_long_text_is_cut() -> None:
    with serve_embeddings(200, make_response(1.0)) as (url, requests):
        await ModelEmbedder("openai:m", url).embed("x" * 100_000)
    assert len(requests[0]["input"][0]) == 2000


@pytest.mark.parametrize(("status", "answer"), [(400, {"error": "no"}), (200, {"data": []}), (200, make_response(0.0))])
async def test_every_error_of_the_server_is_an_os_error(status: int, answer: Any) -> None:
    with serve_embeddings(status, answer) as (url, _), pytest.raises(OSError, match=r"."):
        await ModelEmbedder("openai:m", url).embed("it failed")


@pytest.mark.slow
async def test_an_unreachable_embedder_is_an_os_error() -> None:
    with pytest.raises(OSError, match="openai:m"):
        await ModelEmbedder("openai:m", "http://127.0.0.1:9/v1").embed("it failed")


# --- by its name


def test_settings_name_the_embedder() -> None:
    def named(**settings: str) -> Any:
        return build_embedder(Settings.load(overrides=settings))

    assert named() is None
    served = named(embedder="openai:m", embedder_base_url="http://127.0.0.1:9/v1")
    assert isinstance(served, ModelEmbedder)
    for wrong in ("m", "nobody:m"):
        with pytest.raises(TaskInvalid, match="embedder"):
            named(embedder=wrong)
    with pytest.raises(TaskInvalid, match="empty to compare failures by their text"):
        named(embedder="folder:/models/minilm")
