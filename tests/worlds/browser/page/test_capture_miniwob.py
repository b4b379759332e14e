"""Cases that pages of MiniWoB++ showed to be missing from the zones."""

import pytest

from tests.worlds.browser.visitor import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_a_value_is_shown_as_it_is(visitor: Visitor):
    await visitor.visit("<textarea title=Notes>one  two\nthree </textarea>")
    assert await visitor.state("Notes", "value") == "one  two\nthree "


async def test_text_area_is_multiline(visitor: Visitor):
    await visitor.visit("<textarea title=Notes></textarea><input title=Name>")
    assert await visitor.state("Notes", "multiline") is True
    assert await visitor.state("Name", "multiline") is None


async def test_items_that_only_their_list_listens_for_can_be_seen(visitor: Visitor):
    item = '<li class="ui-sortable-handle">{}</li>'
    listening = "<script>document.querySelector('ul').addEventListener('mousedown', () => 0)</script>"
    await visitor.visit(f"<ul>{item.format('one')}{item.format('two')}</ul>{listening}")
    assert {"one", "two"} <= set(await visitor.labels("clickable"))


async def test_image_is_not_clickable(visitor: Visitor):
    await visitor.visit('<img alt="A map" width=20 height=20 src="data:,">')
    assert "A map" not in await visitor.labels("clickable")


async def test_elements_scrolled_out_of_a_container_are_captured(visitor: Visitor):
    scrolled = "<script>document.querySelector('div').scrollTop = 2000</script>"
    rows = "<button>First</button><p style='height: 3000px'></p><button>Last</button>"
    await visitor.visit(f"<div style='height: 200px; overflow-y: scroll'>{rows}</div>{scrolled}")
    assert {"First", "Last"} <= set(await visitor.labels("button"))


async def test_elements_beyond_the_edge_of_the_page_are_not_captured(visitor: Visitor):
    await visitor.visit("<button style='position: absolute; left: -9999px'>Skip</button><button>Go</button>")
    assert await visitor.labels("button") == ["Go"]
