"""One connection of a browser to the gate: request after request, each checked for itself.

Answers are passed on as they come. Only the end of a request has to be found here, because what follows it is another
one. A browser never sends a request before the last one was answered, and nothing but it gets past the password.
"""

import asyncio
import ssl
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from midcourse.worlds.browser.egress.address import Address, AddressRefused
from midcourse.worlds.browser.egress.http_head import Head, HeadUnreadable, parse_head
from midcourse.worlds.browser.egress.outbox import Outbox, SentRequest
from midcourse.worlds.browser.egress.policy import SAFE_METHODS
from midcourse.worlds.browser.egress.proxy_login import ENTRANCE
from midcourse.worlds.browser.egress.request import Request
from midcourse.worlds.browser.egress.websocket import pass_messages

MOST_HELD = 64 * 2**20
"""Bytes of a body that has to be known before it may leave."""
_CHUNK = 2**16
_PHRASES = {
    204: "No Content",
    400: "Bad Request",
    403: "Forbidden",
    407: "Proxy Authentication Required",
    413: "Content Too Large",
    502: "Bad Gateway",
}


class ProxyPolicy(Protocol):
    """Who decides. It is the gate."""

    outbox: Outbox

    def admits(self, credentials: str) -> bool: ...
    @property
    def identity(self) -> ssl.SSLContext: ...
    def behind(self, tunnel: str) -> str: ...
    def checked(self, url: str) -> Address: ...
    async def connect(self, address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]: ...
    def refuse(self, what: str, why: str) -> None: ...


@dataclass(kw_only=True)
class Upstream:
    """The connection to a server, kept for the next request to the same one."""

    origin: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    returning: asyncio.Task[None] | None = None
    sent: SentRequest | None = None
    """What was allowed to leave over it. Such a connection is used for nothing else."""


