"""Frames of a page's WebSocket: what the server gets of them, and which ones end the connection."""

import asyncio
from collections.abc import Callable
from typing import cast

import pytest
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Event, Ping, TextMessage
from wsproto.frame_protocol import CloseReason

from midcourse.worlds.browser.egress import proxy
from midcourse.worlds.browser.egress.outbox import Outbox, Socket, State
from midcourse.worlds.browser.egress.policy import read_origins
from midcourse.worlds.browser.egress.proxy import pass_messages

SITE = "http://127.0.0.1:8000"


class Server:
    """A stream writer that collects the bytes written to it."""

    def __init__(self) -> None:
        self.received = bytearray()

    def write(self, data: bytes) -> None:
        self.received += data

    async def drain(self) -> None:
        pass

    def events(self) -> list[Event]:
        connection = Connection(ConnectionType.SERVER, trailing_data=bytes(self.received))
        return list(connection.events())


def frame(first: int, payload: bytes, *, masked: bool = True) -> bytes:
    mask = b"abcd" if masked else b""
    sent = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)) if masked else payload
    return bytes((first, len(payload) | (0x80 if masked else 0))) + mask + sent


async def forward(*pieces: bytes, decide: Callable[[Outbox], None] | None = None) -> tuple[list[Event], bool]:
    """Forward these pieces. Returns the events that reach the server, and whether the connection ended early."""
    origins = read_origins(None, SITE)
    outbox, reader, server = Outbox(origins), asyncio.StreamReader(), Server()
    outbox.attended = decide is None
    work = asyncio.create_task(
        pass_messages(outbox, Socket(url=SITE.replace("http", "ws")), reader, cast(asyncio.StreamWriter, server))
    )
    for piece in pieces:
        reader.feed_data(piece)
        await _settle()
        if decide is not None and outbox.waiting:
            decide(outbox)
    await _settle()
    ended = work.done()
    reader.feed_eof()
    await work
    return server.events(), ended


async def _settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_messages_arrive_whole_whatever_pieces_they_came_in() -> None:
    text, more = frame(0x01, "grü".encode()), frame(0x80, b"n")
    ping, binary = frame(0x89, b"?"), frame(0x82, b"\xff\0")
    stream = text + ping + more + binary
    expected = [Ping(payload=b"?"), TextMessage(data="grün"), BytesMessage(data=b"\xff\0")]
    assert await forward(stream) == (expected, False)
    assert await forward(*(bytes([byte]) for byte in stream)) == (expected, False)


async def test_a_close_says_nothing_to_the_server() -> None:
    events, ended = await forward(frame(0x88, b"\x0f\xa0secret"), frame(0x81, b"later"))
    assert (events, ended) == ([CloseConnection(code=CloseReason.NO_STATUS_RCVD, reason="")], True)


@pytest.mark.parametrize(
    "broken",
    [
        frame(0xC1, b"compressed"),
        frame(0xA1, b"rsv2"),
        frame(0x91, b"rsv3"),
        frame(0x09, b"fragmented ping"),
        frame(0x08, b""),
        frame(0x89, b"x" * 126),
        frame(0x83, b"unknown opcode"),
        frame(0x80, b"continues nothing"),
        frame(0x01, b"begun") + frame(0x81, b"begun again"),
        frame(0x81, b"\xff\xfe"),
        frame(0x81, b"unmasked", masked=False),
        b"\x81\xfe\0\x05abcdhello",
    ],
)
async def test_a_frame_that_breaks_the_protocol_ends_the_connection(broken: bytes) -> None:
    events, ended = await forward(broken + frame(0x81, b"later"))
    assert (events, ended) == ([CloseConnection(code=CloseReason.NO_STATUS_RCVD, reason="")], True)


async def test_a_message_above_the_limit_ends_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "MAX_MESSAGE", 10)
    assert await forward(frame(0x01, b"123456"), frame(0x80, b"78901")) == ([], True)


async def test_a_dropped_message_ends_the_connection_and_a_released_one_leaves() -> None:
    stream = (frame(0x81, b"order"), frame(0x81, b"more"))
    assert await forward(*stream, b"", decide=lambda outbox: outbox.drop(outbox.waiting)) == ([], True)
    events, ended = await forward(*stream, b"", decide=lambda outbox: outbox.release(outbox.waiting))
    assert (events, ended) == ([TextMessage(data="order"), TextMessage(data="more")], False)


async def test_message_that_is_released_as_its_socket_ends_has_not_left() -> None:
    outbox, reader, server = Outbox(read_origins(None, SITE)), asyncio.StreamReader(), Server()
    url = SITE.replace("http", "ws")
    work = asyncio.create_task(pass_messages(outbox, Socket(url=url), reader, cast(asyncio.StreamWriter, server)))
    reader.feed_data(frame(0x81, b"hello"))
    await _settle()
    (held,) = outbox.waiting
    outbox.release([held])
    work.cancel()
    await asyncio.wait([work])
    assert (held.state, server.received) == (State.UNREACHED, b"")
