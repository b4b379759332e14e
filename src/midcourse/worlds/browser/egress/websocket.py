"""Messages of a page through a WebSocket, on their way to the server: each has to be allowed, like a request."""

import asyncio
from dataclasses import dataclass

from midcourse.worlds.browser.egress.outbox import Outbox
from midcourse.worlds.browser.egress.policy import SOCKET
from midcourse.worlds.browser.egress.request import Request

MOST_HELD = 16 * 2**20

_TEXT, _CLOSE = 1, 8
_SAYING_NOTHING = b"\x88\x80\0\0\0\0"
"""A closing frame without a reason, in which a page could say something, too."""


@dataclass(frozen=True, kw_only=True)
class Frame:
    raw: bytes
    opcode: int
    final: bool
    payload: bytes


async def pass_messages(outbox: Outbox, url: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until the page closes it, or a message is dropped: then the page has to learn that it did not arrive.

    What comes after a message that waits, waits behind it.
    """
    message: list[Frame] = []
    while True:
        frame = await _read(reader)
        if frame.opcode >= _CLOSE:
            writer.write(_SAYING_NOTHING if frame.opcode == _CLOSE else frame.raw)
            if frame.opcode == _CLOSE:
                await writer.drain()
                return
            continue
        message.append(frame)
        if sum(len(each.payload) for each in message) > MOST_HELD:
            return
        if not frame.final:
            continue
        request = _request(url, message)
        if outbox.is_free(request):
            outbox.record_passed(request)
        elif await outbox.wait_for_permission(request) is None:
            return
        writer.write(b"".join(each.raw for each in message))
        await writer.drain()
        message.clear()


def _request(url: str, message: list[Frame]) -> Request:
    kind = "text/plain" if message[0].opcode == _TEXT else "application/octet-stream"
    return Request(
        method=SOCKET, url=url, fields={"content-type": kind}, body=b"".join(frame.payload for frame in message)
    )


async def _read(reader: asyncio.StreamReader) -> Frame:
    head = await reader.readexactly(2)
    length = head[1] & 0x7F
    more = b""
    if length >= 126:
        more = await reader.readexactly(2 if length == 126 else 8)
        length = int.from_bytes(more)
    if length > MOST_HELD:
        raise ConnectionResetError("a message is too large")
    mask = await reader.readexactly(4) if head[1] & 0x80 else b""
    masked = await reader.readexactly(length)
    return Frame(
        raw=head + more + mask + masked,
        opcode=head[0] & 0x0F,
        final=bool(head[0] & 0x80),
        payload=_unmasked(masked, mask) if mask else masked,
    )


def _unmasked(masked: bytes, mask: bytes) -> bytes:
    """All at once: byte by byte would take a second for each megabyte."""
    repeated = (mask * (len(masked) // 4 + 1))[: len(masked)]
    return (int.from_bytes(masked) ^ int.from_bytes(repeated)).to_bytes(len(masked))
