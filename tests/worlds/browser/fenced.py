"""A bare Chromium behind the gate, and nothing of the browser world in between: what a page can do, it does here."""

import asyncio
import shutil
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Browser, Page, async_playwright

from midcourse.worlds.browser.chromium import FLAGS
from midcourse.worlds.browser.egress.outbox import HeldRequest, Outbox
from midcourse.worlds.browser.egress.policy import read_origins
from midcourse.worlds.browser.egress.proxy import FLAGS as FENCE
from midcourse.worlds.browser.egress.proxy import Proxy
from midcourse.worlds.browser.egress.proxy_login import enter
from midcourse.worlds.browser.egress.tls import Certificate
from tests.worlds.browser.site import Site


@dataclass(frozen=True, kw_only=True)
class Fenced:
    page: Page
    gate: Proxy
    outbox: Outbox

    async def run(self, script: str) -> None:
        """In the page, without waiting for what comes of it."""
        await self.page.evaluate(f"() => {{ {script} }}")

    async def held(self, number: int = 1) -> tuple[HeldRequest, ...]:
        """What waits, once there are so many."""
        await until(lambda: len(self.outbox.waiting) >= number)
        return self.outbox.waiting

    async def release(self, held: HeldRequest) -> None:
        """And claim it, if it was parked."""
        self.outbox.release([held])
        if held.allowed is None:
            await self.page.goto(held.request.url, referer=held.claim)


async def until(holds: Callable[[], bool], seconds: float = 600.0) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def chromium(certificate: Certificate, *flags: str) -> AsyncGenerator[Browser]:
    """With a proxy where nobody listens: each context has a gate of its own."""
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=[*FLAGS, *FENCE, certificate.flag, *flags],
            proxy={"server": "http://127.0.0.1:9", "bypass": "<-loopback>"},
        )
        yield browser
        await browser.close()


@asynccontextmanager
async def fenced(
    browser: Browser, site: Site, policy: dict[str, Any] | None = None, **more: Any
) -> AsyncGenerator[Fenced]:
    """A fresh context in it, at the site's front page."""
    origins = read_origins(policy, site.url)
    outbox = Outbox(origins)
    gate = Proxy(origins, outbox, **more)
    proxy = await gate.open()
    context = await browser.new_context(proxy={"server": proxy, "bypass": "<-loopback>"}, accept_downloads=True)
    page = await context.new_page()
    try:
        await enter(context, page, gate.password)
        await page.goto(f"{site.url}/")
        yield Fenced(page=page, gate=gate, outbox=outbox)
    finally:
        outbox.drop(outbox.waiting)
        await context.close()
        await gate.close()