class ProxyConnection:
    def __init__(self, keeper: ProxyPolicy, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._keeper = keeper
        self._reader = reader
        self._writer = writer
        self._onward: Upstream | None = None
        self._origin = ""
        """To which a tunnel leads."""
        self._bodiless = False
        """Whether the answer that is due has no body, whatever it says."""

    async def serve(self) -> None:
        try:
            while await self._one():
                pass
        except HeadUnreadable as unreadable:
            await self._answer(400, str(unreadable))
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            await self._leave()
            await _close(self._writer)

    async def _one(self) -> bool:
        """Whether there may be another one after it."""
        head = parse_head(await self._reader.readuntil(b"\r\n\r\n"))
        self._bodiless = head.method == "HEAD"
        if not self._origin and not self._keeper.admits(head.get("proxy-authorization")):
            await self._answer(407, "this proxy belongs to another browser")
            return False
        if head.target == ENTRANCE:
            await self._answer(204, "welcome")
            return True
        if head.method == "CONNECT" and not self._origin:
            return await self._enter(head.target)
        if self._origin and not head.target.startswith("/"):
            raise HeadUnreadable("inside a tunnel there is only a path")
        url = self._origin + head.target
        try:
            address = self._keeper.checked(url)
            request = Request(method=head.method, url=url, fields=head.named, head=head)
            free = self._keeper.outbox.is_free(request)
            if head.upgrades and self._origin:
                await self._socket(head, address, free=free)
                return False
            if free:
                self._keeper.outbox.record_passed(request)
                await self._pass(head, address)
            else:
                await self._ask(head, address, request)
        except AddressRefused as refused:
            self._keeper.refuse(f"{head.method} {url}", str(refused))
            await self._body(head, None)
            await self._answer(403, str(refused))
        return True

    async def _enter(self, tunnel: str) -> bool:
        """A tunnel. What comes out of it here is read like everything else."""
        try:
            self._origin = self._keeper.behind(tunnel)
        except AddressRefused as refused:
            self._keeper.refuse(f"CONNECT {tunnel}", str(refused))
            await self._answer(403, str(refused))
            return False
        transport = self._writer.transport
        secure = self._origin.startswith("https:")
        if secure and isinstance(transport, asyncio.ReadTransport):
            transport.pause_reading()  # else the first bytes of TLS could arrive where nobody expects them
        await _write(self._writer, b"HTTP/1.1 200 Connection established\r\n\r\n")
        if secure:
            await self._writer.start_tls(self._keeper.identity)
        return True

    # --- what may leave as it is

    async def _pass(self, head: Head, address: Address) -> None:
        try:
            onward = await self._towards(address)
        except OSError as trouble:
            await self._body(head, None)
            await self._answer(502, f"{address.origin} cannot be reached: {trouble}")
            return
        onward.writer.write(head.onward(address.path, _host(address)))
        await self._body(head, onward.writer)

    # --- what has to be allowed first

    async def _ask(self, head: Head, address: Address, request: Request) -> None:
        """It gets a connection of its own: on a kept one, a browser sends again, unasked, what a server swallowed."""
        await self._leave()
        request = self._keeper.outbox.trace_redirect(replace(request, body=await self._body(head, None)))
        if len(request.body) == MOST_HELD:
            await self._answer(413, f"what has to be allowed first has less than {MOST_HELD} bytes")
            return
        if request.is_navigation:
            sent = self._keeper.outbox.send_now(request)
        else:
            sent = await self._while_waited_for(request)
        if sent is not None:
            await self._send(address, sent)
        elif request.is_navigation:
            self._keeper.outbox.park(request)
            await self._answer(204, "it waits")
        else:
            await self._answer(403, "it was not allowed")

    async def _send(self, address: Address, sent: SentRequest) -> None:
        head, body = sent.request.head, sent.request.body
        assert head is not None, "only a message has none"
        try:
            onward = await self._towards(address, sent)
        except (AddressRefused, OSError) as trouble:
            sent.reached = False
            await self._answer(502, f"{address.origin} cannot be reached: {trouble}")
            return
        plain = head.onward(
            address.path, _host(address), without=("accept-encoding", "content-length", "transfer-encoding")
        )
        length = f"Content-Length: {len(body)}\r\n\r\n" if body or head.method not in SAFE_METHODS else "\r\n"
        await _write(onward.writer, plain.removesuffix(b"\r\n") + length.encode() + body)

    async def _while_waited_for(self, request: Request) -> SentRequest | None:
        """Raises `ConnectionResetError` if the browser no longer wants it sent."""
        asked = asyncio.ensure_future(self._keeper.outbox.wait_for_permission(request))
        gone = asyncio.ensure_future(self._reader.read(1))
        try:
            await asyncio.wait({asked, gone}, return_when=asyncio.FIRST_COMPLETED)
            if gone.done():
                raise ConnectionResetError
            return asked.result()
        finally:
            for each in (asked, gone):
                each.cancel()
            await asyncio.wait({asked, gone})

    # --- messages

    async def _socket(self, head: Head, address: Address, *, free: bool) -> None:
        """Without compression, so that messages can be read. What opens it is a GET, and may do something by itself."""
        url = address.url.replace("http", "ws", 1)
        if not free:
            raise AddressRefused(f"a socket is not opened at an address that has to be allowed first: {url}")
        try:
            reader, writer = await self._keeper.connect(address)
        except OSError as trouble:
            await self._answer(502, f"{address.origin} cannot be reached: {trouble}")
            return
        await _write(writer, head.onward(address.path, _host(address), without=("sec-websocket-extensions",)))
        ways = {
            asyncio.create_task(_pump(reader, self._writer)),
            asyncio.create_task(pass_messages(self._keeper.outbox, url, self._reader, writer)),
        }
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            await _close(writer)

    # --- there

    async def _towards(self, address: Address, sent: SentRequest | None = None) -> Upstream:
        """A kept connection, or a new one."""
        kept = self._onward
        if kept and kept.origin == address.origin and not kept.sent and kept.returning and not kept.returning.done():
            return kept
        await self._leave()
        reader, writer = await self._keeper.connect(address)
        self._onward = Upstream(origin=address.origin, reader=reader, writer=writer, sent=sent)
        self._onward.returning = asyncio.create_task(self._return(self._onward))
        return self._onward

    async def _body(self, head: Head, to: asyncio.StreamWriter | None) -> bytes:
        """Passed on, or kept if there is nobody to pass it on to."""
        kept = bytearray()

        async def take(data: bytes) -> None:
            if to is None:
                kept.extend(data[: max(0, MOST_HELD - len(kept))])
            else:
                await _write(to, data)

        left = head.length
        while left:
            data = await self._reader.readexactly(min(left, _CHUNK))
            left -= len(data)
            await take(data)
        while head.chunked:
            line = await self._reader.readuntil(b"\r\n")
            size = _chunk_size(line)
            data = await self._reader.readexactly(size + 2)
            await take(data[:-2] if to is None else line + data)
            if not size:
                break
        if to is not None:
            await to.drain()
        return bytes(kept)

    # --- and back

    async def _return(self, onward: Upstream) -> None:
        sent = onward.sent
        kept = b""
        with suppress(OSError):
            while data := await onward.reader.read(_CHUNK):
                if sent is not None:
                    redirect = self._keeper.outbox.record_response(sent, data)
                    if redirect is not None:
                        await self._park_redirect(redirect)
                        break
                    if sent.claimed and not sent.response.has_head:
                        kept += data
                        continue
                await _write(self._writer, kept + data)
                kept = b""
        if sent is not None and not sent.response:
            await self._answer(502, f"{onward.origin} hung up without an answer")
        self._writer.close()

    async def _park_redirect(self, redirect: Request) -> None:
        """In place of an answer that the browser would follow by a GET."""
        try:
            self._keeper.checked(redirect.url)
        except AddressRefused as refused:
            self._keeper.refuse(f"{redirect.method} {redirect.url}", str(refused))
            await self._answer(403, str(refused))
            return
        self._keeper.outbox.park(redirect)
        await self._answer(204, "it waits")

    async def _leave(self) -> None:
        onward, self._onward = self._onward, None
        if onward is None:
            return
        if onward.returning is not None:
            onward.returning.cancel()
            await asyncio.wait([onward.returning])
        await _close(onward.writer)

    async def _answer(self, status: int, says: str) -> None:
        body = b"" if status == 204 else f"Midcourse did not let this through: {says}\n".encode()
        head = f"HTTP/1.1 {status} {_PHRASES[status]}\r\nX-Midcourse-Gate: {status}\r\n"
        if status == 407:
            head += 'Proxy-Authenticate: Basic realm="midcourse"\r\nConnection: close\r\n'
        if body:
            head += f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
        with suppress(OSError):
            await _write(self._writer, f"{head}\r\n".encode() + (b"" if self._bodiless else body))


def _host(address: Address) -> str:
    return address.origin.partition("://")[2]


def _chunk_size(line: bytes) -> int:
    try:
        return int(line.partition(b";")[0].strip(), 16)
    except ValueError:
        raise HeadUnreadable("a chunk begins with its size") from None


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
