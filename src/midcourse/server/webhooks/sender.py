"""Sends one signed message, to addresses of the public internet only. A name is resolved once, and the checked address is the one connected to: it cannot change in between.

Redirects are not followed: they count as failures, like any other answer that is not a success.
"""

import asyncio
import base64
import hmac
import ipaddress
import socket
import ssl
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import h11

from midcourse.server.webhooks.config import Webhook

TIMEOUT = 15.0
"""Seconds within which a receiver must answer."""
MOST_BYTES = 65_536
"""The number of bytes of an answer that are read."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The result of one attempt."""

    status: int = 0
    """The status of the answer; 0 if there was none."""
    problem: str = ""

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


def sign(secret: bytes, message_id: str, timestamp: int, body: bytes) -> str:
    """The value of `webhook-signature`."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    return f"v1,{base64.b64encode(hmac.new(secret, signed, sha256).digest()).decode()}"


async def send(hook: Webhook, message_id: str, body: bytes, timeout_seconds: float = TIMEOUT) -> Answer:
    """POST the body. Errors of the receiver or the network are returned, never raised."""
    try:
        async with asyncio.timeout(timeout_seconds):
            return await _send(hook, message_id, body)
    except TimeoutError:
        return Answer(problem=f"no answer within {timeout_seconds:g} s")
    except (OSError, h11.ProtocolError) as trouble:
        return Answer(problem=f"{type(trouble).__name__}: {trouble}")


async def _send(hook: Webhook, message_id: str, body: bytes) -> Answer:
    address = urlsplit(hook.url)
    secure = address.scheme == "https"
    host, port = address.hostname or "", address.port or (443 if secure else 80)
    found = await _resolve(host, port)
    allowed = found if hook.allow_private else [ip for ip in found if is_public(ip)]
    if not allowed:
        return Answer(problem=f"{host} is at {', '.join(found)}, which is not public; allow_private = true allows it")
    options: dict[str, Any] = {"ssl": _context(), "server_hostname": host} if secure else {}
    reader, writer = await asyncio.open_connection(allowed[0], port, **options)
    try:
        timestamp = int(time.time())
        target = (address.path or "/") + (f"?{address.query}" if address.query else "")
        headers = {
            "Host": address.netloc,
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "User-Agent": "midcourse",
            "Connection": "close",
            "webhook-id": message_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": sign(hook.secret, message_id, timestamp, body),
        }
        return await _exchange(
            reader, writer, h11.Request(method="POST", target=target, headers=[*headers.items()]), body
        )
    finally:
        writer.close()
        with suppress(OSError, ssl.SSLError):
            await writer.wait_closed()


async def _exchange(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: h11.Request, body: bytes
) -> Answer:
    connection = h11.Connection(h11.CLIENT)
    for event in (request, h11.Data(data=body), h11.EndOfMessage()):
        writer.write(connection.send(event) or b"")
    await writer.drain()
    read = 0
    while read < MOST_BYTES:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            received = await reader.read(8192)
            read += len(received)
            connection.receive_data(received)
        elif isinstance(event, h11.Response):
            ok = 200 <= event.status_code < 300
            return Answer(status=event.status_code, problem="" if ok else f"it answered {event.status_code}")
        elif isinstance(event, h11.ConnectionClosed | h11.EndOfMessage):
            break
    return Answer(problem="it closed the connection without an answer")


async def _resolve(host: str, port: int) -> list[str]:
    rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(row[4][0]) for row in rows))


@lru_cache(maxsize=1)
def _context() -> ssl.SSLContext:
    return ssl.create_default_context()


Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

NAT64 = ipaddress.ip_network("64:ff9b::/96")


def is_public(text: str) -> bool:
    """Whether this address, and any IPv4 address that it wraps, belongs to the public internet."""
    address = ipaddress.ip_address(text.partition("%")[0])
    return all(candidate.is_global and not candidate.is_multicast for candidate in (address, *_wrapped(address)))


def _wrapped(address: Address) -> tuple[Address, ...]:
    """The IPv4 addresses that are wrapped in an IPv6 address."""
    if isinstance(address, ipaddress.IPv4Address):
        return ()
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in NAT64:
        inner.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return tuple(wrapped for wrapped in inner if wrapped is not None)
