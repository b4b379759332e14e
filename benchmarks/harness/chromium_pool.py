"""One Chromium for many sessions, one after the other, because starting one takes longer than most pages of a trial.

Each session has its own gate and its own context; cookies, caches, tabs, frames and workers end with the context. A Chromium has one
proxy for its lifetime, so that proxy forwards to the gate of the current session, and refuses connections between sessions.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from midcourse.worlds.browser import Browser
from midcourse.worlds.browser.chromium import Chromium
from midcourse.worlds.browser.egress.proxy import FLAGS
from midcourse.worlds.browser.session import BrowserSession

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

MAX_SESSIONS = 50
"""After this many sessions the Chromium is replaced, so that nothing accumulates in it."""
MAX_STARTS = 5
CLOSE_TIMEOUT = 20.0
CHUNK = 65536


class SwitchableProxy:
    """Forwards bytes unchanged to the proxy at `target`, which can be switched."""

    def __init__(self) -> None:
        self.target = ""
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def open(self) -> str:
        if self._server is None:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.create_task(self._forward(reader, writer))
        self._connections.add(connection)
        connection.add_done_callback(self._connections.discard)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        gate = urlsplit(self.target)
        try:
            if gate.hostname:
                with suppress(OSError):
                    gate_reader, gate_writer = await asyncio.open_connection(gate.hostname, gate.port)
                    await asyncio.gather(_copy_until_end(reader, gate_writer), _copy_until_end(gate_reader, writer))
        finally:
            writer.close()


async def _copy_until_end(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Copy until the source ends, then close the sink."""
    try:
        while chunk := await source.read(CHUNK):
            sink.write(chunk)
            await sink.drain()
    finally:
        sink.close()


class SharedChromium(Chromium):
    """A Chromium that outlives its sessions: `close`, called by a session, closes only the context. `end` closes the browser."""

    def __init__(self) -> None:
        super().__init__()
        self._proxy = SwitchableProxy()
        self._sessions = 0

    async def ensure_started(self) -> None:
        """Start the browser if needed. Called before a session's timeouts begin, because a busy machine starts one slowly."""
        for left in reversed(range(MAX_STARTS)):
            if self._browser and self._browser.is_connected() and self._sessions < MAX_SESSIONS:
                return
            await super().close()
            self._sessions = 0
            try:
                context = await super().start(proxy=await self._proxy.open(), flags=self._flags)
                await context.close()
            except ConnectionError:
                if not left:
                    raise

    async def start(self, *, proxy: str, flags: Sequence[str], **context: Any) -> "BrowserContext":
        from playwright.async_api import Error

        assert tuple(flags) == self._flags, "a gate that this browser does not know"
        await self.ensure_started()
        assert self._browser
        self._proxy.target = proxy
        self._sessions += 1
        try:
            return await self._browser.new_context(**context)
        except Error as error:
            raise ConnectionError(f"the browser is gone: {error.message}") from error

    @property
    def _flags(self) -> tuple[str, ...]:
        return (*FLAGS, self.certificate.flag)

    async def close(self) -> None:
        from playwright.async_api import Error

        self._proxy.target = ""
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT):
                for context in self._browser.contexts if self._browser else ():
                    await context.close()
        except (Error, TimeoutError):
            await super().close()

    async def end(self) -> None:
        await super().close()
        await self._proxy.close()


class SharedBrowser(Browser):
    """The browser world in a shared Chromium."""

    def __init__(self, chromium: SharedChromium, start: str, **options: Any) -> None:
        super().__init__(start, **options)
        self._chromium = chromium

    async def open(self) -> str:
        await super(Browser, self).open()
        self._session = await BrowserSession.begin(self._options, self._chromium)
        return ""
