"""Choosing from lists: select elements, lists that a page draws itself, and suggestions for a field."""

import pytest

from tests.worlds.browser.test_skills import SAYS, read_log
from tests.worlds.browser.visitor import Visitor, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def test_select_chooses_an_option_by_text_or_value(visitor: Visitor):
    await visitor.visit(
        f"""{SAYS}<select aria-label=Size onchange="say('told')"><option value=s>Small<option value=m>Medium<option disabled>Big
        <optgroup label=Sold disabled><option>Tiny</optgroup></select>
        <select aria-label=Tags multiple><option selected>a<option>b<option>c<option>d | e</select>"""
    )
    ok(await visitor.on("Size", "select", option="Medium"))
    assert (await visitor.state("Size", "value"), await read_log(visitor)) == ("Medium", "told")
    ok(await visitor.on("Size", "select", option="s"))
    assert await visitor.state("Size", "value") == "Small"
    missing = await visitor.on("Size", "select", option="Huge")
    assert missing.reason == "no_such_option"
    assert "Small | Medium" in missing.detail
    for disabled in ("Big", "Tiny"):
        assert (await visitor.on("Size", "select", option=disabled)).reason == "no_such_option"
    ok(await visitor.on("Tags", "select", option="b | c"))
    assert await visitor.state("Tags", "value") == "b | c"
    ok(await visitor.on("Tags", "select", option="d | e"))
    assert await visitor.state("Tags", "value") == "d | e"


async def test_select_chooses_from_a_list_that_the_page_draws(visitor: Visitor):
    await visitor.visit(
        """<div role=combobox aria-label=Size tabindex=0 onclick="l.hidden = false">-</div>
        <div id=l role=listbox hidden><div role=option onclick="this.ariaSelected = 'true'">Small</div><div role=option>Big</div></div>"""
    )
    ok(await visitor.on("Size", "select", option="Small"))
    assert await visitor.state("Small", "selected") is True
    assert (await visitor.on("Size", "select", option="Huge")).reason == "no_such_option"


async def test_typing_into_a_field_with_suggestions_waits_for_them(visitor: Visitor):
    await visitor.visit(
        """<input role=combobox aria-label=City oninput="setTimeout(() => { l.hidden = false }, 400)">
        <div id=l role=listbox hidden><div role=option>Bergen</div></div>"""
    )
    ok(await visitor.on("City", "type", text="Ber"))
    assert "Bergen" in {zone.label for zone in (await visitor.see()).zones}


async def test_select_uses_the_list_of_its_zone(visitor: Visitor):
    answers = "".join(
        f"""<div role=listbox aria-label={name}><div role=option onclick="say('{name} no')">No</div>
        <div role=option onclick="say('{name} yes')">Yes</div></div>"""
        for name in ("First", "Second")
    )
    await visitor.visit(
        f"""{SAYS}<nav><a role=menuitem href='/books'>Books</a></nav>{answers}
        <div role=combobox aria-label=Kind aria-expanded=false onclick="l.hidden = false">-</div>
        <div id=l hidden><div role=option onclick="say('kind')">Books</div></div>"""
    )
    ok(await visitor.on("Second", "select", option="Yes"))
    assert await read_log(visitor) == "Second yes"
    ok(await visitor.on("Kind", "select", option="Books"))
    assert await read_log(visitor) == "kind"
