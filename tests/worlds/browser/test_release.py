"""A click that would send something, allowed: the held request leaves unchanged and its response is followed."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest
import pytest_asyncio

from midcourse.worlds.browser import Browser
from tests.worlds.browser.site import Answer, Site
from tests.worlds.support import Hand, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

FORM = "<!doctype html><title>Form</title><form method=post action=/orders><input name=item value=pen><button>Go</button></form>"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def site() -> AsyncGenerator[Site]:
    answered = Answer("", status=303, fields={"Location": "/thanks"})
    site = Site({"/": FORM, "/orders": answered, "/thanks": "<title>Thank you</title><p>1 pen</p>"})
    async with site.served():
        yield site


async def test_the_redirect_that_answers_a_released_request_is_followed(site: Site) -> None:
    browser = Browser(f"{site.url}/", quiet_seconds=0.03)
    await browser.open()
    try:
        hand = Hand(browser)
        call = hand.call("click", await hand.zone("Go"))
        held = await browser.act(call)
        assert (held.status, held.reason) == ("no_effect", "would_send")
        assert await browser.commit_set(call) is not None
        assert site.effects() == []
        ok(await browser.act(replace(call, allowed=True)))
        assert await hand.title() == "Thank you"
        assert site.effects() == ["POST /orders"]
    finally:
        await browser.close()
