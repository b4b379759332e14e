"""A page in Chromium behind the proxy, without the browser world, for tests of what a page can do."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from midcourse.worlds.browser.chromium import FLAGS
from midcourse.worlds.browser.egress.outbox import Outbox, OutgoingRequest, State
from midcourse.worlds.browser.egress.policy import read_origins
from midcourse.worlds.browser.egress.proxy import FLAGS as PROXY_FLAGS
from midcourse.worlds.browser.egress.proxy import Proxy, log_in
from midcourse.worlds.browser.egress.tls import Certificate
from tests.worlds.browser.site import Site


@dataclass(frozen=True, kw_only=True)
class GuardedPage:
    page: Page
    proxy: Proxy
    outbox: Outbox

    async def run(self, script: str) -> None:
        """Run a script in the page without waiting for its result."""
        await self.page.evaluate(f"() => {{ {script} }}")

    async def wait_for_held(self, number: int = 1) -> tuple[OutgoingRequest, ...]:
        """Wait until this many requests are held, and return them."""
        await until(lambda: len(self.outbox.waiting) >= number)
        return self.outbox.waiting

    async def release(self, held: OutgoingRequest) -> None:
        """Release a request, and claim it if it was parked."""
        self.outbox.release([held])
        if held.state is State.CLAIMABLE:
            await self.page.goto(held.request.url, referer=held.claim)


async def until(holds: Callable[[], bool], seconds: float = 600.0) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def chromium(certificate: Certificate, *flags: str) -> AsyncGenerator[Browser]:
    """Start a Chromium whose default proxy does not exist, so that each context needs its own."""
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=[*FLAGS, *PROXY_FLAGS, certificate.flag, *flags],
            proxy={"server": "http://127.0.0.1:9", "bypass": "<-loopback>"},
        )
        yield browser
        await browser.close()


@asynccontextmanager
async def open_guarded_page(
    browser: Browser, site: Site, policy: dict[str, Any] | None = None, **more: Any
) -> AsyncGenerator[GuardedPage]:
    """Open the front page of the site in a new context with its own proxy."""
    origins = read_origins(policy, site.url)
    outbox = Outbox(origins)
    proxy = Proxy(origins, outbox, **more)
    address = await proxy.open()
    context = await browser.new_context(proxy={"server": address, "bypass": "<-loopback>"}, accept_downloads=True)
    page = await context.new_page()
    try:
        await log_in(context, page, proxy.password)
        await page.goto(f"{site.url}/")
        yield GuardedPage(page=page, proxy=proxy, outbox=outbox)
    finally:
        outbox.drop(outbox.waiting)
        await context.close()
        await proxy.close()
