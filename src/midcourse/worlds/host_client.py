"""One request to a world host: sent once, never again, and given up when the caller gives up.

Connections are kept, and shared by all worlds of this process. They are bare sockets, not asyncio's streams: between
requests they belong to no event loop, and right before one it can be seen whether the host has hung up meanwhile.
"""

import asyncio
import atexit
import os
import socket
import ssl
import time
from collections import deque
from typing import NamedTuple
from urllib.parse import urlsplit

from pydantic import ValidationError

from midcourse.codec import decode
from midcourse.http1 import Rejected, find_body, parse_response, write_request
from midcourse.worlds.host.server import KEPT_FOR
from midcourse.worlds.host.wire import Handle, Trouble
from midcourse.worlds.line import Line, SecureLine

_MAX_HEAD = 16 * 2**10
_MAX_BODY = 256 * 2**20
_MOST_KEPT = 256
_CONNECTS_WITHIN = 5.0
"""Seconds. A host on a machine that is down refuses nothing; the connection just never comes about."""


class Address(NamedTuple):
    host: str
    port: int
    secure: bool


class Lost(Exception):
    """There is no such host or session any more. `sure` is False if only the connection broke: ask again to be sure."""

    def __init__(self, detail: str, *, sure: bool = True) -> None:
        super().__init__(detail)
        self.sure = sure


class Away(Lost):
    """The host cannot be reached or is full. `unsent`: not a byte of the request has left."""

    def __init__(self, detail: str, *, sure: bool, unsent: bool = False) -> None:
        super().__init__(detail, sure=sure)
        self.unsent = unsent


class _Unconnected(Exception):
    """No connection came about."""


class Silent(Exception):
    """The host is there and did not answer in time."""


class Refused(Exception):
    """The session is somebody else's now, or closed."""


class Unserved(Exception):
    """The host has no such world, or not with these options."""


class Broken(Exception):
    """The host answered with an error of its own, or of its world's."""


async def post(to: Handle, path: str, body: str, timeout: float) -> bytes:  # noqa: ASYNC109
    """The answer's body. Raises one of the five above."""
    where = urlsplit(to.url)
    content = body.encode()
    fields = [("Host", where.netloc), ("Authorization", f"Bearer {to.token}")]
    fields += [("Content-Type", "application/json"), ("Content-Length", str(len(content)))]
    try:
        head = write_request("POST", f"{where.path}{path}", fields)
        async with asyncio.timeout(timeout):
            status, answer = await _exchange(_address(to.url), head + content)
    except TimeoutError:
        raise Silent(f"no answer from the host within {timeout:g} s") from None
    except ssl.SSLCertVerificationError as error:
        raise Broken(f"the certificate of {where.hostname} is not trusted: {error.verify_message}") from None
    except _Unconnected as unconnected:
        error = unconnected.__cause__
        sure = isinstance(error, ConnectionRefusedError)
        raise Away(f"the host is gone ({type(error).__name__})", sure=sure, unsent=True) from None
    except (OSError, EOFError) as error:
        raise Away(f"the host is gone ({type(error).__name__})", sure=False) from None
    except (Rejected, UnicodeError) as error:
        raise Lost(f"this is not an exchange with a host: {error}", sure=False) from None
    match status:
        case 200:
            return answer
        case 401:
            raise Lost("there is no such session any more where it was")
        case 409:
            raise Refused(_detail(answer))
        case 422:
            raise Unserved(_detail(answer))
        case 503:
            raise Away(_detail(answer) or "the host accepts no sessions", sure=False)
        case _:
            raise Broken(_detail(answer) or f"the host answered {status}")


def _address(url: str) -> Address:
    where = urlsplit(url)
    secure = where.scheme == "https"
    return Address(where.hostname or "", where.port or (443 if secure else 80), secure)


async def _exchange(address: Address, request: bytes) -> tuple[int, bytes]:
    connection = _kept.take(address) or await _connected(address)
    try:
        await connection.send(request)
        status, answer, last = await _response(connection)
    except BaseException:
        connection.close()
        raise
    if last:
        connection.close()
    else:
        _kept.put(address, connection)
    return status, answer


async def _connected(address: Address) -> Line:
    connection = socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET)
    try:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        async with asyncio.timeout(_CONNECTS_WITHIN):
            await asyncio.get_running_loop().sock_connect(connection, address[:2])
    except OSError as error:  # of which a time-out is one
        connection.close()
        raise _Unconnected from error
    except BaseException:
        connection.close()
        raise
    return await _secured(connection, address.host) if address.secure else Line(connection)


async def _secured(connection: socket.socket, name: str) -> Line:
    line = SecureLine(connection, name)
    try:
        await line.shake_hands()
    except BaseException:
        line.close()
        raise
    return line


async def _response(connection: Line) -> tuple[int, bytes, bool]:
    """Status, body, and whether it is the last on this connection."""
    data = bytearray()
    while (start := find_body(data, _MAX_HEAD)) is None:
        data += await connection.receive()
    head = parse_response(bytes(data[:start]))
    del data[:start]
    if head.chunked or not head.get("content-length"):
        raise Rejected("it does not give the length of its answer")
    if head.length > _MAX_BODY:
        raise Rejected(f"its answer has more than {_MAX_BODY} bytes")
    while len(data) < head.length:
        data += await connection.receive()
    if len(data) > head.length:
        raise Rejected("it sent more than its answer")
    return head.status, bytes(data), head.closes


class _Kept:
    """Connections without a request under way, the latest used last."""

    def __init__(self) -> None:
        self._idle: dict[Address, deque[tuple[float, Line]]] = {}

    def take(self, address: Address) -> Line | None:
        idle = self._idle.get(address)
        while idle:
            since, connection = idle.pop()
            if time.monotonic() - since < KEPT_FOR / 2 and connection.is_open:
                return connection
            connection.close()
        return None

    def put(self, address: Address, connection: Line) -> None:
        idle = self._idle.setdefault(address, deque())
        idle.append((time.monotonic(), connection))
        while len(idle) > _MOST_KEPT or time.monotonic() - idle[0][0] > KEPT_FOR:
            idle.popleft()[1].close()

    def close(self) -> None:
        for idle in self._idle.values():
            while idle:
                idle.pop()[1].close()


_kept = _Kept()
atexit.register(_kept.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_kept.close)  # two processes on one connection would read each other's answers


def _detail(answer: bytes) -> str:
    try:
        return decode(Trouble, answer).detail
    except ValidationError:
        return ""
