"""One server and one browser for all tests of a module; each test shows a page of its own."""

from collections.abc import AsyncGenerator, Generator

import pytest
import pytest_asyncio

from tests.pages import Pages, serving
from tests.worlds.browser.visitor import Visitor, visiting


@pytest.fixture(scope="module")
def pages() -> Generator[Pages]:
    with serving() as there:
        yield there


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def visitor(pages: Pages) -> AsyncGenerator[Visitor]:
    async with visiting(pages) as hand:
        yield hand
