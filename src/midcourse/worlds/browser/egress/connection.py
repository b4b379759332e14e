"""One connection of the browser to its proxy. Its requests are read one after the other, and each is checked separately.

Responses are passed on as they arrive. Only the end of each request must be found, because the next request follows it. The
browser sends no request before the last one was answered, and the password keeps other programs out.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from midcourse.http1 import Rejected, RequestHead, parse_chunk_size, parse_request, write_request, write_response
from midcourse.worlds.browser.egress.address import Address, AddressRefused
from midcourse.worlds.browser.egress.outbox import Outbox, SentRequest
from midcourse.worlds.browser.egress.policy import SAFE_METHODS
from midcourse.worlds.browser.egress.proxy_login import ENTRANCE
from midcourse.worlds.browser.egress.request import Request
from midcourse.worlds.browser.egress.websocket import pass_messages

MAX_HEAD = 2**18
"""The maximum size of a request's head, in bytes. There may be many cookies, but servers refuse this much."""
MOST_HELD = 64 * 2**20
"""A body that is read in full before it may leave must have fewer bytes than this."""
_CHUNK = 2**16
_HOP_BY_HOP = (
    "host",
    "connection",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "upgrade",
)
"""Header fields that are meant for the proxy, or that the proxy writes itself."""
_FRAMING = ("content-length", "transfer-encoding")
_UNACCEPTABLE = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nContent-Length: 1\r\nConnection: close\r\n\r\n"
"""A response that Chromium does not accept, because it has two lengths. The page sees a network error, as if it were offline.

A page would take any status for its server's: applications reload, or sign out, on a 403. A connection that only ends is not
enough, because Chromium then sends the request again by itself, and the copy is held for the next act.
"""


class ProxyPolicy(Protocol):
    """What a connection needs from its proxy: which addresses may be reached, and which requests may leave."""

    outbox: Outbox

    def admits(self, credentials: str) -> bool: ...
    @property
    def identity(self) -> ssl.SSLContext: ...
    def find_tunnel_origin(self, tunnel: str) -> str: ...
    def check_address(self, url: str) -> Address: ...
    async def connect(self, address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]: ...
    def refuse(self, what: str, why: str, *, leaves_page: bool = False) -> bool: ...


@dataclass(kw_only=True)
class Upstream:
    """A connection to a server. It is kept for the next request to the same server."""

    origin: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    returning: asyncio.Task[None] | None = None
    sent: SentRequest | None = None
    """The approved request that left over it. Such a connection is not used again."""


