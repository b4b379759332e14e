"""What MiniWoB++'s pages showed to be missing from the zones, and any page may have."""

import pytest

from tests.worlds.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="module")]


async def test_a_value_is_shown_as_it_is(visitor: Visitor):
    await visitor.visit("<textarea title=Notes>one  two\nthree </textarea>")
    assert await visitor.state("Notes", "value") == "one  two\nthree "


async def test_a_text_area_is_told_from_a_line_of_text(visitor: Visitor):
    await visitor.visit("<textarea title=Notes></textarea><input title=Name>")
    assert await visitor.state("Notes", "multiline") is True
    assert await visitor.state("Name", "multiline") is None


async def test_items_that_only_their_list_listens_for_can_be_seen(visitor: Visitor):
    item = '<li class="ui-sortable-handle">{}</li>'
    listening = "<script>document.querySelector('ul').addEventListener('mousedown', () => 0)</script>"
    await visitor.visit(f"<ul>{item.format('one')}{item.format('two')}</ul>{listening}")
    assert {"one", "two"} <= set(await visitor.labels("clickable"))


async def test_a_picture_is_no_button(visitor: Visitor):
    await visitor.visit('<img alt="A map" width=20 height=20 src="data:,">')
    assert "A map" not in await visitor.labels("clickable")
