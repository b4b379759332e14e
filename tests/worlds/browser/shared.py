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
    """Started by the first session that asks for it, and again if it is gone."""

    @property
    def flags(self) -> tuple[str, ...]:
        return (*FLAGS, self.certificate.flag)

    async def browser(self) -> Browser:
        if self._browser is None or not self._browser.is_connected():
            await self.close()
            await (await self.start(proxy=NOWHERE, flags=self.flags)).close()
        assert self._browser
        return self._browser


class Borrowed(Chromium):
    """For one session: `close` closes its context."""

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
    """Meanwhile, sessions that begin in this event loop, and have no wishes for their process, begin in this Chromium."""
    shared, loop = SharedChromium(), asyncio.get_running_loop()

    def chromium(*, executable: str = "", headed: bool = False, **options: Any) -> Chromium:
        if executable or headed or asyncio.get_running_loop() is not loop:
            return Chromium(executable=executable, headed=headed, **options)
        return Borrowed(shared)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "Chromium", chromium)
        yield shared
        await shared.close()
