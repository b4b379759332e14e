"""One server and one browser for the tests of a module; each test shows pages of its own."""

from collections.abc import AsyncGenerator, Generator

import pytest
import pytest_asyncio

from midcourse.worlds.browser import Browser
from tests.pages import Pages, serving


@pytest.fixture(scope="module")
def pages() -> Generator[Pages]:
    with serving() as there:
        yield there


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(pages: Pages) -> AsyncGenerator[Browser]:
    world = Browser("about:blank", quiet_seconds=0.05)
    await world.open()
    yield world
    await world.close()
