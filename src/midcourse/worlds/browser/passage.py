"""One connection of a browser to the gate: request after request, each checked for itself.

Answers are passed on as they come. Only the end of a request has to be found here, because what follows it is another
one. A browser never sends a request before the last one was answered, and nothing but it gets this far.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from midcourse.worlds.browser.address import Address, AddressRefused, parse
from midcourse.worlds.browser.http_head import Head, HeadUnreadable, parse_head
from midcourse.worlds.browser.origins import SAFE_METHODS

_CHUNK = 2**16
_PHRASES = {400: "Bad Request", 403: "Forbidden", 502: "Bad Gateway"}


class Keeper(Protocol):
    """Who decides. It is the gate."""

    def checked(self, method: str, url: str) -> Address: ...
    async def connect(self, address: Address) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]: ...
    def refuse(self, what: str, why: str) -> None: ...


@dataclass(kw_only=True)
class Onward:
    """The connection to a server, kept for the next request to the same one."""

    address: Address
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    returning: asyncio.Task[None] | None = field(default=None)
    unanswered: str = ""
    """The method that no byte of an answer has come for yet."""

    def leads_to(self, address: Address) -> bool:
        return self.address.origin == address.origin and self.returning is not None and not self.returning.done()


class Passage:
    def __init__(self, keeper: Keeper, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._keeper = keeper
        self._reader = reader
        self._writer = writer
        self._onward: Onward | None = None

    async def serve(self) -> None:
        try:
            while await self._one():
                pass
        except HeadUnreadable as unreadable:
            await self._answer(400, str(unreadable))
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            await self._leave()
            await _close(self._writer)

    async def _one(self) -> bool:
        """Whether there may be another one after it."""
        head = parse_head(await self._reader.readuntil(b"\r\n\r\n"))
        if head.method == "CONNECT":
            await self._tunnel(head)
            return False
        try:
            address = self._keeper.checked(head.method, head.target)
            onward = await self._towards(address, head.method)
        except AddressRefused as refused:
            self._keeper.refuse(f"{head.method} {head.target}", str(refused))
            await self._pass_body(head, None)
            await self._answer(403, str(refused))
            return True
        except OSError as trouble:
            await self._pass_body(head, None)
            await self._answer(502, f"{head.target} cannot be reached: {trouble}")
            return True
        onward.unanswered = head.method
        onward.writer.write(head.onward(address.path, address.origin.partition("://")[2]))
        await self._pass_body(head, onward.writer)
        return True

    # --- there

    async def _towards(self, address: Address, method: str) -> Onward:
        """A kept connection, or a new one.

        What must not be sent twice gets a new one: a browser sends again, unasked, what a kept one swallowed.
        """
        if self._onward is not None and self._onward.leads_to(address) and method in SAFE_METHODS:
            return self._onward
        await self._leave()
        reader, writer = await self._keeper.connect(address)
        self._onward = Onward(address=address, reader=reader, writer=writer)
        self._onward.returning = asyncio.create_task(self._return(self._onward))
        return self._onward

    async def _pass_body(self, head: Head, to: asyncio.StreamWriter | None) -> None:
        """To nobody, if the request was refused: it has to be taken in all the same."""
        left = head.length
        while left:
            data = await self._reader.read(min(left, _CHUNK))
            if not data:
                raise ConnectionResetError
            left -= len(data)
            await _write(to, data)
        if head.chunked:
            await self._pass_chunks(to)
        await _write(to, b"")

    async def _pass_chunks(self, to: asyncio.StreamWriter | None) -> None:
        while True:
            line = await self._reader.readuntil(b"\r\n")
            try:
                size = int(line.partition(b";")[0].strip(), 16)
            except ValueError:
                raise HeadUnreadable("a chunk begins with its size") from None
            await _write(to, line + await self._reader.readexactly(size + 2))
            if not size:
                return

    # --- and back

    async def _return(self, onward: Onward) -> None:
        with suppress(ConnectionError):
            while data := await onward.reader.read(_CHUNK):
                onward.unanswered = ""
                await _write(self._writer, data)
        if onward.unanswered and onward.unanswered not in SAFE_METHODS:
            await self._answer(502, f"{onward.address.origin} hung up without an answer")
        self._writer.close()

    async def _leave(self) -> None:
        onward, self._onward = self._onward, None
        if onward is None:
            return
        if onward.returning is not None:
            onward.returning.cancel()
            await asyncio.wait([onward.returning])
        await _close(onward.writer)

    async def _answer(self, status: int, says: str) -> None:
        body = f"Midcourse did not let this through: {says}\n".encode()
        head = (
            f"HTTP/1.1 {status} {_PHRASES[status]}\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(body)}\r\nX-Midcourse-Gate: {status}\r\n\r\n"
        )
        with suppress(ConnectionError):
            await _write(self._writer, head.encode() + body)

    # --- what nobody here can read

    async def _tunnel(self, head: Head) -> None:
        try:
            address = parse(f"https://{head.target}")
            reader, writer = await self._keeper.connect(address)
        except AddressRefused as refused:
            self._keeper.refuse(f"CONNECT {head.target}", str(refused))
            await self._answer(403, str(refused))
            return
        except OSError as trouble:
            await self._answer(502, f"{head.target} cannot be reached: {trouble}")
            return
        await _write(self._writer, b"HTTP/1.1 200 Connection established\r\n\r\n")
        both = {asyncio.create_task(_pump(self._reader, writer)), asyncio.create_task(_pump(reader, self._writer))}
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in both:
                way.cancel()
            await asyncio.wait(both)
            await _close(writer)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(_CHUNK):
            await _write(writer, data)


async def _write(writer: asyncio.StreamWriter | None, data: bytes) -> None:
    if writer is not None:
        writer.write(data)
        await writer.drain()


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
