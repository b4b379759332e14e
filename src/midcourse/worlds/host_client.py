"""The client of a world host. It sends each request once, and gives up when the caller does.

Connections are kept, and shared by all worlds of this process. They are plain sockets instead of asyncio's streams: between
requests they belong to no event loop, and right before a request the client can check whether the host has closed one.
"""

import asyncio
import atexit
import os
import socket
import ssl
import time
from collections import deque
from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from pydantic import ValidationError

from midcourse.codec import decode
from midcourse.http1 import Rejected, find_body, parse_response, write_request
from midcourse.worlds.host.server import IDLE_SECONDS
from midcourse.worlds.host.wire import Handle, Trouble

T = TypeVar("T")
_CHUNK = 2**16
_MAX_HEAD = 16 * 2**10
_MAX_BODY = 256 * 2**20
_MAX_IDLE = 256
_CONNECT_SECONDS = 5.0
"""The time limit for a connection, in seconds. A machine that is down does not refuse it, so the attempt would never end."""


class HostAddress(NamedTuple):
    host: str
    port: int
    secure: bool
    ca: str


class HostFailure(Exception):
    """A request to a host has no good answer."""


class HostUnreachable(HostFailure):
    """The host or the session is gone. `sure` is False if only the connection broke; then ask again to be sure."""

    def __init__(self, detail: str, *, sure: bool = True) -> None:
        super().__init__(detail)
        self.sure = sure


class HostAway(HostUnreachable):
    """The host does not answer or is full. `unsent` means that no byte of the request has left."""

    def __init__(self, detail: str, *, sure: bool, unsent: bool = False) -> None:
        super().__init__(detail, sure=sure)
        self.unsent = unsent


class HostFull(HostAway):
    """The host has reached its limit of sessions."""


class _NotConnected(Exception):
    """No connection could be made, so nothing was sent."""


class HostTimeout(HostFailure):
    """The host did not answer in time."""


class SessionTaken(HostFailure):
    """Another process has taken over the session, or it is closed."""


class WorldNotServed(HostFailure):
    """The host does not serve this world, or not with these options."""


class HostError(HostFailure):
    """The host or its world failed."""


