"""The HTTP/1.1 server of a world host: JSON in, JSON out, over connections that are kept.

It is written on asyncio's protocols because every step of every run sends it two requests. A thread for each, as in
`http.server`, takes three times the CPU, and a framework would be a large dependency of the base install.

There are limits for how long a request may take to arrive, how large it may be, and how long an idle connection is kept.
The time that a world takes to answer is not limited here.
"""

import asyncio
import logging
import ssl

from midcourse.codec import encode
from midcourse.http1 import Rejected, RequestHead, find_body, parse_request, write_response
from midcourse.worlds.host.router import Answer, Reply, Router
from midcourse.worlds.host.wire import Trouble

log = logging.getLogger(__name__)

MAX_HEAD = 16 * 2**10
MAX_BODY = 16 * 2**20
REQUEST_SECONDS = 10.0
"""The maximum number of seconds from the first byte of a request to its last."""
IDLE_SECONDS = 60.0
"""Seconds that an idle connection is kept. The client reuses connections only for half of that time, so it never uses a closed one."""
SWEEP = 1.0


class Listener:
    """A port, and the connections to it."""

    def __init__(self, router: Router) -> None:
        self.router = router
        self.connections: set[ClientConnection] = set()
        self._server: asyncio.Server | None = None
        self._sweeping: asyncio.TimerHandle | None = None

    async def listen(self, address: str, port: int, tls: ssl.SSLContext | None = None) -> int:
        """Start to listen, and return the port. If none is given, a free one is used."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: ClientConnection(self),
            address,
            port,
            backlog=1024,
            ssl=tls,
            ssl_handshake_timeout=REQUEST_SECONDS if tls else None,
        )
        self._sweep()
        return self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Accept no more connections, and close the open ones once their answers are sent."""
        if self._server is not None:
            self._server.close()
        if self._sweeping is not None:
            self._sweeping.cancel()
        busy = [connection.answering for connection in self.connections if connection.answering is not None]
        await asyncio.gather(*busy, return_exceptions=True)
        for connection in list(self.connections):
            connection.close()

    def _sweep(self) -> None:
        """Abort connections that are late. One timer serves all, since a timer for each request would cost more than the answer."""
        loop = asyncio.get_running_loop()
        for connection in [each for each in self.connections if each.due < loop.time()]:
            connection.abort()
        self._sweeping = loop.call_later(SWEEP, self._sweep)


class ClientConnection(asyncio.Protocol):
    """A connection of a client. It answers one request after the other; a request that arrives meanwhile waits."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._begun: tuple[RequestHead, Answer] | None = None
        self._ignores_input = False
        self.answering: asyncio.Task[None] | None = None
        self.due = self._loop.time() + REQUEST_SECONDS

    # --- called by asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._listener.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a client that is gone. The act that it requested still runs to its end."""
        self._transport = None
        self._listener.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        if self._ignores_input:
            return
        if not self._buffer and self.answering is None:
            self.due = self._loop.time() + REQUEST_SECONDS
        self._buffer += data
        if self.answering is None:
            self._read_request()
        elif self._transport is not None and len(self._buffer) > MAX_HEAD:
            self._transport.pause_reading()

    # --- one request

    def _read_request(self) -> None:
        """Begin to answer once the request has arrived. The token is checked before the body is read."""
        try:
            self._begun = self._begun or self._read_head()
        except Rejected as rejected:
            self._refuse(rejected)
            return
        if self._begun is None or len(self._buffer) < self._begun[0].length:
            return
        (head, answer), self._begun = self._begun, None
        body = bytes(self._buffer[: head.length])
        del self._buffer[: head.length]
        self.due = float("inf")
        self.answering = self._loop.create_task(self._respond(answer, body, closes=head.closes))

    def _read_head(self) -> tuple[RequestHead, Answer] | None:
        """Return the head of a request and the function that answers it, or None if the head has not arrived completely."""
        end = find_body(self._buffer, MAX_HEAD)
        if end is None:
            return None
        head = parse_request(bytes(self._buffer[:end]))
        del self._buffer[:end]
        if head.chunked:
            raise Rejected("a request gives the length of its body in Content-Length", 411)
        if head.length > MAX_BODY:
            raise Rejected(f"a body has at most {MAX_BODY} bytes", 413)
        scheme, _, token = head.get("authorization").partition(" ")
        answer = self._listener.router.admit(head.method, head.target, token if scheme.lower() == "bearer" else "")
        if answer is None:
            raise Rejected("", 401)  # without a reason, so that a client without a token learns nothing
        return head, answer

    async def _respond(self, answer: Answer, body: bytes, *, closes: bool) -> None:
        reply = await answer(body)
        self.answering = None
        self.due = self._loop.time() + IDLE_SECONDS
        if self._transport is None:
            log.info("client disconnected before the reply")
            return
        self._write(reply, closes=closes)
        if closes:
            self._transport.close()
        elif self._buffer:
            self._transport.resume_reading()
            self.due = self._loop.time() + REQUEST_SECONDS
            self._read_request()

    def _refuse(self, why: Rejected) -> None:
        """Reply and read no further. Data that still arrives is dropped, because closing the connection now would reset the reply."""
        self._ignores_input = True
        self._buffer.clear()
        self._write((why.status, encode(Trouble(detail=str(why))) if str(why) else ""), closes=True)
        if self._transport is not None and self._transport.can_write_eof():
            self._transport.write_eof()
        else:  # TLS connections cannot be closed in one direction only
            self.close()

    def _write(self, reply: Reply, *, closes: bool) -> None:
        status, text = reply
        body = text.encode()
        fields = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        if self._transport is not None:
            head = write_response(status, [*fields, *([("Connection", "close")] if closes else [])])
            self._transport.write(head + body)

    # --- called by the listener

    def close(self) -> None:
        """Close the connection once everything is written. Over TLS, do not wait for the client's close message."""
        if self._transport is None:
            return
        if self._transport.get_extra_info("sslcontext") is not None and not self._transport.get_write_buffer_size():
            self._transport.abort()
        else:
            self._transport.close()

    def abort(self) -> None:
        """Close without waiting for data that has not been read or written."""
        if self._transport is not None:
            self._transport.abort()
