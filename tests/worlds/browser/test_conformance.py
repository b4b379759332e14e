"""The browser passes the conformance suite of worlds. One session serves most checks: each begins at the form."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from pathlib import Path

import pytest

from midcourse.domain.observation import Observation
from midcourse.ports.world import Call, World
from midcourse.testing.conformance.world import WorldConformance, a_call
from midcourse.worlds.browser import Browser
from tests.pages import Pages, serve_pages

pytestmark = pytest.mark.slow

FORM = "<h1>Form</h1><label>Name <input></label><label><input type=checkbox> Agree</label><button>Go</button>"


@pytest.fixture(scope="module")
def pages() -> Generator[Pages]:
    with serve_pages() as there:
        yield there


@pytest.fixture(scope="module")
def address(pages: Pages) -> str:
    return pages.show("/", FORM, title="Form")


@pytest.fixture(scope="module")
def kept(address: str) -> Generator[tuple[asyncio.Runner, Browser]]:
    with asyncio.Runner() as runner:
        browser = Browser(address, quiet_seconds=0.02)
        yield runner, browser
        runner.run(browser.close())


class TestBrowser(WorldConformance):
    @pytest.fixture(autouse=True)
    def there(self, address: str, kept: tuple[asyncio.Runner, Browser]) -> None:
        self.address = address
        self.runner, self.browser = kept

    def make_world(self, tmp_path: Path) -> World:
        return Browser(self.address, quiet_seconds=0.02)

    def a_harmless_call(self, observation: Observation) -> Call:
        return a_call("check", next(zone for zone in observation.zones if zone.role == "checkbox"))

    def _with_world(self, tmp_path: Path, check: Callable[[World], Awaitable[None]]) -> None:
        async def checked() -> None:
            if self.browser._session is None:
                await self.browser.open()
            self.browser._barred.clear()
            await self.browser._running.go(self.address)
            await self.browser._running.settle()
            await check(self.browser)

        self.runner.run(checked())
