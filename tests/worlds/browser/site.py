"""A web server on loopback that records every request. Its record is the ground truth of a test."""

import asyncio
import base64
import hashlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field


@dataclass(frozen=True)
class ReceivedRequest:
    """One request that arrived, or one frame (`WS`) of a socket."""

    method: str
    path: str
    fields: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True)
class Answer:
    body: str | bytes = ""
    status: int = 200
    kind: str = "text/html; charset=utf-8"
    fields: Mapping[str, str] = field(default_factory=dict)
    hang_up: bool = False
    """Say nothing, and close the connection."""


Page = str | Answer | Callable[[ReceivedRequest], Answer | Awaitable[Answer]]


class Site:
    """A server of `pages` by path without query. Any other path is a 404."""

    def __init__(self, pages: Mapping[str, Page] | None = None) -> None:
        self.pages: dict[str, Page] = dict(pages or {})
        self.asked: list[ReceivedRequest] = []
        self.connections = 0
        self.received = 0
        self.url = ""
        self._open: set[asyncio.Task[None]] = set()

    def effects(self) -> list[str]:
        """Method and path of each request that is not a GET, HEAD or OPTIONS."""
        return [
            f"{asked.method} {asked.path}" for asked in self.asked if asked.method not in ("GET", "HEAD", "OPTIONS")
        ]

    def forget(self) -> None:
        self.asked.clear()
        self.connections = self.received = 0

    @asynccontextmanager
    async def served(self, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> AsyncIterator["Site"]:
        """Serve on 127.0.0.1. `host` is only the name in `url`: `*.localhost` resolves to 127.0.0.1, too."""
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=tls)
        self.url = f"{'https' if tls else 'http'}://{host}:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            for task in self._open:
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.create_task(self._serve(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
                while await self._serve_request(reader, writer):
                    pass
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _serve_request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        raw = await reader.readuntil(b"\r\n\r\n")
        self.received += len(raw)
        line, *rest = raw.decode("latin-1").strip().split("\r\n")
        method, path, _ = line.split(" ")
        fields = {name.lower(): value.strip() for name, value in (each.split(":", 1) for each in rest)}
        chunked = "transfer-encoding" in fields
        body = await (
            reader.readuntil(b"0\r\n\r\n") if chunked else reader.readexactly(int(fields.get("content-length", 0)))
        )
        self.received += len(body)
        if fields.get("upgrade", "").lower() == "websocket":
            await self._serve_socket(path, fields, reader, writer)
            return False
        asked = ReceivedRequest(method, path, fields, body)
        self.asked.append(asked)
        answer = await self._answer(asked)
        if answer.hang_up:
            return False
        writer.write(_encode(answer))
        await writer.drain()
        return True

    async def _answer(self, asked: ReceivedRequest) -> Answer:
        page = self.pages.get(asked.path.partition("?")[0], Answer("nothing here", 404))
        if isinstance(page, str | Answer):
            return Answer(page) if isinstance(page, str) else page
        found = page(asked)
        return found if isinstance(found, Answer) else await found

    async def _serve_socket(
        self, path: str, fields: Mapping[str, str], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Record each frame, and answer it with `got <text>`."""
        self.asked.append(ReceivedRequest("GET", path, fields))
        key = fields["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        upgrade = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        writer.write(f"{upgrade}Sec-WebSocket-Accept: {accept}\r\n\r\n".encode())
        while True:
            first, second = await reader.readexactly(2)
            length = second & 0x7F
            if length == 126:
                length = int.from_bytes(await reader.readexactly(2))
            mask = await reader.readexactly(4)
            data = bytes(byte ^ mask[i % 4] for i, byte in enumerate(await reader.readexactly(length)))
            if first & 0x0F == 8:
                return
            self.asked.append(ReceivedRequest("WS", path, {}, data))
            self.received += len(data)
            reply = b"got " + data
            writer.write(bytes((0x81, len(reply))) + reply)


def _encode(answer: Answer) -> bytes:
    body = answer.body.encode() if isinstance(answer.body, str) else answer.body
    fields = {"Content-Type": answer.kind, "Content-Length": str(len(body)), **answer.fields}
    lines = [f"HTTP/1.1 {answer.status} -", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode() + body
