"""A client of the proxy that speaks to it as Chromium does."""

import asyncio
import ssl
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

from midcourse.worlds.browser.egress.outbox import Outbox
from midcourse.worlds.browser.egress.policy import read_origins
from midcourse.worlds.browser.egress.proxy import USER, Proxy
from tests.worlds.browser.site import Site

OFFLINE = 0
"""Stands for the status of a response that Chromium does not accept, because it has two lengths."""


class Client:
    """One connection to the proxy, with requests as Chromium writes them."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, password: str) -> None:
        self.reader = reader
        self.writer = writer
        self.credentials = b64encode(f"{USER}:{password}".encode())

    async def ask(self, method: str, url: str, body: bytes = b"", *fields: str) -> tuple[int, bytes]:
        lines = [f"{method} {url} HTTP/1.1", f"Host: {urlsplit(url).netloc}", *fields]
        if body and not fields:
            lines.append(f"Content-Length: {len(body)}")
        await self.send("\r\n".join([*lines, "", ""]).encode() + body)
        return await self.reply()

    async def send(self, data: bytes) -> None:
        """Send a request, with a Host field if it has none, and with the password unless it goes through a tunnel."""
        line, _, rest = data.partition(b"\r\n")
        if b"Host: " not in rest:
            data = line + b"\r\nHost: x\r\n" + rest
            rest = b"Host: x\r\n" + rest
        if line.startswith(b"CONNECT ") or b"://" in line:
            data = line + b"\r\nProxy-Authorization: Basic " + self.credentials + b"\r\n" + rest
        self.writer.write(data)
        await self.writer.drain()

    async def is_offline(self, method: str, url: str, body: bytes = b"") -> bool:
        """Whether the answer is one that Chromium does not accept, and the connection ends after it."""
        status, _ = await self.ask(method, url, body)
        return (status, await self.reader.read()) == (OFFLINE, b"")

    async def reply(self) -> tuple[int, bytes]:
        """Return status and body of the next answer. The status of one that Chromium does not accept is `OFFLINE`."""
        async with asyncio.timeout(600):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
            if head.count("content-length: ") > 1:
                return OFFLINE, b""
            length = head.partition("content-length: ")[2].partition("\r\n")[0]
            return int(head.split(" ")[1]), await self.reader.readexactly(int(length or 0))


@asynccontextmanager
async def open_proxy(
    site: Site, policy: dict[str, Any] | None = None, **more: Any
) -> AsyncIterator[tuple[Proxy, Client]]:
    origins = read_origins(policy, site.url)
    proxy = Proxy(origins, Outbox(origins), **more)
    where = urlsplit(await proxy.open())
    try:
        async with connect(proxy, str(where.hostname), where.port) as client:
            yield proxy, client
    finally:
        await proxy.close()


@asynccontextmanager
async def connect(proxy: Proxy, host: str, port: int | None) -> AsyncIterator[Client]:
    """Open a connection to a proxy that listens there."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        yield Client(reader, writer, proxy.password)
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


async def open_tunnel(client: Client, url: str) -> None:
    """Open a tunnel as a browser does that trusts the certificate of the proxy."""
    await client.send(f"CONNECT {urlsplit(url).netloc} HTTP/1.1\r\n\r\n".encode())
    assert (await client.reply())[0] == 200
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    await client.writer.start_tls(trusting)
