"""A page must not take the answer of a form that was approved: it belongs to the navigation that shows it."""

from dataclasses import replace

import pytest

from midcourse.worlds.browser import Browser
from tests.worlds.browser.site import Answer, ReceivedRequest, Site
from tests.worlds.support import Hand, ok

pytestmark = pytest.mark.slow

FETCHES = """const ask = () => fetch('/orders', {headers: {'Upgrade-Insecure-Requests': '1'}}).then(it => it.text())
    .then(text => {if (text.includes('stored')) document.title = 'stolen'; setTimeout(ask, 5)})"""
FRAMES = """const frame = document.body.appendChild(document.createElement('iframe'))
const ask = () => {frame.src = '/orders'}; frame.onload = () => setTimeout(ask, 5)"""


@pytest.mark.parametrize("script", [FETCHES, FRAMES], ids=["a fetch that imitates a navigation", "frames of its own"])
async def test_the_answer_of_an_approved_form_goes_to_the_page_and_not_to_a_script(script: str) -> None:
    form = f"<!doctype html><title>Form</title><form method=post action=/orders><input name=a value=1><button>Order</button></form><script>{script}; document.forms[0].onsubmit = () => setTimeout(ask, 50)</script>"

    def orders(asked: ReceivedRequest) -> Answer:
        return Answer("<!doctype html><title>Thanks</title>stored" if asked.method == "POST" else "<p>no order</p>")

    async with Site({"/": form, "/orders": orders}).served() as site:
        browser = Browser(f"{site.url}/", quiet_seconds=0.03, settle_seconds=1.0)
        await browser.open()
        try:
            hand = Hand(browser)
            call = hand.call("click", await hand.zone("Order"))
            held = await browser.act(call)
            assert (held.status, held.reason) == ("no_effect", "would_send")
            assert await browser.commit_set(call) is not None
            ok(await browser.act(replace(call, allowed=True)))
            assert site.effects() == ["POST /orders"]
            assert await hand.title() == "Thanks"
        finally:
            await browser.close()
