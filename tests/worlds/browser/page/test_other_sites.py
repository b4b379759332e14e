"""Frames of other sites, which run in other processes, are observed and used like any other."""

import asyncio

import pytest

from midcourse.worlds.browser.page import frames
from tests.pages import Pages, serve_pages
from tests.worlds.browser.visitor import ok, visiting

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_elements_in_a_frame_of_another_site_are_captured_and_used(pages: Pages):
    with serve_pages() as elsewhere:
        elsewhere.show(
            "/pay",
            "<input aria-label=Card><button onclick=\"this.textContent='Paid'\">Pay</button><iframe src=/deep></iframe>",
        )
        elsewhere.show("/deep", "<p>Deep</p>")
        there = elsewhere.url.replace("127.0.0.1", "localhost")
        async with visiting(pages, origins={there: {}}) as visitor:
            frame = f"<iframe style='margin-top: 1500px' src='{there}/pay'></iframe>"
            await visitor.visit(f"<p>Before</p>{frame}<p>After</p>")
            assert await visitor.labels() == ["Page", "Before", "Card", "Pay", "Deep", "After"]
            ok(await visitor.on("Card", "type", text="4242"))
            ok(await visitor.on("Pay", "click"))
            assert await visitor.labels("button") == ["Paid"]
            assert await visitor.state("Card", "value") == "4242"


async def test_frame_that_never_answers_does_not_block_its_page(pages: Pages, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(frames, "_INNER_ANSWERS_WITHIN", 1.0)
    with serve_pages() as elsewhere:
        there = elsewhere.show("/advert", "<p>Buy</p><script>setTimeout(() => { while (true); }, 500)</script>")
        there = there.replace("127.0.0.1", "localhost")
        async with visiting(pages, origins={there.removesuffix("/advert"): {}}) as visitor:
            await visitor.visit(
                f"<button onclick=\"this.textContent = 'Read'\">More</button><iframe src='{there}'></iframe>"
            )
            while "Buy" in await visitor.labels():
                await asyncio.sleep(0.1)
            ok(await visitor.on("More", "click"))
            assert await visitor.labels() == ["Page", "Read"]
