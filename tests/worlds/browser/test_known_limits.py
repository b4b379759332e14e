"""What a page of an allowed origin can still do, as docs/browser-safety.md says. If one fails, the table there can shrink."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest
import pytest_asyncio

from midcourse.redact import Redactor
from tests.pages import Pages
from tests.worlds.browser.visitor import Visitor, ok, visiting

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def visitor(pages: Pages) -> AsyncGenerator[Visitor]:
    known = {"private": True, "secrets": ["pin"], "safe": ["POST /autosave"]}
    async with visiting(pages, origins={pages.url: known}) as hand:
        yield hand


async def test_typed_text_can_be_sent_to_its_own_origin_by_get(visitor: Visitor):
    await visitor.visit("<label>Note <input oninput='new Image().src = `/seen?${this.value}`'></label>")
    ok(await visitor.on("Note", "type", text="private"))
    assert "GET /seen?private" in visitor.pages.hits


async def test_get_that_is_not_declared_unsafe_is_sent(visitor: Visitor):
    await visitor.visit("<a href='/delete?id=7'>Details</a>")
    ok(await visitor.on("Details", "click"))
    assert "GET /delete?id=7" in visitor.pages.hits


async def test_a_secret_can_be_typed_into_any_field_of_its_origin(visitor: Visitor):
    await visitor.visit("<label>Comment <input oninput='new Image().src = `/told?${this.value}`'></label>")
    call = visitor.call("type", await visitor.zone("Comment"), text="2580")
    ok(await visitor.world.act(replace(call, secrets=(("text", "pin"),))))
    assert "GET /told?2580" in visitor.pages.hits


async def test_safe_request_carries_whatever_the_page_puts_in_it(visitor: Visitor):
    await visitor.visit(
        "<label>Note <input></label><script>addEventListener('input', event =>"
        " fetch('/autosave', {method: 'POST', body: event.target.value}))</script>"
    )
    ok(await visitor.on("Note", "type", text="private"))
    assert visitor.pages.bodies["/autosave"].startswith(b"p")


async def test_secret_without_text_is_in_the_screenshot(pages: Pages):
    """The screenshots of the two pages differ, although the secret should be covered."""
    drawing = (
        "<canvas width=300 height=40></canvas><script>const brush = document.querySelector('canvas').getContext('2d');"
    )
    async with visiting(pages, screenshots="all", width=400, height=100) as hand:
        pictures: list[str] = []
        for secret in ("hunter2", "batman5"):
            await hand.world.conceal((("pin", secret),))
            await hand.visit(f"{drawing} brush.fillText([...'{secret[::-1]}'].reverse().join(''), 9, 20)</script>")
            pictures.append((await hand.see()).screenshot)
    assert pictures[0] != pictures[1]


async def test_secret_in_an_encoding_of_the_page_is_not_recognised():
    assert Redactor([("pin", "2580-1470")])("0741-0852") == "0741-0852"
