"""A frame of another site lives in another process. It is seen and worked like any other."""

import pytest

from tests.pages import Pages, serving
from tests.worlds.browser.visitor import ok, visiting

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


async def test_frame_of_another_site(pages: Pages):
    with serving() as elsewhere:
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
