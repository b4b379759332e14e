"""One Chromium for all tests of a worker, because starting one takes longer than most tests.

Each session has a separate context, with its own proxy, cookies, cache and tabs.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Error

from midcourse.worlds.browser import session
from midcourse.worlds.browser.chromium import Chromium
from midcourse.worlds.browser.egress.proxy import FLAGS

NOWHERE = "http://127.0.0.1:9"
"""The proxy for traffic outside of any context."""


class SharedChromium(Chromium):
    """A Chromium that the first session starts, and that is started again if it ended."""

    @property
    def flags(self) -> tuple[str, ...]:
        return (*FLAGS, self.certificate.flag)

    async def browser(self) -> Browser:
        if self._browser is None or not self._browser.is_connected():
            await self.close()
            await (await self.start(proxy=NOWHERE, flags=self.flags)).close()
        assert self._browser
        return self._browser


class BorrowedChromium(Chromium):
    """One session's context in the shared Chromium: `close` closes only that context."""

    def __init__(self, shared: SharedChromium) -> None:
        super().__init__()
        self.certificate = shared.certificate
        self._shared = shared
        self._context: BrowserContext | None = None

    async def start(self, *, proxy: str, flags: Sequence[str], **context: Any) -> BrowserContext:
        assert tuple(flags) == self._shared.flags, "flags that this Chromium was not started with"
        browser = await self._shared.browser()
        self._context = await browser.new_context(proxy={"server": proxy, "bypass": "<-loopback>"}, **context)
        return self._context

    async def close(self) -> None:
        context, self._context = self._context, None
        if context is not None:
            with suppress(Error):  # gone already
                await context.close()


@asynccontextmanager
async def sharing_chromium() -> AsyncGenerator[SharedChromium]:
    """Let sessions of this event loop use one Chromium, unless they need their own executable or a window."""
    shared, loop = SharedChromium(), asyncio.get_running_loop()

    def chromium(*, executable: str = "", headed: bool = False, **options: Any) -> Chromium:
        if executable or headed or asyncio.get_running_loop() is not loop:
            return Chromium(executable=executable, headed=headed, **options)
        return BorrowedChromium(shared)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "Chromium", chromium)
        yield shared
        await shared.close()
