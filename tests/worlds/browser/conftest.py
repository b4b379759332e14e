"""Fixtures: one Chromium per test worker, one server and one session per module; each test shows its own page.

With FULL_CHROMIUM=1 the tests never use the headless shell; `just nightly` runs them so.
"""

import os
from collections.abc import AsyncGenerator, Generator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from midcourse.worlds.browser import chromium
from tests.pages import Pages, serve_pages
from tests.worlds.browser.shared import SharedChromium, sharing_chromium
from tests.worlds.browser.visitor import Visitor, visiting

if os.environ.get("FULL_CHROMIUM"):
    chromium._HEADLESS_NAMES = ()


@pytest_asyncio.fixture(scope="session", loop_scope="session", autouse=True)
async def shared_chromium() -> AsyncGenerator[SharedChromium]:
    """For all tests that run in the session's event loop. The others start their own."""
    async with sharing_chromium() as shared:
        yield shared


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def browser(shared_chromium: SharedChromium) -> Browser:
    """Bare, for contexts behind a proxy that a test starts."""
    return await shared_chromium.browser()


@pytest.fixture(scope="module")
def pages() -> Generator[Pages]:
    with serve_pages() as there:
        yield there


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def visitor(pages: Pages) -> AsyncGenerator[Visitor]:
    async with visiting(pages) as hand:
        yield hand
