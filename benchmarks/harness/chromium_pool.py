"""One Chromium for many sessions in turn, since starting one takes longer than most pages of a trial.

Each session has its own context, with which its cookies, caches, tabs, frames and workers end, and its own gate. A
Chromium has one proxy for its lifetime, hence the turnstile: it leads to the gate of the session that is under way, and
without one nowhere.
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

MOST_SESSIONS = 50
"""Then it is replaced, so that nothing can pile up in it."""
MOST_STARTS = 5
CLOSES_WITHIN = 20.0
CHUNK = 65536


class Turnstile:
    """Passes bytes on, and looks at none of them."""

    def __init__(self) -> None:
        self.leads_to = ""
        self._server: asyncio.Server | None = None
        self._passing: set[asyncio.Task[None]] = set()

    async def open(self) -> str:
        if self._server is None:
            self._server = await asyncio.start_server(self._enter, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for passing in self._passing:
            passing.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)

    def _enter(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        passing = asyncio.create_task(self._pass(reader, writer))
        self._passing.add(passing)
        passing.add_done_callback(self._passing.discard)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        gate = urlsplit(self.leads_to)
        try:
            if gate.hostname:
                with suppress(OSError):
                    there, back = await asyncio.open_connection(gate.hostname, gate.port)
                    await asyncio.gather(_poured(reader, back), _poured(there, writer))
        finally:
            writer.close()


async def _poured(source: asyncio.StreamReader, into: asyncio.StreamWriter) -> None:
    """Until the source has no more."""
    try:
        while chunk := await source.read(CHUNK):
            into.write(chunk)
            await into.drain()
    finally:
        into.close()


class SharedChromium(Chromium):
    """`close`, which a session calls in its end, ends its context. `end` is for the browser."""

    def __init__(self) -> None:
        super().__init__()
        self._turnstile = Turnstile()
        self._sessions = 0

    async def ready(self) -> None:
        """Before a session's own clock runs: a busy machine takes its time to start one."""
        for left in reversed(range(MOST_STARTS)):
            if self._browser and self._browser.is_connected() and self._sessions < MOST_SESSIONS:
                return
            await super().close()
            self._sessions = 0
            try:
                context = await super().start(proxy=await self._turnstile.open(), flags=self._flags)
                await context.close()
            except ConnectionError:
                if not left:
                    raise

    async def start(self, *, proxy: str, flags: Sequence[str], **context: Any) -> "BrowserContext":
        from playwright.async_api import Error

        assert tuple(flags) == self._flags, "a gate that this browser does not know"
        await self.ready()
        assert self._browser
        self._turnstile.leads_to = proxy
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

        self._turnstile.leads_to = ""
        try:
            async with asyncio.timeout(CLOSES_WITHIN):
                for context in self._browser.contexts if self._browser else ():
                    await context.close()
        except (Error, TimeoutError):
            await super().close()

    async def end(self) -> None:
        await super().close()
        await self._turnstile.close()


class SharedBrowser(Browser):
    """The browser world, in a Chromium that was there before and stays."""

    def __init__(self, chromium: SharedChromium, start: str, **options: Any) -> None:
        super().__init__(start, **options)
        self._chromium = chromium

    async def open(self) -> str:
        await super(Browser, self).open()
        self._session = await BrowserSession.begin(self._options, self._chromium)
        return ""