class ProxyConnection:
    def __init__(self, policy: ProxyPolicy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._policy = policy
        self._reader = reader
        self._writer = writer
        self._upstream: Upstream | None = None
        self._origin = ""
        """The origin behind the tunnel, once the browser has opened one."""
        self._refusal = ""
        """Why that origin may not be reached, or an empty string."""
        self._is_head = False
        """Whether the request under way is a HEAD, whose response has no body."""

    async def serve(self) -> None:
        try:
            while await self._serve_request():
                pass
        except Rejected as rejected:
            await self._answer(400, str(rejected))
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self._writer.close()  # before the awaits below, which a cancellation would end
            await self._disconnect()
            if self._refusal:
                self._writer.transport.abort()  # a normal close would never end if the browser does not begin TLS in the tunnel
            else:
                await _close(self._writer)

    async def _serve_request(self) -> bool:
        """Serve one request. Return whether another one may follow."""
        head = parse_request(await self._reader.readuntil(b"\r\n\r\n"))
        self._is_head = head.method == "HEAD"
        if head.version != "1.1":
            raise Rejected("browsers speak HTTP/1.1 to a proxy")
        if not self._origin and not self._policy.admits(head.get("proxy-authorization")):
            await self._answer(407, "this proxy belongs to another browser")
            return False
        if head.target == ENTRANCE:
            await self._answer(204)
            return True
        if head.method == "CONNECT" and not self._origin:
            return await self._open_tunnel(head.target)
        if self._origin and not head.target.startswith("/"):
            raise Rejected("inside a tunnel a request names only a path")
        url = self._origin + head.target
        request = Request(method=head.method, url=url, fields=head.named, head=head)
        try:
            if self._refusal:
                raise AddressRefused(self._refusal)
            address = self._policy.check_address(url)
            free = self._policy.outbox.is_free(request)
            if _opens_socket(head) and self._origin:
                await self._open_socket(head, address, free=free)
                return False
            if free:
                self._policy.outbox.record_passed(request)
                await self._forward(head, address)
                return True
            return await self._hold(head, address, request)
        except AddressRefused as refused:
            await self._read_body(head)
            return await self._refuse(request, str(refused))

    async def _refuse(self, request: Request, why: str) -> bool:
        """Record and answer a request that may not leave. Return whether another one may follow."""
        leaves_page = request.is_navigation and request.is_by_page
        if leaves_page or not self._refusal:  # the refusal of the tunnel was recorded already
            self._policy.refuse(f"{request.method} {request.url}", why, leaves_page=leaves_page)
        return await self._turn_away(request, why)

    async def _turn_away(self, request: Request, why: str = "") -> bool:
        """Answer a request that does not leave. Return whether another one may follow on this connection.

        A page that made a navigation stays as it is, with what was typed into it. An address that was entered has no such
        page and shows the reason. A stream of events is ended, because its page would ask for it again every few seconds after
        any error. For everything else the page is offline.
        """
        if request.is_navigation:
            await (self._answer(204) if request.is_by_page else self._answer(403, why))
            return True
        if request.method == "GET" and "text/event-stream" in request.fields.get("accept", ""):
            await self._answer(204)
            return True
        await _write(self._writer, _UNACCEPTABLE)
        return False

    async def _open_tunnel(self, tunnel: str) -> bool:
        """Act as the server end of a tunnel, so that the requests in it can be read like all others.

        A tunnel to a refused origin is opened as well: only a request inside it shows whether a page wants to leave for that origin.
        """
        try:
            self._origin = self._policy.find_tunnel_origin(tunnel)
        except AddressRefused as refused:
            if not self._policy.refuse(f"CONNECT {tunnel}", str(refused)):
                await self._answer(403, str(refused))
                return False
            self._origin, self._refusal = f"https://{tunnel.removesuffix(':443')}", str(refused)
        transport = self._writer.transport
        secure = self._origin.startswith("https:")
        if secure and isinstance(transport, asyncio.ReadTransport):
            transport.pause_reading()  # otherwise the first bytes of TLS could arrive before `start_tls` expects them
        await _write(self._writer, b"HTTP/1.1 200 Connection established\r\n\r\n")
        if secure:
            await self._writer.start_tls(self._policy.identity)
        return True

    # --- requests that may leave as they are

    async def _forward(self, head: RequestHead, address: Address) -> None:
        try:
            upstream = await self._connect(address)
        except OSError as error:
            await self._read_body(head)
            await self._answer(502, f"{address.origin} cannot be reached: {error}")
            return
        upstream.writer.write(_build_head(head, address))
        async for raw, _ in self._read_pieces(head):
            await _write(upstream.writer, raw)
        await upstream.writer.drain()

    # --- requests that wait for an approval

    async def _hold(self, head: RequestHead, address: Address, request: Request) -> bool:
        """Hold or park a request, or send it if it is allowed, over a new connection. Return whether another one may follow.

        On a kept connection, a browser repeats by itself a request that got no response.
        """
        await self._disconnect()
        request = self._policy.outbox.trace_redirect(replace(request, body=await self._read_body(head)))
        if len(request.body) == MOST_HELD:
            return await self._refuse(request, f"a request that needs an approval has less than {MOST_HELD} bytes")
        if request.is_navigation:
            sent = self._policy.outbox.send_now(request)
        else:
            sent = await self._wait_for_approval(request)
        if sent is not None:
            await self._send(address, sent)
            return True
        if request.is_navigation:
            self._policy.outbox.park(request)
            await self._answer(204)
            return True
        return await self._turn_away(request)

    async def _send(self, address: Address, sent: SentRequest) -> None:
        head, body = sent.request.head, sent.request.body
        assert head is not None, "only a message has none"
        try:
            upstream = await self._connect(address, sent)
        except (AddressRefused, OSError) as error:
            sent.reached = False
            await self._answer(502, f"{address.origin} cannot be reached: {error}")
            return
        # Do not accept compression, so that the evidence rules can read the response.
        length = [("Content-Length", str(len(body)))] if body or head.method not in SAFE_METHODS else []
        plain = _build_head(head, address, without=("accept-encoding", *_FRAMING), also=length)
        await _write(upstream.writer, plain + body)

    async def _wait_for_approval(self, request: Request) -> SentRequest | None:
        """Wait until the request may be sent. Raise `ConnectionResetError` if the browser no longer waits for it."""
        approved = asyncio.ensure_future(self._policy.outbox.wait_for_permission(request))
        abandoned = asyncio.ensure_future(self._reader.read(1))
        try:
            await asyncio.wait({approved, abandoned}, return_when=asyncio.FIRST_COMPLETED)
            if abandoned.done():
                raise ConnectionResetError
            return approved.result()
        finally:
            for each in (approved, abandoned):
                each.cancel()
            await asyncio.wait({approved, abandoned})

    # --- WebSockets

    async def _open_socket(self, head: RequestHead, address: Address, *, free: bool) -> None:
        """Open a WebSocket without compression, so that its messages can be read.

        An address that needs approval is refused, because the GET that opens the socket may have an effect.
        """
        url = address.url.replace("http", "ws", 1)
        if not free:
            raise AddressRefused(f"a socket is not opened at an address that needs an approval: {url}")
        try:
            reader, writer = await self._policy.connect(address)
        except OSError as error:
            await self._answer(502, f"{address.origin} cannot be reached: {error}")
            return
        await _write(writer, _build_head(head, address, without=("sec-websocket-extensions",)))
        directions = {
            asyncio.create_task(_pump(reader, self._writer)),
            asyncio.create_task(pass_messages(self._policy.outbox, url, self._reader, writer)),
        }
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for direction in directions:
                direction.cancel()
            await asyncio.gather(*directions, return_exceptions=True)
            await _close(writer)

    # --- to the server

    async def _connect(self, address: Address, sent: SentRequest | None = None) -> Upstream:
        """Return the kept connection to this origin, or open a new one."""
        kept = self._upstream
        if kept and kept.origin == address.origin and not kept.sent and kept.returning and not kept.returning.done():
            return kept
        await self._disconnect()
        reader, writer = await self._policy.connect(address)
        self._upstream = Upstream(origin=address.origin, reader=reader, writer=writer, sent=sent)
        self._upstream.returning = asyncio.create_task(self._pass_back(self._upstream))
        return self._upstream

    async def _read_pieces(self, head: RequestHead) -> AsyncGenerator[tuple[bytes, bytes]]:
        """Yield the body in pieces, each as it was sent and without the framing of chunks. Raise `Rejected` if the framing is wrong."""
        left = head.length
        while left:
            data = await self._reader.readexactly(min(left, _CHUNK))
            left -= len(data)
            yield data, data
        size = 1 if head.chunked else 0
        while size:
            line = await self._reader.readuntil(b"\r\n")
            size = parse_chunk_size(line)
            data = await self._reader.readexactly(size + 2)
            if not data.endswith(b"\r\n"):
                raise Rejected("a chunk ends with CR LF, and no trailer follows the last one")
            yield line + data, data[:-2]

    async def _read_body(self, head: RequestHead) -> bytes:
        """Read the whole body and return its first `MOST_HELD` bytes."""
        kept = bytearray()
        async for _, data in self._read_pieces(head):
            kept += data[: max(0, MOST_HELD - len(kept))]
        return bytes(kept)

    # --- to the browser

    async def _pass_back(self, upstream: Upstream) -> None:
        sent = upstream.sent
        kept = b""
        with suppress(OSError):
            while data := await upstream.reader.read(_CHUNK):
                if sent is not None:
                    redirect = self._policy.outbox.record_response(sent, data)
                    if redirect is not None:
                        await self._park_redirect(redirect)
                        break
                    if sent.claimed and not sent.response.has_head:
                        kept += data
                        continue
                await _write(self._writer, kept + data)
                kept = b""
        if sent is not None and not sent.response:
            await self._answer(502, f"{upstream.origin} hung up without an answer")
        self._writer.close()

    async def _park_redirect(self, redirect: Request) -> None:
        """Park a redirected request and answer 204, because the browser itself would follow the redirect with a GET."""
        try:
            self._policy.check_address(redirect.url)
        except AddressRefused as refused:
            self._policy.refuse(f"{redirect.method} {redirect.url}", str(refused), leaves_page=True)
            await self._answer(204)
            return
        self._policy.outbox.park(redirect)
        await self._answer(204)

    async def _disconnect(self) -> None:
        upstream, self._upstream = self._upstream, None
        if upstream is None:
            return
        upstream.writer.close()
        if upstream.returning is not None:
            upstream.returning.cancel()
            await asyncio.wait([upstream.returning])
        await _close(upstream.writer)

    async def _answer(self, status: int, reason: str = "") -> None:
        """Answer instead of the server. After a 204, the browser stays on the page that it shows."""
        body = f"Midcourse did not let this through: {reason}\n".encode() if reason else b""
        fields = [("X-Midcourse-Gate", str(status))]
        if status == 407:
            fields += [("Proxy-Authenticate", 'Basic realm="midcourse"'), ("Connection", "close")]
        if body:
            fields += [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body)))]
        with suppress(OSError):
            await _write(self._writer, write_response(status, fields) + (b"" if self._is_head else body))


def _opens_socket(head: RequestHead) -> bool:
    return head.get("upgrade").lower() == "websocket"


def _build_head(
    head: RequestHead, address: Address, without: Sequence[str] = (), also: Sequence[tuple[str, str]] = ()
) -> bytes:
    """Build the head for the server, without the fields for the proxy and with the host that was checked."""
    kept = [(name, value) for name, value in head.fields if name.lower() not in (*_HOP_BY_HOP, *without)]
    connection = [("Connection", "keep-alive")]
    if _opens_socket(head):
        connection = [("Connection", "Upgrade"), ("Upgrade", "websocket")]
    host = address.origin.partition("://")[2]
    return write_request(head.method, address.path, [("Host", host), *connection, *kept, *also])


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            await _write(writer, data)


async def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
