"""Probes of the browser: other pages, read in a hidden tab."""

from pathlib import Path

import pytest

from tests.worlds.browser.visitor import Visitor
from tests.worlds.support import ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_probe_reads_another_page_without_leaving_this_one(visitor: Visitor):
    orders = visitor.pages.show("/orders", "<script>document.write('<p>Order 17</p>')</script>")
    broken = visitor.pages.show("/broken", "<p>Order 17</p>", status=500)
    await visitor.visit("<input aria-label=Name>", title="Mine")
    ok(await visitor.on("Name", "type", text="half done"))
    before = await visitor.see()
    assert await visitor.world.probe("page_shows", (("url", orders), ("text", "Order 17"))) == "present"
    assert await visitor.world.probe("page_shows", (("url", orders), ("text", "Order 18"))) == "absent"
    assert await visitor.world.probe("page_shows", (("url", broken), ("text", "Order 17"))) == "unclear"
    visitor.pages.show("/signin", "<p>Please sign in</p>")
    expired = visitor.pages.show("/expired", "<script>location.replace('/signin')</script>")
    assert await visitor.world.probe("page_shows", (("url", expired), ("text", "Order 17"))) == "elsewhere"
    after = await visitor.see()
    assert (after.surface, after.zones) == (before.surface, before.zones)


async def test_probe_reads_all_pages_of_a_list(visitor: Visitor, monkeypatch: pytest.MonkeyPatch):
    """A list that begins with the oldest order does not show a new one on its first page."""
    first = visitor.pages.show("/list", "<p>Order 1</p><a rel=next href='/list/2'>2</a>")
    visitor.pages.show("/list/2", "<p>Order 2</p><a href='/list/3'>Next page</a><a href='/list'>1</a>")
    visitor.pages.show("/list/3", "<p>Order 3</p><a href='/list/2'>Previous</a><a href='/article'>Next article</a>")
    await visitor.visit("<p>Mine</p>")
    assert await visitor.world.probe("page_shows", (("url", first), ("text", "Order 3"))) == "present"
    assert await visitor.world.probe("page_shows", (("url", first), ("text", "Order 4"))) == "absent"
    visitor.pages.show("/list/3", "<p>Later</p>", status=500)
    assert await visitor.world.probe("page_shows", (("url", first), ("text", "Order 4"))) == "unclear"
    monkeypatch.setattr("midcourse.worlds.browser.session._MAX_PAGES", 2)
    assert await visitor.world.probe("page_shows", (("url", first), ("text", "Order 3"))) == "unclear"


async def test_absence_from_a_page_is_not_believed_at_once(visitor: Visitor):
    page_shows = visitor.world.catalogue().probe("page_shows")
    assert page_shows is not None
    assert page_shows.settles_after == 10.0


async def test_probe_opens_only_allowed_addresses(visitor: Visitor, tmp_path: Path):
    (tmp_path / "keys.txt").write_text("hunter2")
    for url, text in ((f"file://{tmp_path}/keys.txt", "hunter2"), ("chrome://version", "Chromium")):
        assert await visitor.world.probe("page_shows", (("url", url), ("text", text))) == "unclear"
