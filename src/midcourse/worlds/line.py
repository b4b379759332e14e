"""Sockets to a world host, with or without TLS, that belong to no event loop between requests."""

import asyncio
import os
import socket
import ssl
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TypeVar

T = TypeVar("T")
_CHUNK = 2**16


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
        context = _tls_context(os.environ.get("SSL_CERT_FILE", ""), ca, changed)
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
def _tls_context(authorities: str, ca: str, changed: int) -> ssl.SSLContext:
    """Return a TLS context, which is cached for each value of SSL_CERT_FILE and each change of the file `ca`.

    OpenSSL reads SSL_CERT_FILE when it makes a context.
    """
    context = ssl.create_default_context(cafile=authorities or None)
    if ca:
        context.load_verify_locations(cafile=ca)
    return context
