"""A long run: its page asks for a handful of things and draws a handful of rows, however long the run is."""

from collections import Counter

import pytest
from playwright.async_api import Request, expect

from benchmarks.console_speed import RUN, read_book
from tests.console.visit import Console
from tests.server.serving import TENANTS

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]
STEPS = 200


async def test_a_long_run_is_asked_for_once_and_drawn_in_part(console: Console) -> None:
    last = await read_book(console.server.home / TENANTS[0], STEPS)
    assert last > 3 * STEPS
    async with console.open_page() as visit:
        page = visit.page
        asked = Counter[str]()

        def count(request: Request) -> None:
            _, _, part = request.url.partition(f"/runs/{RUN}")
            if f"/runs/{RUN}" in request.url:
                asked[part.partition("?")[0].partition("observations")[0]] += 1

        page.on("request", count)
        await visit.go(f"/runs/{RUN}")
        await expect(page.locator(f"[data-turns='{last}']")).to_be_visible()
        turns = await visit.list_turns()
        assert int(turns[-1]) >= last - 1
        assert len(turns) < 60
        assert await page.locator("[aria-label='Plan versions'] li").count() < 20

        await page.get_by_role("log").evaluate("box => { box.scrollTop = 0 }")
        await expect(page.locator("[data-seq='2']")).to_be_visible()
        assert len(await visit.list_turns()) < 60
        assert asked.pop("/events") == asked.pop("/lines") == 1
        assert all(number <= 2 for number in asked.values()), f"what is known was asked for again: {asked}"