class HostSocket:
    """A connection to a world host. `receive` raises `EOFError` when the host has closed it."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection

    async def send(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self._socket, data)

    async def receive(self) -> bytes:
        data = await asyncio.get_running_loop().sock_recv(self._socket, _CHUNK)
        if not data:
            raise EOFError("the host hung up")
        return data

    @property
    def is_open(self) -> bool:
        """Whether the connection can be used: the host has sent neither an end of file nor data that no request asked for."""
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def close(self) -> None:
        self._socket.close()


class TlsHostSocket(HostSocket):
    """A connection under TLS.

    The host's certificate is checked against the authorities of the system, or those in SSL_CERT_FILE, and against those in the
    file `ca`.
    """

    def __init__(self, connection: socket.socket, name: str, ca: str = "") -> None:
        """Prepare TLS. Raise `OSError` if the file `ca` cannot be read."""
        super().__init__(connection)
        self._coming, self._going = ssl.MemoryBIO(), ssl.MemoryBIO()
        changed = os.stat(ca).st_mtime_ns if ca else 0
        context = _build_tls_context(os.environ.get("SSL_CERT_FILE", ""), ca, changed)
        self._tls = context.wrap_bio(self._coming, self._going, server_hostname=name)

    async def shake_hands(self) -> None:
        """Do the TLS handshake. Raise `ssl.SSLError` if the certificate is not trusted."""
        await self._run_step(self._tls.do_handshake)

    async def send(self, data: bytes) -> None:
        sent = 0
        while sent < len(data):
            sent += await self._run_step(partial(self._tls.write, data[sent:]))

    async def receive(self) -> bytes:
        try:
            data = await self._run_step(lambda: self._tls.read(_CHUNK))
        except ssl.SSLZeroReturnError:
            data = b""
        if not data:
            raise EOFError("the host hung up")
        return data

    async def _run_step(self, step: Callable[[], T]) -> T:
        while True:
            try:
                done = step()
            except ssl.SSLWantReadError:
                await self._flush()
                self._coming.write(await super().receive())
                continue
            await self._flush()
            return done

    async def _flush(self) -> None:
        if self._going.pending:
            await super().send(self._going.read())


@lru_cache(maxsize=4)
def _build_tls_context(authorities: str, ca: str, changed: int) -> ssl.SSLContext:
    """Return a TLS context, which is cached for each value of SSL_CERT_FILE and each change of the file `ca`.

    OpenSSL reads SSL_CERT_FILE when it makes a context.
    """
    context = ssl.create_default_context(cafile=authorities or None)
    if ca:
        context.load_verify_locations(cafile=ca)
    return context


async def post(to: Handle, path: str, body: str, timeout: float) -> bytes:  # noqa: ASYNC109
    """Send a request and return the body of its answer.

    Raise `HostUnreachable`, `HostTimeout`, `SessionTaken`, `WorldNotServed` or `HostError` if there is no good answer.
    """
    where, content = urlsplit(to.url), body.encode()
    secure = where.scheme == "https"
    address = HostAddress(where.hostname or "", where.port or (443 if secure else 80), secure, to.ca)
    fields = [("Host", where.netloc), ("Authorization", f"Bearer {to.token}")]
    fields += [("Content-Type", "application/json"), ("Content-Length", str(len(content)))]
    try:
        head = write_request("POST", f"{where.path}{path}", fields)
        async with asyncio.timeout(timeout):
            status, answer = await _send_once(address, head + content)
    except TimeoutError:
        raise HostTimeout(f"no answer from the host within {timeout:g} s") from None
    except ssl.SSLCertVerificationError as error:
        raise HostError(f"the certificate of {where.hostname} is not trusted: {error.verify_message}") from None
    except _NotConnected as unconnected:
        error = unconnected.__cause__
        sure = isinstance(error, ConnectionRefusedError)
        raise HostAway(f"the host is gone ({type(error).__name__})", sure=sure, unsent=True) from None
    except (OSError, EOFError) as error:
        raise HostAway(f"the host is gone ({type(error).__name__})", sure=False) from None
    except (Rejected, UnicodeError) as error:
        raise HostUnreachable(f"this is not an exchange with a host: {error}", sure=False) from None
    if status == 200:
        return answer
    try:
        trouble = decode(Trouble, answer)
    except ValidationError:
        trouble = Trouble(detail="")
    match status:
        case 401:
            raise HostUnreachable("the host has no such session any more")
        case 409:
            raise SessionTaken(trouble.detail)
        case 422:
            raise WorldNotServed(trouble.detail)
        case 503:
            kind = HostFull if trouble.full else HostAway
            raise kind(trouble.detail or "the host accepts no sessions", sure=False)
        case _:
            raise HostError(trouble.detail or f"the host answered {status}")


async def _send_once(address: HostAddress, request: bytes) -> tuple[int, bytes]:
    connection = _pool.take(address) or await _connect(address)
    try:
        await connection.send(request)
        status, answer, closes = await _read_response(connection)
    except BaseException:
        connection.close()
        raise
    if closes:
        connection.close()
    else:
        _pool.put(address, connection)
    return status, answer


async def _connect(address: HostAddress) -> HostSocket:
    connection = socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET)
    try:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        async with asyncio.timeout(_CONNECT_SECONDS):
            await asyncio.get_running_loop().sock_connect(connection, address[:2])
    except OSError as error:  # includes time-outs
        connection.close()
        raise _NotConnected from error
    except BaseException:
        connection.close()
        raise
    return await _start_tls(connection, address) if address.secure else HostSocket(connection)


async def _start_tls(connection: socket.socket, address: HostAddress) -> HostSocket:
    try:
        line = TlsHostSocket(connection, address.host, address.ca)
    except OSError as error:  # the file is missing, or has no certificates
        connection.close()
        raise HostError(f"the certificates in {address.ca or 'the system'} cannot be read: {error}") from None
    try:
        await line.shake_hands()
    except BaseException:
        line.close()
        raise
    return line


async def _read_response(connection: HostSocket) -> tuple[int, bytes, bool]:
    """Read a response. Return its status, its body, and whether the host closes the connection."""
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


class _Pool:
    """Idle connections by address, the most recently used last."""

    def __init__(self) -> None:
        self._idle: dict[HostAddress, deque[tuple[float, HostSocket]]] = {}

    def take(self, address: HostAddress) -> HostSocket | None:
        idle = self._idle.get(address)
        while idle:
            since, connection = idle.pop()
            if time.monotonic() - since < IDLE_SECONDS / 2 and connection.is_open:
                return connection
            connection.close()
        return None

    def put(self, address: HostAddress, connection: HostSocket) -> None:
        idle = self._idle.setdefault(address, deque())
        idle.append((time.monotonic(), connection))
        while len(idle) > _MAX_IDLE or time.monotonic() - idle[0][0] > IDLE_SECONDS:
            idle.popleft()[1].close()

    def close(self) -> None:
        for idle in self._idle.values():
            while idle:
                idle.pop()[1].close()


_pool = _Pool()
atexit.register(_pool.close)
if hasattr(os, "register_at_fork"):
    # Two processes on one connection would read each other's answers.
    os.register_at_fork(after_in_child=_pool.close)
