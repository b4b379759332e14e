"""Passes on messages that a page sends through a WebSocket. Each waits until it is allowed, like a request."""

import asyncio

from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong, TextMessage
from wsproto.frame_protocol import CloseReason

from midcourse.worlds.browser.egress.outbox import Outbox
from midcourse.worlds.browser.egress.policy import SOCKET
from midcourse.worlds.browser.egress.request import Request

MOST_HELD = 16 * 2**20
_CHUNK = 2**16


async def pass_messages(outbox: Outbox, url: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass messages on until the page closes the socket, breaks the protocol, or a message is dropped.

    After a dropped message the socket is closed, so that the page learns that the message did not arrive. Messages behind
    one that waits wait as well.
    """
    page, server = Connection(ConnectionType.SERVER), Connection(ConnectionType.CLIENT)
    body = bytearray()
    while data := await reader.read(_CHUNK):
        page.receive_data(data)
        for event in page.events():
            if isinstance(event, Ping | Pong):
                writer.write(server.send(event))
            elif isinstance(event, TextMessage | BytesMessage):
                is_text = isinstance(event, TextMessage)
                body += event.data.encode() if isinstance(event, TextMessage) else event.data
                if len(body) > MOST_HELD:
                    return
                if not event.message_finished:
                    continue
                if not await _may_leave(outbox, url, bytes(body), is_text=is_text):
                    return
                writer.write(server.send(TextMessage(body.decode()) if is_text else BytesMessage(bytes(body))))
                body.clear()
            else:
                # The page closes the socket, or wsproto found a broken frame. The server gets neither code nor reason, because a page
                # could send something in them.
                writer.write(server.send(CloseConnection(code=CloseReason.NO_STATUS_RCVD)))
                await writer.drain()
                return
        await writer.drain()


async def _may_leave(outbox: Outbox, url: str, body: bytes, *, is_text: bool) -> bool:
    kind = "text/plain" if is_text else "application/octet-stream"
    request = Request(method=SOCKET, url=url, fields={"content-type": kind}, body=body)
    if outbox.is_free(request):
        outbox.record_passed(request)
        return True
    return await outbox.wait_for_permission(request) is not None
