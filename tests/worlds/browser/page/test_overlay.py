"""The picture of `midcourse look`: each visible zone has a box and a tag, and tags avoid other zones."""

from io import BytesIO

import pytest
from PIL import Image, ImageChops

from midcourse.domain.observation import Zone
from midcourse.worlds.browser import Browser
from midcourse.worlds.browser.page.screenshots import SecretLocator, take_screenshot
from tests.worlds.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def draw_overlay(visitor: Visitor) -> Image.Image:
    """The difference that the overlay of zones makes to the screenshot."""
    assert isinstance(visitor.world, Browser)
    seen = await visitor.see()
    plain = await take_screenshot(visitor.world._tab, SecretLocator())
    pictures = [Image.open(BytesIO(png)).convert("RGB") for png in (plain, await visitor.world.picture(seen))]
    return ImageChops.difference(*pictures)


def crop_to_zone(picture: Image.Image, zone: Zone, margin: int = 3) -> Image.Image:
    assert zone.bounds
    x, y, width, height = zone.bounds
    return picture.crop((x + margin, y + margin, x + width - margin, y + height - margin))


async def test_zones_scrolled_out_of_sight_are_not_drawn(visitor: Visitor):
    rows = "".join(f"<button style='display: block; height: 40px'>{n}</button>" for n in range(9))
    await visitor.visit(f"<div style='height: 90px; overflow: auto'>{rows}</div>")
    drawn = await draw_overlay(visitor)
    box = drawn.getbbox()
    assert box
    assert box[3] < 90 + 8 + 30, "two rows, the half of a third, and its tag"


async def test_a_tag_keeps_clear_of_its_neighbours(visitor: Visitor):
    await visitor.visit(
        "<h1 style='margin: 0; width: 300px'>Heading</h1><input aria-label=Field style='display: block'>"
    )
    assert crop_to_zone(await draw_overlay(visitor), await visitor.zone("Heading")).getbbox() is None


async def test_tags_do_not_cover_the_text_of_zones(visitor: Visitor):
    await visitor.visit("<p style='margin: 30px'><a href='/x'>Link</a> <button>Button</button></p>")
    drawn = await draw_overlay(visitor)
    for label in ("Link", "Button"):
        assert crop_to_zone(drawn, await visitor.zone(label), margin=2).getbbox() is None
