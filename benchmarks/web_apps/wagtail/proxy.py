"""A reverse proxy that spoils what passes through it: the application behind it is as its makers left it.

delay       the answer comes `seconds` late
lost        the application has answered, and the client gets 504 instead
expired     the session cookie is dropped, once: the application sees a stranger, and the browser forgets who it was
overlay     a dialog of ours covers the page until its button is clicked
"""

import asyncio
import re
from collections.abc import Callable, Generator, Iterable
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from threading import Thread
from typing import Literal, TypeAlias

Trouble: TypeAlias = Literal["delay", "lost", "expired", "overlay"]
SESSION = "sessionid"
HOP_BY_HOP = ("connection", "keep-alive", "proxy-connection", "transfer-encoding", "accept-encoding")
OVERLAY = b"""<div id="notice" role="dialog" aria-modal="true" aria-label="We value your privacy"
 style="position:fixed;inset:0;z-index:2147483647;background:#fffe;padding:20vh 30vw">
<p>We have updated our terms.</p><button type="button" onclick="this.parentNode.remove()">Got it</button></div>"""


@dataclass(frozen=True, kw_only=True)
class Request:
    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def get(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name), "")


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


NO_ANSWER = Answer(
    status="504 Gateway Timeout",
    headers=(("Content-Type", "text/html; charset=utf-8"),),
    body=b"<!doctype html><title>504 Gateway Timeout</title><h1>504 Gateway Timeout</h1>",
)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What goes wrong at the `nth` request that is like this, and never again."""

    kind: Trouble
    at: Callable[[Request], bool]
    nth: int = 1
    seconds: float = 0.0


@dataclass
class Proxy:
    """Passes everything on until `stop`, the faults apart."""

    upstream: tuple[str, int]
    faults: Iterable[Fault] = ()
    met: list[Trouble] = field(default_factory=list)
    """The faults that really happened."""
    changing: list[str] = field(default_factory=list)
    """Requests that reached the application and were not for reading only, as method and path."""

    async def start(self) -> str:
        self._left = {fault: fault.nth for fault in self.faults}
        self._open: set[asyncio.Task[None]] = set()
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()[:2]
        return f"http://{host}:{port}"

    async def stop(self) -> None:
        self._server.close()
        for connection in self._open:
            connection.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.create_task(self._serve(reader, writer))
        self._open.add(connection)
        connection.add_done_callback(self._open.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer), suppress(ConnectionError, asyncio.IncompleteReadError):
            while request := await _read_request(reader):
                answer = await self._spoiled(request)
                writer.write(_head(f"HTTP/1.1 {answer.status}", answer.headers, answer.body) + answer.body)
                await writer.drain()

    async def _spoiled(self, request: Request) -> Answer:
        faults = self._due(request)
        if any(fault.kind == "expired" for fault in faults):
            request = replace(request, headers=tuple(map(_without_session, request.headers)))
        answer = await self._forward(request)
        for fault in faults:
            match fault.kind:
                case "delay":
                    await asyncio.sleep(fault.seconds)
                case "lost":
                    answer = NO_ANSWER
                case "expired":
                    gone = ("Set-Cookie", f"{SESSION}=; Path=/; Max-Age=0")
                    answer = replace(answer, headers=(*answer.headers, gone))
                case "overlay":
                    answer = replace(answer, body=answer.body.replace(b"</body>", OVERLAY + b"</body>"))
        return answer

    def _due(self, request: Request) -> list[Fault]:
        for fault in self._left:
            self._left[fault] -= fault.at(request)
        due = [fault for fault, left in self._left.items() if left == 0 and fault.at(request)]
        self.met.extend(fault.kind for fault in due)
        return due

    async def _forward(self, request: Request) -> Answer:
        if request.method not in ("GET", "HEAD"):
            self.changing.append(f"{request.method} {request.path}")
        reader, writer = await asyncio.open_connection(*self.upstream)
        line = f"{request.method} {request.path} HTTP/1.1"
        headers = (*request.headers, ("Connection", "close"))
        writer.write(_head(line, headers, request.body) + request.body)
        head = await _read_head(reader)
        body = await reader.read()
        writer.close()
        if any(line.lower().replace(" ", "") == "transfer-encoding:chunked" for line in head):
            body = _join_chunks(body)
        return Answer(status=head[0].split(" ", 1)[1], headers=_pairs(head[1:]), body=body)


async def _read_request(reader: asyncio.StreamReader) -> Request | None:
    lines = await _read_head(reader)
    if not lines:
        return None
    method, path, _ = lines[0].split(" ")
    request = Request(method=method, path=path, headers=_pairs(lines[1:]), body=b"")
    return replace(request, body=await reader.readexactly(int(request.get("content-length") or 0)))


async def _read_head(reader: asyncio.StreamReader) -> list[str]:
    """The first line and the headers; nothing, if the other side has left."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return []
    return head.decode("latin-1").split("\r\n")[:-2]


def _join_chunks(body: bytes) -> bytes:
    """The body without the lengths between its chunks, which belong to the connection."""
    joined = b""
    while body:
        line, _, rest = body.partition(b"\r\n")
        length = int(line.partition(b";")[0], 16)
        joined, body = joined + rest[:length], rest[length + 2 :] if length else b""
    return joined


def _pairs(lines: list[str]) -> tuple[tuple[str, str], ...]:
    pairs = ((name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in lines))
    return tuple(pair for pair in pairs if pair[0].lower() not in HOP_BY_HOP)


def _head(line: str, headers: Iterable[tuple[str, str]], body: bytes) -> bytes:
    kept = [f"{name}: {value}" for name, value in headers if name.lower() != "content-length"]
    length = [] if " 304 " in line else [f"Content-Length: {len(body)}"]
    return "\r\n".join([line, *kept, *length, "", ""]).encode("latin-1")


def _without_session(header: tuple[str, str]) -> tuple[str, str]:
    name, value = header
    return (name, re.sub(rf"\b{SESSION}=[^;]*;? ?", "", value)) if name.lower() == "cookie" else header


@contextmanager
def in_front_of(proxy: Proxy) -> Generator[str]:
    """The proxy in a separate thread, since the trial may block."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(proxy.start(), loop).result()
    finally:
        asyncio.run_coroutine_threadsafe(proxy.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
