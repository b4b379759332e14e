"""The proxy through which all traffic of a browser passes, and its connections. It connects to allowed origins only.

It resolves names itself and connects to the address that it checked, so a later answer of a name server has no effect. It
reads every request, even under TLS, and requests that need approval wait in the outbox. What Chromium does by itself passes
through the proxy as well: redirects, prefetches, workers, beacons, downloads, requests of closed tabs.

The requests of a connection are read one after the other, and each is checked separately. Responses are passed on as they
arrive. Only the end of each request must be found, because the next request follows it. The browser sends no request before
the last one was answered.

Other accounts on this machine can connect to the proxy, so it requires a password that only its own browser has.
"""

import asyncio
import hmac
import secrets
import ssl
from base64 import b64encode
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong, TextMessage
from wsproto.frame_protocol import CloseReason

from midcourse.http1 import Rejected, RequestHead, parse_chunk_size, parse_request, write_request, write_response
from midcourse.worlds.browser.egress.address import Address, AddressRefused, Resolver, parse, resolve
from midcourse.worlds.browser.egress.outbox import MAX_SAID, Outbox, OutgoingRequest, Socket, State
from midcourse.worlds.browser.egress.policy import SAFE_METHODS, SOCKET, Origins
from midcourse.worlds.browser.egress.request import BINARY, Request
from midcourse.worlds.browser.egress.response import RecordedResponse
from midcourse.worlds.browser.egress.tls import Certificate

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page


LISTEN_ADDRESSES = ("127.77.67.71", "127.0.0.1")
"""Addresses to listen on; the first one that this machine has is used.

A site that clears its cookies (`Clear-Site-Data`) makes Chromium forget passwords for its host on every port. So if all of
127.* is loopback, as on Linux, the proxy listens on an address that no site uses.
"""
FLAGS = (
    "--disable-quic",
    f"--host-resolver-rules=MAP * ~NOTFOUND, {', '.join(f'EXCLUDE {address}' for address in LISTEN_ADDRESSES)}",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--no-pings",
    "--disable-domain-reliability",
)
"""Flags without which Chromium bypasses the proxy or sends reports.

Which of the two WebRTC flags has an effect depends on the build of Chromium; the other one is silently ignored.
"""

ENTRANCE = "http://gate.midcourse.invalid/"
"""An address that the proxy itself answers, without a body, so that the tab stays as it is."""
USER = "midcourse"
_LOG_IN_SECONDS = 30.0
CONNECT_SECONDS = 10.0
MAX_HEAD = 2**18
"""The maximum size of a request's head, in bytes. There may be many cookies, but servers refuse this much."""
MAX_BODY = 64 * 2**20
"""A body that is read in full before it may leave must have fewer bytes than this."""
MAX_MESSAGE = 16 * 2**20
"""The maximum size of a message of a WebSocket, in bytes."""
_MOST_QUEUED = 20
"""How many messages of a WebSocket are read behind one that waits."""
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


@cache
def _system_trust_store() -> ssl.SSLContext:
    """Load the system's certificate authorities. This is slow, so it is done when they are first needed."""
    return ssl.create_default_context()


