"""Pictures for viewers: on request only, on change only, with secrets covered, and never in the way of the run."""

import asyncio
from collections.abc import AsyncGenerator
from io import BytesIO
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image
from playwright.async_api import Page

from midcourse.ports.viewing import View
from midcourse.worlds.browser import Browser
from tests.pages import Pages
from tests.worlds.browser.visitor import Visitor, ok, page_of, visiting

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

FIELD = "<input name=name aria-label=Name style='position:absolute; left:20px; top:120px'>"
COLOURS = "<p style='position:absolute; left:0; top:0; margin:0; width:200px; height:40px; background:{}'>{}</p>"


@pytest.fixture
def screenshots_taken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages of which Chromium was asked for a screenshot."""
    found: list[str] = []
    take = Page.screenshot

    async def counted(self: Page, **options: Any) -> bytes:
        found.append(self.url)
        return await take(self, **options)

    monkeypatch.setattr(Page, "screenshot", counted)
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def visitor_with_secret(pages: Pages) -> AsyncGenerator[Visitor]:
    """A visitor whose world conceals a secret."""
    async with visiting(pages) as visitor:
        await visitor.world.conceal((("shop_card", "4111 1111 1111 1111"),))
        yield visitor


async def view(visitor: Visitor, since: str = "") -> View:
    assert isinstance(visitor.world, Browser)
    return await visitor.world.view(since)


def colour(seen: View, at: tuple[int, int]) -> tuple[int, ...]:
    found = Image.open(BytesIO(seen.picture)).getpixel(at)
    assert isinstance(found, tuple)
    return found


async def test_no_screenshot_is_taken_without_a_viewer(visitor: Visitor, screenshots_taken: list[str]) -> None:
    await visitor.visit(FIELD)
    ok(await visitor.on("Name", "type", text="Ada"))
    await visitor.see()
    assert screenshots_taken == []
    assert (await view(visitor)).picture
    assert len(screenshots_taken) == 1


async def test_a_picture_is_taken_when_something_changed(visitor: Visitor, screenshots_taken: list[str]) -> None:
    await visitor.visit(FIELD + COLOURS.format("rgb(200,0,0)", ""))
    await visitor.see()
    first = await view(visitor)
    assert colour(first, (10, 10))[0] > 150
    assert first.picture.startswith(b"\xff\xd8")
    for _ in range(3):
        assert not (await view(visitor, first.stamp)).picture
    assert len(screenshots_taken) == 1
    await page_of(visitor).evaluate("document.querySelector('p').style.background = 'rgb(0,200,0)'")
    changed = await view(visitor, first.stamp)
    assert colour(changed, (10, 10))[1] > 150
    ok(await visitor.on("Name", "type", text="Ada"))  # leaves no trace in the document
    assert (await view(visitor, changed.stamp)).picture


async def test_secrets_are_covered(visitor_with_secret: Visitor) -> None:
    shown = COLOURS.format("rgb(200,0,0)", "4111 1111 1111 1111")
    await visitor_with_secret.visit(
        shown + "<input type=password value=hidden style='position:absolute; top:200px; background:red'>"
    )
    await visitor_with_secret.see()
    seen = await view(visitor_with_secret)
    assert colour(seen, (20, 8)) == pytest.approx((212, 212, 216), abs=6)  # the number
    assert colour(seen, (190, 30)) == pytest.approx((200, 0, 0), abs=20)  # beside it
    assert colour(seen, (40, 212)) == pytest.approx((212, 212, 216), abs=6)  # the password
    assert not (await view(visitor_with_secret, seen.stamp)).picture  # that it was covered is not a change
    assert await page_of(visitor_with_secret).locator("midcourse-cover").count() == 0


async def test_the_run_does_not_wait_for_a_viewer_nor_a_viewer_for_the_run(
    visitor: Visitor, screenshots_taken: list[str]
) -> None:
    await visitor.visit("<p>Wait</p>")
    acting = asyncio.create_task(visitor.do("wait_for", text="Ready", seconds=60))
    await asyncio.sleep(0.1)
    assert not (await view(visitor)).picture
    assert not acting.done()
    await page_of(visitor).evaluate("document.querySelector('p').textContent = 'Ready'")
    ok(await acting)
    assert screenshots_taken == []
    assert (await view(visitor)).picture


async def test_a_page_that_asks_something_is_not_pictured(visitor: Visitor) -> None:
    await visitor.visit("<button onclick=\"confirm('Sure?')\">Ask</button>")
    ok(await visitor.on("Ask", "click"))
    assert not (await view(visitor)).picture
    ok(await visitor.on("Sure?", "accept"))


async def test_a_world_that_has_not_looked_shows_nothing(pages: Pages) -> None:
    async with visiting(pages) as visitor:
        assert not (await view(visitor)).picture
        await visitor.see()
        assert (await view(visitor)).picture
