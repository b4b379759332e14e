"""Server of the scripted model: OpenAI's `/v1/chat/completions` and `/v1/models` on loopback, with the standard library only."""

import json
import math
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from http.server import BaseHTTPRequestHandler
from threading import Event, Lock
from types import TracebackType
from typing import Any, Self

from midcourse.testing.loopback import serve_on_loopback
from midcourse.testing.models import wire
from midcourse.testing.models.script import (
    Answer,
    Blurts,
    ChatRequest,
    Cut,
    Fails,
    Late,
    Script,
    Slow,
    complete_line,
    make_answerer,
)

PIECES = 50
"""Parts into which a slow answer is split."""


class ModelServer:
    """Answers by a script for as long as the `with` lasts. Requests may be concurrent; they are answered in the order of arrival.

    If a function that is the script raises, the client gets a 500, and the `with` raises it at its end: an
    assertion about what the model is asked can stand there.
    """

    def __init__(self, script: Script, *, models: tuple[str, ...] = ("scripted",), key: str = "") -> None:
        self._script = make_answerer(script)
        self.models = models
        self.key = key
        """With one, every other key is answered with 401."""
        self._requests: list[ChatRequest] = []
        self._trouble: list[Exception] = []
        self._lock = Lock()
        self._over = Event()
        self._open = ExitStack()
        self._address = ""
        self.connections = 0
        """The number of connections that were opened so far."""
        self.closed = 0
        """The number of connections that were closed, by either side."""

    @property
    def url(self) -> str:
        """The base URL for clients."""
        return f"{self._address}/v1"

    @property
    def requests(self) -> tuple[ChatRequest, ...]:
        """All requests for completions so far, including failed ones."""
        return tuple(self._requests)

    def __enter__(self) -> Self:
        self._address = self._open.enter_context(serve_on_loopback(partial(_Handler, self)))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._over.set()  # no client waits for a late answer any more
        self._open.close()
        if error is None and self._trouble:
            raise self._trouble[0]

    def answer(self, headers: dict[str, str], body: dict[str, Any]) -> tuple[ChatRequest, Answer]:
        with self._lock:
            request = ChatRequest(number=len(self._requests), headers=headers, body=body)
            self._requests.append(request)
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            return request, Fails(401, "wrong key")
        try:
            return request, self._script(request)
        except Exception as error:
            self._trouble.append(error)
            return request, Fails(500, f"the script raised {type(error).__name__}: {error}")

    def wait(self, seconds: float) -> None:
        """Wait for this many seconds, or until the server stops."""
        self._over.wait(seconds)


@dataclass(frozen=True, kw_only=True)
class _Response:
    """An HTTP response and how it is sent."""

    pieces: tuple[bytes, ...]
    status: int = 200
    type: str = "application/json"
    retry_after: float | None = None
    late: float = 0.0
    slow: float = 0.0
    share: float = 1.0

    @property
    def streams(self) -> bool:
        return self.type == "text/event-stream"


def _response(answer: Answer, request: ChatRequest) -> _Response:
    match answer:
        case Late(answer=inner, seconds=seconds):
            return replace(_response(complete_line(inner), request), late=seconds)
        case Slow(answer=inner, seconds=seconds):
            return replace(_response(complete_line(inner), request), slow=seconds)
        case Cut(answer=inner, share=share):
            return replace(_response(complete_line(inner), request), share=share)
        case Fails(status=status, message=message, retry_after=after):
            return _Response(pieces=(wire.error(status, message),), status=status, retry_after=after)
        case Blurts(body=body):
            kind = "text/event-stream" if request.streams else "application/json"
            return _Response(pieces=(body.encode(),), type=kind)
        case said if request.streams:
            return _Response(pieces=tuple(wire.events(said, request)), type="text/event-stream")
        case said:
            return _Response(pieces=(wire.completion(said, request),))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def __init__(self, server: ModelServer, *connection: Any) -> None:
        self._model = server
        server.connections += 1
        try:
            super().__init__(*connection)  # all requests of the connection
        finally:
            server.closed += 1

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing: the server records its requests."""

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            self._send(_Response(pieces=(wire.model_list(self._model.models),)))
        else:
            self._send(_Response(pieces=(wire.error(404, f"there is no {self.path}"),), status=404))

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path != "/v1/chat/completions":
            return self._send(_Response(pieces=(wire.error(404, f"there is no {self.path}"),), status=404))
        try:
            body = json.loads(sent)
        except ValueError as error:
            return self._send(_Response(pieces=(wire.error(400, f"no JSON: {error}"),), status=400))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request, answer = self._model.answer(headers, body)
        return self._send(_response(answer, request))

    def _send(self, response: _Response) -> None:
        self._model.wait(response.late)
        self.send_response(response.status)
        self.send_header("Content-Type", response.type)
        if response.retry_after is not None:
            self.send_header("Retry-After", str(math.ceil(response.retry_after)))  # whole seconds, as HTTP wants them
            self.send_header("Retry-After-Ms", str(math.ceil(1000 * response.retry_after)))
        if response.streams:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(sum(map(len, response.pieces))))
        self.end_headers()
        for piece in _parts(response):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if response.streams else piece)
            self._model.wait(response.slow / PIECES)
        if response.share < 1:
            self.close_connection = True
        elif response.streams:
            self.wfile.write(b"0\r\n\r\n")


def _parts(response: _Response) -> Iterator[bytes]:
    """The parts of the response that are written one at a time."""
    if response.share == 1 and not response.slow:
        yield from response.pieces
        return
    whole = b"".join(response.pieces)
    kept = whole[: int(len(whole) * response.share)]
    size = max(1, -(-len(whole) // PIECES)) if response.slow else len(whole)
    yield from (kept[start : start + size] for start in range(0, len(kept), size))
