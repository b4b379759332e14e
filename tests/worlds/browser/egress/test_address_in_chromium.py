"""Chromium reads URLs as `address.py` does: it opens what was checked."""

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from midcourse.worlds.browser.egress.address import AddressRefused, parse
from tests.worlds.browser.hostile_urls import HOSTILE

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

HARMLESS = (
    "https://shop.example",
    "https://shop.example:443/a?b#c",
    "HTTPS://Shop.Example:8443/A",
    "  https://shop.example/a b  ",
    "https:shop.example",
    "https:\\\\shop.example\\a\\b?c\\d",
    "https://sh\top.exam\nple/a",
    "https://%73hop.example/%41",
    "https://shop.example\\.attacker.example/",
    "http://8.8.8.8",
    "http://0x08080808",
    "http://010.8.2056",
    "http://[2606:2800:220:1:0:0:0:1]:8080/",
    "http://[::FFFF:8.8.8.8]/",
    "https://a_b.example/",
    "https://shop.example?x=/../y#z?",
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def page(browser: Browser) -> AsyncGenerator[Page]:
    async with await browser.new_context() as context:
        yield await context.new_page()


async def test_chromium_parses_urls_as_address_does(page: Page) -> None:
    def ours(url: str) -> tuple[str, str] | None:
        try:
            address = parse(url)
        except AddressRefused:
            return None
        return address.origin, address.url

    read = {url: ours(url) for url in (*HARMLESS, *HOSTILE)}
    script = "urls => urls.map(url => { try { return new URL(url).origin } catch { return null } })"
    assert all(read[url] for url in HARMLESS)
    kept = {url: both for url, both in read.items() if both is not None}
    theirs = await page.evaluate(script, list(kept))
    again = await page.evaluate(script, [url for _, url in kept.values()])
    assert len(kept) > 150
    assert dict(zip(kept, theirs, strict=True)) == {url: origin for url, (origin, _) in kept.items()}
    assert again == theirs, "as we write it, Chromium does not read it differently either"
