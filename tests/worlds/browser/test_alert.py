"""An alert that a page opens while a person is asked: what waits for the answer is still sent, and the alert is left to the plan."""

from dataclasses import replace

import pytest

from midcourse.worlds.browser import Browser
from tests.worlds.browser.guarded_page import until
from tests.worlds.browser.site import Answer, Site
from tests.worlds.support import Hand, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

SHOP = """<!doctype html><html lang=en><title>Shop</title><button>Add to cart</button><p></p><script>
document.querySelector('button').onclick = () => {
  const giveUp = new AbortController()
  setTimeout(() => ABORT, 500)
  setTimeout(() => alert('The shop does not answer.'), 700)
  fetch('/cart', {method: 'POST', body: 'item=1', signal: giveUp.signal}).then(() => { document.querySelector('p').textContent = 'Added' })
}</script></html>"""


async def try_to_add(abort: str) -> tuple[Site, list[str]]:
    """Return what was sent, and how the approved act ended, after the alert has come."""
    site = Site({"/": SHOP.replace("ABORT", abort), "/cart": Answer(status=201)})
    async with site.served():
        browser = Browser(f"{site.url}/", quiet_seconds=0.05)
        await browser.open()
        try:
            hand = Hand(browser)
            call = hand.call("click", await hand.zone("Add to cart"))
            assert (await browser.act(call)).reason == "would_send"
            asked = await browser.commit_set(call)
            await until(lambda: browser._tab.dialog is not None)
            again = await browser.commit_set(call)
            assert asked is not None
            assert again is not None
            assert (again, again.words, again.covers) == (asked, asked.words, asked.covers), "it is what was approved"
            outcome = await browser.act(replace(call, allowed=True))
            seen = await hand.see()
            assert seen.zone("dialog") is not None, "the plan answers it"
            ok(await hand.do("accept", seen.zone("dialog")))
            return site, [outcome.status, outcome.reason, outcome.detail]
        finally:
            await browser.close()


async def test_request_that_still_waits_is_sent_although_an_alert_is_open() -> None:
    site, (status, reason, detail) = await try_to_add("0")
    assert site.effects() == ["POST /cart"]
    assert (status, reason) == ("ok", "")
    assert detail.endswith("/cart: 201")


async def test_request_that_the_page_gave_up_is_reported_as_not_sent() -> None:
    site, (status, reason, detail) = await try_to_add("giveUp.abort()")
    assert site.effects() == []
    assert (status, reason) == ("no_effect", "transient")
    assert "the page stopped waiting" in detail
