"""Chromium processes that several sessions share. Each session has a context, which uses that session's proxy.

Contexts share a browser process, but nothing that a page can read: each has its own renderers, cookies, storage, caches, proxy
and proxy password. The browser itself gets a proxy that does not exist, so traffic outside of any context reaches nothing.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import WeakKeyDictionary

from midcourse.worlds.browser.chromium import Chromium, Sandbox, new_context
from midcourse.worlds.browser.egress.proxy import FLAGS

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext

NOWHERE = "http://none.midcourse.invalid:9"
"""The proxy of the browser itself, which does not exist. Chromium neither resolves this name nor asks a name server for it: see `FLAGS`."""
MOST_SERVED = 10
"""How often each place in a Chromium is used before the process is replaced, to limit leaks."""
_CLOSES_WITHIN = 10.0

_Launch: TypeAlias = tuple[str, bool, Sandbox]


class SharedChromium(Chromium):
    """A Chromium that is started by its first session and ended with its last."""

    def __init__(self, most: int, *, executable: str = "", headed: bool = False, sandbox: Sandbox = "on") -> None:
        super().__init__(executable=executable, headed=headed, sandbox=sandbox)
        self._most = most
        self._taken = 0
        self._served = 0
        self._retired = False
        self._starting = asyncio.Lock()

    @property
    def taken(self) -> int:
        """The number of sessions that use this Chromium now."""
        return self._taken

    @property
    def is_over(self) -> bool:
        """Whether this Chromium takes no more sessions."""
        ended = self._browser is not None and not self._browser.is_connected()
        return ended or self._retired or self._served >= MOST_SERVED * self._most

    @property
    def flags(self) -> tuple[str, ...]:
        return (*FLAGS, self.certificate.flag)

    def take(self) -> None:
        self._taken += 1
        self._served += 1

    async def add_context(self, proxy: str, **context: Any) -> "BrowserContext":
        """Open a context behind this proxy, and start the browser if it is not running. Raise `ConnectionError` if that fails."""
        async with self._starting:
            if self._browser is None:
                await self._launch(NOWHERE, self.flags)
        if self._browser is None:
            raise ConnectionError("the browser ended as it was started")
        return await new_context(self._browser, proxy=proxy, **context)

    async def give_back(self) -> None:
        """Give back one place, and end the process with its last session."""
        self._taken -= 1
        if not self._taken:
            self._retired = True  # no session may begin in it while it ends
            await self.close()

    def retire(self) -> None:
        """Lend no more places in this Chromium, because it does not answer."""
        self._retired = True


class Borrowed(Chromium):
    """A place in a shared Chromium for one session. `close` closes only the context of that session."""

    def __init__(self, shared: SharedChromium) -> None:
        self._shared: SharedChromium | None = shared
        self._context: BrowserContext | None = None
        self.certificate = shared.certificate
        shared.take()

    async def start(self, *, proxy: str, flags: Sequence[str], **context: Any) -> "BrowserContext":
        shared = self._shared
        assert shared is not None, "this place was given back"
        assert tuple(flags) == shared.flags, "flags that this Chromium was not started with"
        try:
            self._context = await shared.add_context(proxy, **context)
        except BaseException:
            await self.close()
            raise
        return self._context

    async def close(self) -> None:
        from playwright.async_api import Error

        shared, self._shared = self._shared, None
        context, self._context = self._context, None
        if shared is None:
            return
        try:
            if context is not None:
                async with asyncio.timeout(_CLOSES_WITHIN):
                    with suppress(Error):  # it has ended already
                        await context.close()
        except TimeoutError:
            shared.retire()
        finally:
            await shared.give_back()


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Launch, list[SharedChromium]]] = WeakKeyDictionary()
"""The shared processes of each event loop, because Playwright's objects belong to one event loop."""


def lend_chromium(most: int, *, executable: str, headed: bool, sandbox: Sandbox) -> Borrowed:
    """Lend a place in a Chromium that was, or will be, started with these options for at most `most` sessions."""
    launch = executable, headed, sandbox
    several = _by_loop.setdefault(asyncio.get_running_loop(), {}).setdefault(launch, [])
    several[:] = [chromium for chromium in several if not chromium.is_over]
    fullest = max(
        (chromium for chromium in several if chromium.taken < most), key=lambda chromium: chromium.taken, default=None
    )
    if fullest is None:
        fullest = SharedChromium(most, executable=executable, headed=headed, sandbox=sandbox)
        several.append(fullest)
    return Borrowed(fullest)