class Proxy:
    """A proxy for one browser. It listens on loopback while the browser is open."""

    def __init__(
        self,
        origins: Origins,
        outbox: Outbox,
        *,
        resolver: Resolver | None = None,
        trusted: ssl.SSLContext | None = None,
        certificate: Certificate | None = None,
    ) -> None:
        """`trusted` holds the certificate authorities to trust, by default the system's. Proxies of one browser share a `certificate`."""
        self.origins = origins
        self.outbox = outbox
        self.password = secrets.token_urlsafe(32)
        self._expected = b"Basic " + b64encode(f"{USER}:{self.password}".encode())
        self._resolver = resolver
        self.certificate = certificate or Certificate()
        self._trusted = trusted
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def open(self) -> str:
        """Start to listen, and return the address for Chromium's proxy option."""
        for address in LISTEN_ADDRESSES:
            with suppress(OSError):
                self._server = await asyncio.start_server(self._accept, address, 0, limit=MAX_HEAD)
                return "http://{}:{}".format(*self._server.sockets[0].getsockname())
        raise ConnectionError("there is no free port on this machine")

    async def close(self) -> None:
        """End all connections. Nothing leaves the browser after this."""
        if self._server is not None:
            self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    @property
    def flags(self) -> tuple[str, ...]:
        """Command-line flags that Chromium needs."""
        return (*FLAGS, self.certificate.flag)

    # --- called by a connection

    def admits(self, credentials: str) -> bool:
        """Whether these credentials are those of the proxy's own browser."""
        return hmac.compare_digest(credentials.encode(errors="replace"), self._expected)

    def find_tunnel_origin(self, tunnel: str) -> str:
        """Return the origin that a tunnel to this host and port leads to. Raise `AddressRefused` if the policy does not allow it."""
        address = parse(f"https://{tunnel}")
        for scheme in ("https", "http"):
            found = Address(scheme=scheme, host=address.host, port=address.port, rest="")
            if self.origins.find_rules(found) is not None:
                return found.origin
        raise AddressRefused(f"{tunnel} is not in the policy file, so it cannot be reached")

    async def connect(self, address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to an address after checking it. Raise `AddressRefused` if it may not be reached, `OSError` if no server answers."""
        origin = self.origins.check(address.url)[1]
        trusted = (self._trusted or _system_trust_store()) if address.scheme in ("https", "wss") else None
        last_error: OSError = ConnectionRefusedError(f"{address.host} does not answer")
        for ip in await resolve(address, private=origin.private, resolver=self._resolver):
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    return await asyncio.open_connection(
                        str(ip),
                        address.port,
                        limit=MAX_HEAD,
                        ssl=trusted,
                        server_hostname=address.host.strip("[]") if trusted else None,
                    )
            except OSError as error:
                last_error = error
        raise last_error

    # --- connections

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.create_task(ProxyConnection(self, reader, writer).serve())
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)


@dataclass(kw_only=True)
class Upstream:
    """A connection to a server. It is kept for the next request to the same server."""

    origin: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    returning: asyncio.Task[None] | None = None
    sent: OutgoingRequest | None = None
    """The approved request that left over it. Such a connection is not used again."""
    document: RecordedResponse | None = None
    """What records the response under way, if it is the document of a tab."""


class ProxyConnection:
    """One connection of the browser to its proxy."""

    def __init__(self, proxy: Proxy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._proxy = proxy
        self._outbox = proxy.outbox
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
        # Chromium gives the password when it opens a tunnel, and not again inside it.
        if not self._origin and not self._proxy.admits(head.get("proxy-authorization")):
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
            address, _ = self._proxy.origins.check(url)
            free = self._outbox.is_free(request)
            if _opens_socket(head) and self._origin:
                # The GET that opens a socket may have an effect of its own, besides the messages, each of which is decided later.
                if not free:
                    socket = address.url.replace("http", "ws", 1)
                    raise AddressRefused(f"a socket is not opened at an address that needs an approval: {socket}")
                await self._open_socket(head, address)
                return False
            if free:
                self._outbox.record_passed(request)
                await self._forward(head, address, self._outbox.keep_alives.note_document(request))
                return True
            return await self._submit(head, address, request)
        except AddressRefused as refused:
            await self._read_body(head)
            return await self._refuse(request, str(refused))

    async def _refuse(self, request: Request, why: str) -> bool:
        """Record and answer a request that may not leave. Return whether another one may follow."""
        leaves_page = request.is_navigation and request.is_by_page
        if leaves_page or not self._refusal:  # the refusal of the tunnel was recorded already
            self._outbox.record_refusal(f"{request.method} {request.url}", why, leaves_page=leaves_page)
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
            self._origin = self._proxy.find_tunnel_origin(tunnel)
        except AddressRefused as refused:
            if not self._outbox.record_refusal(f"CONNECT {tunnel}", str(refused)):
                await self._answer(403, str(refused))
                return False
            self._origin, self._refusal = f"https://{tunnel.removesuffix(':443')}", str(refused)
        transport = self._writer.transport
        secure = self._origin.startswith("https:")
        if secure and isinstance(transport, asyncio.ReadTransport):
            transport.pause_reading()  # otherwise the first bytes of TLS could arrive before `start_tls` expects them
        await _write(self._writer, b"HTTP/1.1 200 Connection established\r\n\r\n")
        if secure:
            await self._writer.start_tls(self._proxy.certificate.context)
        return True

    # --- requests that may leave as they are

    async def _forward(self, head: RequestHead, address: Address, document: RecordedResponse | None) -> None:
        """Pass a request on. `document` records the response, if it is that of a page in a tab."""
        try:
            upstream = await self._connect(address)
        except OSError as error:
            await self._read_body(head)
            await self._answer(502, f"{address.origin} cannot be reached: {error}")
            return
        upstream.document = document
        plain = _build_head(head, address)
        if document is not None:  # of the compressions that browsers ask for, gzip can be read here
            plain = _build_head(head, address, without=("accept-encoding",), also=[("Accept-Encoding", "gzip")])
        upstream.writer.write(plain)
        async for raw, _ in self._read_pieces(head):
            await _write(upstream.writer, raw)
        await upstream.writer.drain()

    # --- requests that wait for an approval

    async def _submit(self, head: RequestHead, address: Address, request: Request) -> bool:
        """Submit a request that is not free to the outbox, and do what it decides. Return whether another one may follow."""
        # What is allowed gets a connection of its own. If a kept one ends without a response, it is unknown whether the server
        # has read the request, and the browser sends it again by itself. A server that closes a kept one while the request is
        # held would also end the wait of the browser.
        await self._disconnect()
        # The body is read in full before it is decided, since an approval is for exactly these bytes.
        request = replace(request, body=await self._read_body(head))
        if len(request.body) == MAX_BODY:
            return await self._refuse(request, f"a request that needs an approval has less than {MAX_BODY} bytes")
        outgoing = self._outbox.admit(request)
        if outgoing.state is State.HELD:
            await self._wait_until_decided(outgoing)
        if outgoing.state is State.SENT:
            await self._send(address, outgoing)
            return True
        if request.is_navigation:
            # Parked: while a navigation is under way, Chromium answers no question about the page, so nothing could be observed
            # until it is approved. After a 204 the page stays as it is, also if the navigation was dropped because too many wait.
            await self._answer(204)
            return True
        return await self._turn_away(request)

    async def _wait_until_decided(self, held: OutgoingRequest) -> None:
        """Wait until a request is released or dropped. Raise `ConnectionResetError` if the browser no longer waits for it."""
        decided = asyncio.ensure_future(held.decided.wait())
        # The browser sends nothing before it has got an answer, so whatever can be read is the end of its connection.
        abandoned = asyncio.ensure_future(self._reader.read(1))
        try:
            await asyncio.wait({decided, abandoned}, return_when=asyncio.FIRST_COMPLETED)
            if abandoned.done():
                raise ConnectionResetError
        except (asyncio.CancelledError, ConnectionResetError):
            held.give_up()
            raise
        finally:
            for each in (decided, abandoned):
                each.cancel()
            await asyncio.wait({decided, abandoned})

    async def _send(self, address: Address, sent: OutgoingRequest) -> None:
        head, body = sent.request.head, sent.request.body
        assert head is not None, "only a message has none"
        try:
            upstream = await self._connect(address, sent)
        except (AddressRefused, OSError) as error:
            sent.move(State.UNREACHED)
            await self._answer(502, f"{address.origin} cannot be reached: {error}")
            return
        # Do not accept compression, so that the evidence rules can read the response.
        length = [("Content-Length", str(len(body)))] if body or head.method not in SAFE_METHODS else []
        plain = _build_head(head, address, without=("accept-encoding", *_FRAMING), also=length)
        await _write(upstream.writer, plain + body)

    # --- WebSockets

    async def _open_socket(self, head: RequestHead, address: Address) -> None:
        """Open a WebSocket without compression, so that its messages can be read."""
        try:
            reader, writer = await self._proxy.connect(address)
        except OSError as error:
            await self._answer(502, f"{address.origin} cannot be reached: {error}")
            return
        await _write(writer, _build_head(head, address, without=("sec-websocket-extensions",)))
        said = {name: head.named[name] for name in ("origin", "sec-fetch-site") if name in head.named}
        socket = Socket(url=address.url.replace("http", "ws", 1), fields=said)
        directions = {
            asyncio.create_task(_pump(reader, self._writer, socket)),
            asyncio.create_task(pass_messages(self._outbox, socket, self._reader, writer)),
        }
        self._outbox.sockets.add(socket)
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for direction in directions:
                direction.cancel()
            self._outbox.sockets.discard(socket)
            await asyncio.gather(*directions, return_exceptions=True)
            await _close(writer)

    # --- to the server

    async def _connect(self, address: Address, sent: OutgoingRequest | None = None) -> Upstream:
        """Return the kept connection to this origin, or open a new one."""
        kept = self._upstream
        if kept and kept.origin == address.origin and not kept.sent and kept.returning and not kept.returning.done():
            return kept
        await self._disconnect()
        reader, writer = await self._proxy.connect(address)
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
        """Read the whole body and return its first `MAX_BODY` bytes."""
        kept = bytearray()
        async for _, data in self._read_pieces(head):
            kept += data[: max(0, MAX_BODY - len(kept))]
        return bytes(kept)

    # --- to the browser

    async def _pass_back(self, upstream: Upstream) -> None:
        sent = upstream.sent
        kept = b""
        with suppress(OSError):
            while data := await upstream.reader.read(_CHUNK):
                if upstream.document is not None:
                    upstream.document.append(data)
                if sent is not None:
                    self._outbox.record_response(sent, data)
                    if sent.replaces_get and sent.state is State.REDIRECTED:
                        # The browser asked by a GET and would follow by a GET. The outbox has parked what the server asks for.
                        await self._answer(204)
                        kept = b""
                        break
                    if sent.replaces_get and sent.state is State.SENT:
                        kept += data  # only the whole head shows whether the browser may see it
                        continue
                await _write(self._writer, kept + data)
                kept = b""
        if sent is not None and (kept or not sent.response):
            # Silence would make Chromium send the request again by itself. What was kept is a part of a head, which it cannot read.
            await self._answer(502, f"{upstream.origin} hung up without an answer")
        self._writer.close()

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


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, socket: Socket) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            socket.awaits_answer_since = 0.0
            socket.said += data[: max(0, MAX_SAID - len(socket.said))]
            await _write(writer, data)


async def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(data)
    await writer.drain()


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


# --- WebSockets


async def pass_messages(
    outbox: Outbox, socket: Socket, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Pass messages on until the page closes the socket, breaks the protocol, or a message is dropped.

    After a dropped message the socket is closed, so that the page learns that the message did not arrive. A keep-alive that is
    discarded closes nothing. Messages behind one that waits wait as well, and what an act sends in several is asked about together.
    """
    server = Connection(ConnectionType.CLIENT)
    queue: asyncio.Queue[_Queued] = asyncio.Queue(_MOST_QUEUED)
    reading = asyncio.create_task(_read_messages(outbox, socket, server, reader, writer, queue))
    queued: _Queued | None = None
    try:
        while not isinstance((queued := await queue.get()).event, CloseConnection):
            if not await _may_leave(queued, reading):
                return
            writer.write(server.send(queued.event))
            queued = None
            socket.awaits_answer_since = asyncio.get_running_loop().time()
            await writer.drain()
        if not await reading:
            # The server gets neither code nor reason, because a page could send something in them.
            writer.write(server.send(CloseConnection(code=CloseReason.NO_STATUS_RCVD)))
            await writer.drain()
    finally:
        reading.cancel()
        await asyncio.wait([reading])
        for left in (queued, *(queue.get_nowait() for _ in range(queue.qsize()))):
            if left is not None and left.outgoing is not None:
                left.outgoing.give_up()


@dataclass(frozen=True, kw_only=True)
class _Queued:
    """A message in the order in which the page sent it, or the end of the socket. `outgoing` is None if it needs no approval."""

    event: TextMessage | BytesMessage | CloseConnection
    outgoing: OutgoingRequest | None = None


async def _may_leave(queued: _Queued, reading: "asyncio.Task[bool]") -> bool:
    """Wait until it is decided whether a message leaves. One whose tab goes away meanwhile does not."""
    outgoing = queued.outgoing
    if outgoing is None or outgoing.state is State.SENT:
        return True
    decided = asyncio.ensure_future(outgoing.decided.wait())
    try:
        while outgoing.waits and not (reading.done() and reading.result()):
            await asyncio.wait({decided} if reading.done() else {decided, reading}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        decided.cancel()
    return outgoing.state is State.SENT


async def _read_messages(
    outbox: Outbox,
    socket: Socket,
    server: Connection,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    queue: "asyncio.Queue[_Queued]",
) -> bool:
    """Submit each message of the page to the outbox, and queue those that may leave at some time. Return whether the browser hung up.

    The end is queued as well: the page closed the socket, wsproto found a broken frame, or a message was dropped at once.
    """
    page, body = Connection(ConnectionType.SERVER), bytearray()
    end, before = _Queued(event=CloseConnection(code=CloseReason.NO_STATUS_RCVD)), None
    while data := await reader.read(_CHUNK):
        page.receive_data(data)
        for event in page.events():
            if isinstance(event, Ping | Pong):
                writer.write(server.send(event))  # at once, since a server would take the silence for the end
            elif isinstance(event, TextMessage | BytesMessage):
                is_text = isinstance(event, TextMessage)
                body += event.data.encode() if isinstance(event, TextMessage) else event.data
                if len(body) > MAX_MESSAGE:
                    await queue.put(end)
                    return True
                if not event.message_finished:
                    continue
                outgoing = _submit_message(outbox, socket, bytes(body), is_text=is_text)
                whole = TextMessage(body.decode()) if is_text else BytesMessage(bytes(body))
                body.clear()
                if outgoing is not None and outgoing.state is State.DISCARDED:
                    continue
                await queue.put(_Queued(event=whole, outgoing=outgoing))
                if outgoing is not None and outgoing.state is State.HELD:
                    outgoing.behind, before = before, outgoing
            else:
                await queue.put(end)
                return False
        await writer.drain()
    await queue.put(end)
    return True


def _submit_message(outbox: Outbox, socket: Socket, body: bytes, *, is_text: bool) -> OutgoingRequest | None:
    """Submit a message to the outbox. Return None if it needs no approval."""
    fields = {**socket.fields, "content-type": "text/plain" if is_text else BINARY}
    request = Request(method=SOCKET, url=socket.url, fields=fields, body=body, number=socket.messages)
    socket.messages += 1
    if outbox.is_free(request):
        outbox.record_passed(request)
        return None
    return outbox.admit(request)


# --- the password


async def log_in(context: "BrowserContext", page: "Page", password: str) -> None:
    """Give the password of the proxy to the browser, once for each context and before the first page is loaded.

    Chromium keeps a password that a proxy has accepted and sends it with every later request, tunnel and worker of the context.
    So it is enough that one request, to an address that only the proxy answers, gets a 407. Playwright's option for proxy
    passwords would intercept every request while the browser is open, and would give the password to any site that asks for one.

    Raise `ConnectionError` if the browser does not ask for it.
    """
    from playwright.async_api import Error

    cdp: Any = await context.new_cdp_session(page)  # Playwright does not declare its types
    asked: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    tasks: set[asyncio.Task[Any]] = set()

    def send(method: str, **values: object) -> None:
        tasks.add(asyncio.create_task(cdp.send(method, values)))

    def on_paused(event: Any) -> None:
        send("Fetch.continueRequest", requestId=event["requestId"])

    def on_auth(event: Any) -> None:
        credentials = {"response": "ProvideCredentials", "username": USER, "password": password}
        if asked.done() or event["authChallenge"].get("source") != "Proxy":
            credentials = {"response": "CancelAuth"}
        else:
            asked.set_result(None)
        send("Fetch.continueWithAuth", requestId=event["requestId"], authChallengeResponse=credentials)

    cdp.on("Fetch.requestPaused", on_paused)
    cdp.on("Fetch.authRequired", on_auth)
    await cdp.send("Fetch.enable", {"handleAuthRequests": True, "patterns": [{"urlPattern": f"{ENTRANCE}*"}]})
    try:
        with suppress(Error):  # an answer without a body ends the navigation
            await page.goto(ENTRANCE, timeout=1000 * _LOG_IN_SECONDS)
        if not asked.done():
            raise ConnectionError("the browser did not ask for the password of its proxy")
    finally:
        await asyncio.gather(*tasks, return_exceptions=True)
        with suppress(Error):
            await cdp.send("Fetch.disable")
            await cdp.detach()
