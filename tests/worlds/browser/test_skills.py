"""Every skill on a real page, and its message when something is in the way."""

from dataclasses import replace
from pathlib import Path

import pytest

from midcourse.domain.observation import Zone
from midcourse.worlds.browser import Browser
from tests.pages import Pages
from tests.worlds.browser.visitor import Visitor, ok, page_of, visiting

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

SAYS = "<p id=log role=status>-</p><script>const say = (text) => { log.textContent = text }</script>"


async def read_log(visitor: Visitor) -> str:
    return (await visitor.labels("status"))[0]


# --- going places


async def test_go_back_returns_to_the_earlier_page(visitor: Visitor):
    await visitor.visit("<p>First</p>", title="First")
    await visitor.visit("<p>Second</p>", title="Second")
    ok(await visitor.do("go_back"))
    assert await visitor.title() == "First"


@pytest.mark.parametrize("way", ["history.pushState(null, '', '?second')", "location.hash = 'second'"])
async def test_go_back_to_where_the_same_page_was_before(visitor: Visitor, way: str):
    await visitor.visit(
        f"""{SAYS}<button onclick="{way}">Go</button><script>onpopstate = () => say(location.href.includes('second') ? 'there' : 'back')</script>"""
    )
    ok(await visitor.on("Go", "click"))
    ok(await visitor.do("go_back"))
    assert await read_log(visitor) == "back"


async def test_going_back_from_the_first_page_has_no_effect(pages: Pages):
    async with visiting(pages) as visitor:
        assert (await visitor.do("go_back")).status == "no_effect"
        assert await visitor.title() == "Start"


async def test_missing_page_shows_its_status(visitor: Visitor):
    outcome = await visitor.do("navigate", url=visitor.pages.url + "/hangup")
    assert outcome.status == "ok"
    assert (await visitor.see()).zones[0].get("status") == 404


async def test_link_leads_to_another_page(visitor: Visitor):
    there = visitor.pages.show("/there", "<p>There</p>", title="There")
    await visitor.visit(f"<a href='{there}'>Go</a>")
    ok(await visitor.on("Go", "click"))
    assert await visitor.title() == "There"


# --- clicking


async def test_click_scrolls_to_an_element_far_below(visitor: Visitor):
    await visitor.visit(f"{SAYS}<div style='height: 4000px'></div><button onclick=\"say('hit')\">Low</button>")
    ok(await visitor.on("Low", "click"))
    assert await read_log(visitor) == "hit"


async def test_click_takes_a_button_and_a_number_of_times(visitor: Visitor):
    await visitor.visit(
        f"{SAYS}<button oncontextmenu=\"say('right')\">One</button><button ondblclick=\"say('twice')\">Two</button>"
    )
    ok(await visitor.on("One", "click", button="right"))
    assert await read_log(visitor) == "right"
    ok(await visitor.on("Two", "click", times=2))
    assert await read_log(visitor) == "twice"


async def test_covered_element_is_not_clicked_and_the_cover_is_named(visitor: Visitor):
    await visitor.visit(
        f"""{SAYS}<button onclick="say('button')">Pay</button>
        <div id=cookies onclick="say('cookies')" style='position: fixed; inset: 0; background: #ccc'>We value your privacy</div>"""
    )
    outcome = await visitor.on("Pay", "click")
    assert (outcome.status, outcome.reason) == ("failed", "covered")
    assert "<div#cookies> 'We value your privacy'" in outcome.detail
    assert await read_log(visitor) == "-"


async def test_half_covered_is_hit_where_it_is_free(visitor: Visitor):
    await visitor.visit(
        f"""{SAYS}<button onclick="say('hit')" style='position: absolute; left: 0; top: 80px; width: 400px'>Wide</button>
        <div style='position: absolute; left: 150px; top: 60px; width: 100px; height: 80px; background: red'>Bar</div>"""
    )
    ok(await visitor.on("Wide", "click"))
    assert await read_log(visitor) == "hit"


@pytest.mark.parametrize("kids", [9, 90], ids=["in view", "larger than the view"])
async def test_element_with_controls_inside_is_clicked_beside_them(visitor: Visitor, kids: int):
    tree = "".join("<li role=treeitem onclick=\"say('kid'); event.stopPropagation()\">Kid</li>" for _ in range(kids))
    await visitor.visit(
        f"""{SAYS}<div aria-label=Card role=button onclick="say('card')" style='width: 300px; text-align: center'>Card<br>
        <button onclick="say('delete'); event.stopPropagation()" style='width: 100%; height: 90px'>Delete</button></div>
        <ul><li role=treeitem aria-label=Parent onclick="say('parent')"><span>Parent</span><ul>{tree}</ul></li></ul>"""
    )
    ok(await visitor.on("Card", "click"))
    assert await read_log(visitor) == "card"
    ok(await visitor.on("Parent", "click"))
    assert await read_log(visitor) == "parent"


async def test_link_in_the_label_of_a_box_is_not_hit_for_it(visitor: Visitor):
    await visitor.visit(
        """<label><input type=checkbox style='display: none'> <span onclick='1'>I have read the</span>
        <a href='/terms' target=_blank>general terms and conditions of everybody who has anything to do with it</a>.</label>"""
    )
    box = next(zone for zone in (await visitor.see()).zones if zone.role == "checkbox")
    ok(await visitor.do("check", box))
    look = await visitor.see()
    assert look.zones[0].get("tabs") == 1
    assert next(zone for zone in look.zones if zone.role == "checkbox").get("checked") is True


async def test_element_that_appears_before_the_click_is_not_hit(visitor: Visitor):
    """The trap is laid when the mouse arrives: after we looked, before we click."""
    await visitor.visit(
        f"""{SAYS}<button id=b onclick="say('button')">Pay</button><script>
        b.addEventListener('mouseenter', () => {{
          const trap = document.createElement('div')
          trap.id = 'trap'
          trap.style = 'position: fixed; inset: 0; background: red'
          for (const type of ['pointerdown', 'mousedown', 'mouseup', 'click']) trap.addEventListener(type, () => say('trap'))
          document.body.append(trap)
        }})</script>"""
    )
    outcome = await visitor.on("Pay", "click")
    assert (outcome.status, outcome.reason) == ("failed", "covered"), outcome
    assert "<div#trap>" in outcome.detail
    assert await read_log(visitor) == "-"


async def test_frame_that_appears_before_the_click_is_not_hit(visitor: Visitor):
    """The page around a frame gets no events of it."""
    trap = "<body style='margin: 0' onclick='new Image().src = `/trapped`'><button style='width: 300px; height: 300px'>Trap"
    inner = visitor.pages.show("/trap", trap)
    await visitor.visit(
        f"""{SAYS}<button id=b onclick="say('button')">Pay</button>
        <iframe id=trap src='{inner}' style='position: fixed; left: 600px; top: 0; border: 0'></iframe>
        <script>b.addEventListener('mousemove', () => {{ trap.style.left = 0 }})</script>"""
    )
    outcome = await visitor.on("Pay", "click")
    assert (outcome.status, outcome.reason) == ("failed", "covered"), outcome
    assert "<iframe#trap>" in outcome.detail
    assert (await read_log(visitor), "GET /trapped" in visitor.pages.hits) == ("-", False)


async def test_after_something_was_in_the_way_the_keyboard_still_works(visitor: Visitor):
    await visitor.visit(
        f"""{SAYS}<button id=b onclick="say('button')">Pay</button>
        <div style='position: fixed; inset: 0; background: #ccc'>Wait</div><script>b.focus()</script>"""
    )
    assert (await visitor.on("Pay", "click")).reason == "covered"
    ok(await visitor.do("press_keys", keys="Enter"))
    assert await read_log(visitor) == "button"


async def test_element_that_appears_on_a_rewritten_page_is_not_hit(visitor: Visitor):
    """With `document.open`, which removes all listeners, ours as well."""
    page = """<button onmouseenter="trap.hidden = false">Pay</button>
        <div id=trap hidden onmousedown="document.title = 'Trap'" style='position: fixed; inset: 0'></div>"""
    await visitor.visit(
        f"<script>onload = () => {{ document.open(); document.write(`{page}`); document.close() }}</script>"
    )
    assert (await visitor.on("Pay", "click")).reason == "covered"
    assert await visitor.title() != "Trap"


async def test_a_disabled_button_is_not_clicked(visitor: Visitor):
    await visitor.visit("<button disabled>Send</button>")
    outcome = await visitor.on("Send", "click")
    assert (outcome.status, outcome.reason) == ("failed", "disabled")


async def test_disabled_takes_neither_keys_nor_files(visitor: Visitor, tmp_path: Path):
    """Otherwise keys would go to the element that has the focus."""
    file = tmp_path / "photo.png"
    file.write_bytes(b"png")
    await visitor.visit(
        f"""{SAYS}<form onsubmit="say('sent'); return false"><input aria-label=Name></form>
        <button disabled>Off</button><input type=file disabled aria-label=Photo>"""
    )
    ok(await visitor.on("Name", "click"))
    assert (await visitor.on("Off", "press", keys="Enter")).reason == "disabled"
    assert (await visitor.on("Photo", "upload", path=str(file))).reason == "disabled"
    assert (await read_log(visitor), await visitor.state("Photo", "value")) == ("-", None)


async def test_behind_a_modal_dialog_no_keys_are_pressed(visitor: Visitor):
    await visitor.visit(
        f"""{SAYS}<input aria-label=Behind><dialog id=d><input aria-label=Inside></dialog>
        <script>d.showModal(); onkeydown = (e) => say(e.target.ariaLabel)</script>"""
    )
    assert (await visitor.on("Behind", "press", keys="Enter")).reason == "disabled"
    assert await read_log(visitor) == "-"
    ok(await visitor.on("Inside", "press", keys="Enter"))
    assert await read_log(visitor) == "Inside"


async def test_page_itself_cannot_be_clicked(visitor: Visitor):
    await visitor.visit("<p>Text</p>")
    outcome = await visitor.do("click", (await visitor.see()).zones[0])
    assert (outcome.status, outcome.reason) == ("failed", "wrong_target")


# --- fields


@pytest.mark.parametrize(
    "field",
    [
        "<input aria-label=Field value=old>",
        "<textarea aria-label=Field>old</textarea>",
        "<div contenteditable aria-label=Field>old</div>",
        "<input aria-label=Field type=password value=old>",
        "<div role=textbox aria-label=Field><input value=old></div>",
    ],
)
async def test_type_replaces_and_clear_empties(visitor: Visitor, field: str):
    await visitor.visit(f"{SAYS}{field}<script>addEventListener('input', () => say('told'))</script>")
    zone = next(zone for zone in (await visitor.see()).zones if zone.label == "Field")
    ok(await visitor.do("type", zone, text="new text"))
    shown = "•" * 8 if "password" in field else "new text"
    values = [zone.get("value") for zone in (await visitor.see()).zones]
    assert shown in values
    assert await read_log(visitor) == "told"
    ok(await visitor.do("clear", zone))
    assert not {shown, "old"} & {zone.get("value") for zone in (await visitor.see()).zones}


@pytest.mark.parametrize(
    ("kind", "value"),
    [("date", "2026-05-01"), ("time", "10:30"), ("color", "#aabbcc"), ("range", "70"), ("month", "2026-05")],
)
async def test_type_into_date_time_colour_and_range_fields(visitor: Visitor, kind: str, value: str):
    await visitor.visit(f"{SAYS}<input aria-label=Field type={kind} onchange=\"say('told')\">")
    ok(await visitor.on("Field", "type", text=value))
    assert (await visitor.state("Field", "value"), await read_log(visitor)) == (value, "told")
    refused = await visitor.on("Field", "type", text="nonsense")
    assert (refused.status, refused.reason) == ("failed", "refused")
    assert await visitor.state("Field", "value") == value


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("color", "#AABBCC", "#aabbcc"),
        ("datetime-local", "2026-05-01 10:30", "2026-05-01T10:30"),
        ("datetime-local", "2026-05-01T10:30:00", "2026-05-01T10:30"),
        ("range", "70.0", "70"),
    ],
)
async def test_field_may_write_what_it_takes_in_its_own_way(visitor: Visitor, kind: str, text: str, value: str):
    await visitor.visit(f"<input aria-label=Field type={kind}>")
    ok(await visitor.on("Field", "type", text=text))
    assert await visitor.state("Field", "value") == value


async def test_long_text_is_entered_whole(visitor: Visitor):
    await visitor.visit("<textarea aria-label=Field></textarea>")
    ok(await visitor.on("Field", "type", text="ä word " * 500))
    outcome = await visitor.on("Field", "read")
    assert dict(outcome.data)["text"] == ("ä word " * 500).strip()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("<input aria-label=Field>", "a b"),
        ("<textarea aria-label=Field></textarea>", "a\nb"),
        ("<p contenteditable aria-label=Field></p>", "a\nb"),
    ],
)
async def test_several_lines_are_typed_without_sending_the_first(visitor: Visitor, field: str, value: str):
    await visitor.visit(
        f"""{SAYS}<form onsubmit="say('sent'); return false">{field}</form>
        <script>onkeydown = (e) => {{ if (e.key === 'Enter') say('sent') }}</script>"""
    )
    ok(await visitor.on("Field", "type", text="a\nb"))
    assert (await visitor.state("Field", "value"), await read_log(visitor)) == (value, "-")


async def test_field_that_takes_nothing_has_no_effect(visitor: Visitor):
    await visitor.visit(
        """<input aria-label=Field onkeydown='return false'><input aria-label=Fixed readonly>
        <input aria-label=Number type=number value=5>"""
    )
    assert (await visitor.on("Field", "type", text="x")).status == "no_effect"
    assert (await visitor.on("Number", "type", text="many")).status == "no_effect"
    assert (await visitor.on("Fixed", "type", text="x")).reason == "disabled"


async def test_press_on_a_zone_and_wherever_the_focus_is(visitor: Visitor):
    await visitor.visit(
        f"{SAYS}<input aria-label=Field><script>onkeydown = (e) => say(e.key + '/' + e.target.tagName)</script>"
    )
    ok(await visitor.on("Field", "press", keys="Enter"))
    assert await read_log(visitor) == "Enter/INPUT"
    ok(await visitor.do("press_keys", keys="Tab Control+Escape"))
    assert await read_log(visitor) == "Escape/BODY"
    assert (await visitor.do("press_keys", keys="Nonsense")).reason == "bad_arguments"


CHECKED = {
    "plain": "<label><input type=checkbox> Box</label>",
    "drawn by its label": "<label><input type=checkbox style='display: none'> Box</label>",
    "off the page": "<input id=a type=checkbox style='position: absolute; left: -9999px'><label for=a>Box</label>",
    "off the page and far below": "<div style='height: 3000px'></div><label><input type=checkbox style='position: fixed; top: -99px'>Box</label>",
    "invisible beside its label": "<input id=a type=checkbox style='visibility: hidden'><label for=a>Box</label>",
    "drawn by another label": "<label for=a hidden></label><input id=a type=checkbox style='display: none'><label for=a>Box</label>",
    "see-through": "<input id=a type=checkbox style='opacity: 0; position: absolute'><label for=a style='display: inline-block; padding: 9px'>Box</label>",
    "switch": "<div role=switch aria-checked=false onclick=\"this.ariaChecked = this.ariaChecked !== 'true'\">Box</div>",
    "toggle": "<button aria-pressed=false onclick=\"this.ariaPressed = this.ariaPressed !== 'true'\">Box</button>",
}


@pytest.mark.parametrize("kind", CHECKED)
async def test_check_and_uncheck_set_and_never_toggle(visitor: Visitor, kind: str):
    await visitor.visit(CHECKED[kind])
    for skill, wanted in (("check", True), ("check", True), ("uncheck", False), ("uncheck", False)):
        ok(await visitor.on("Box", skill))
        assert await visitor.state("Box", "checked") is wanted


async def test_radio_is_checked_and_stays_so(visitor: Visitor):
    await visitor.visit(
        "<label><input type=radio name=a> One</label><label><input type=radio name=a checked> Two</label>"
    )
    ok(await visitor.on("One", "check"))
    assert (await visitor.state("One", "checked"), await visitor.state("Two", "checked")) == (True, False)
    assert (await visitor.on("One", "uncheck")).status == "no_effect"


MIXED = {
    "unchecked": "<label><input id=c type=checkbox> Box</label><script>c.indeterminate = true</script>",
    "checked": "<label><input id=c type=checkbox checked> Box</label><script>c.indeterminate = true</script>",
    "own": "<b role=checkbox aria-checked=mixed onclick=\"this.ariaChecked = this.ariaChecked !== 'true'\">Box</b>",
    "silent": "<b role=checkbox onclick=\"this.ariaChecked = this.ariaChecked !== 'true'\">Box</b>",
}


@pytest.mark.parametrize("kind", MIXED)
@pytest.mark.parametrize(("skill", "wanted"), [("check", True), ("uncheck", False)])
async def test_mixed_checkbox_becomes_checked_or_unchecked(visitor: Visitor, kind: str, skill: str, wanted: bool):
    await visitor.visit(MIXED[kind])
    ok(await visitor.on("Box", skill))
    assert await visitor.state("Box", "checked") is wanted


CHECKED_LATER = {
    "once it is stored": "<b role=switch aria-checked=false onclick=\"fetch('/stored').then(() => { this.ariaChecked = 'true' })\">Box</b>",
    "by another element": """<main></main><script>const draw = (on) => {
        document.querySelector('main').innerHTML = `<b role=switch aria-checked=${on} onclick="draw(true)">Box</b>` }; draw(false)</script>""",
}


@pytest.mark.parametrize("kind", CHECKED_LATER)
async def test_switch_that_is_updated_by_a_script_is_checked(visitor: Visitor, kind: str):
    visitor.pages.show("/stored", "", seconds=0.1)
    await visitor.visit(CHECKED_LATER[kind])
    ok(await visitor.on("Box", "check"))
    assert await visitor.state("Box", "checked") is True


@pytest.mark.parametrize("skill", ["check", "type"])
async def test_check_and_type_may_lead_to_another_page(visitor: Visitor, skill: str):
    there = visitor.pages.show("/found", "<p>Found</p>", title="Found")
    go = f"location = '{there}'"
    await visitor.visit(
        f'<label><input type=checkbox onclick="{go}">check</label><input aria-label=type onfocus="{go}">'
    )
    await visitor.on(skill, skill, **({"text": "x"} if skill == "type" else {}))
    assert await visitor.title() == "Found"


@pytest.mark.parametrize("hidden", ["hidden", "style='display: none'", "style='position: absolute; left: -999px'"])
async def test_upload_into_a_field_that_only_its_label_shows(visitor: Visitor, tmp_path: Path, hidden: str):
    file = tmp_path / "photo.png"
    file.write_bytes(b"png")
    await visitor.visit(f"<label for=f>Choose</label><input id=f type=file {hidden}>")
    ok(await visitor.on("Choose", "upload", path=str(file)))
    assert await visitor.state("Choose", "value") == "photo.png"


async def test_upload_into_a_field_and_by_way_of_a_button(visitor: Visitor, tmp_path: Path):
    file = tmp_path / "photo.png"
    file.write_bytes(b"png")
    await visitor.visit(
        """<input type=file aria-label=Photo><input id=f type=file hidden onchange="b.textContent = f.files[0].name">
        <button id=b onclick="f.click()">Choose</button><button>Other</button>"""
    )
    ok(await visitor.on("Photo", "upload", path=str(file)))
    assert await visitor.state("Photo", "value") == "photo.png"
    ok(await visitor.on("Choose", "upload", path=str(file)))
    assert await visitor.labels("button") == ["photo.png", "Other"]
    assert (await visitor.on("Photo", "upload", path=str(tmp_path / "none"))).reason == "no_such_file"


async def test_only_a_file_that_somebody_named_is_uploaded(
    visitor: Visitor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "key").write_text("secret")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "me.png").write_bytes(b"png")
    await visitor.visit("<input type=file aria-label=Photo>")
    assert isinstance(visitor.world, Browser)

    async def upload(path: str, *, uploads: str | None = None, named: bool = False) -> str:
        monkeypatch.setattr(visitor.world, "_options", replace(visitor.world._options, uploads=uploads))
        call = visitor.call("upload", await visitor.zone("Photo"), path=path)
        outcome = await visitor.world.act(call if named else replace(call, named_files=()))
        assert outcome.status == "ok" or "--file" in outcome.detail or "may be uploaded" in outcome.detail
        return outcome.reason or str(await visitor.state("Photo", "value"))

    assert await upload(str(tmp_path / "key")) == "not_allowed"
    assert await upload(str(tmp_path / "none")) == "not_allowed"  # not even whether it exists
    folder = str(tmp_path / "photos")
    for outside in ("../key", str(tmp_path / "key")):
        assert await upload(outside, uploads=folder, named=True) == "not_allowed"
    assert await upload("me.png", uploads="", named=True) == "not_allowed"
    assert await visitor.state("Photo", "value") is None
    assert await upload("me.png", uploads=folder) == "me.png"
    assert await upload(str(tmp_path / "key"), named=True) == "key"


# --- the mouse elsewhere


async def test_hover_shows_a_menu(visitor: Visitor):
    await visitor.visit(
        "<style>#m { display: none } #t:hover #m { display: block }</style><div id=t>Menu<div id=m><button>Item</button></div></div>"
    )
    assert "Item" not in await visitor.labels()
    ok(await visitor.on("Menu", "hover"))
    assert "Item" in await visitor.labels()


async def test_scroll_the_page_and_a_container_in_it(visitor: Visitor):
    await visitor.visit(
        """<div style='height: 100px; overflow: auto'><p>Top</p><div style='height: 900px'></div><p>Deep</p></div>
        <div style='height: 3000px'></div><p>End</p>"""
    )
    page = (await visitor.see()).zones[0]
    assert await visitor.state("End", "seen") is False
    ok(await visitor.do("scroll", page, amount=9))
    assert await visitor.state("End", "seen") is None
    end = await visitor.do("scroll", page, direction="down")
    assert (end.status, end.reason) == ("no_effect", "not_needed")  # the end of a page is no passing trouble
    ok(await visitor.do("scroll", page, direction="up", amount=9))
    before = (await visitor.zone("Deep")).bounds
    ok(await visitor.on("Top", "scroll", amount=2))
    assert (await visitor.zone("Deep")).bounds != before
    ok(await visitor.on("Top", "scroll", amount=99))
    assert (await visitor.on("Top", "scroll", direction="right")).reason == "not_needed"


async def test_scroll_of_a_drawing_that_shows_all_of_itself_is_not_needed(visitor: Visitor):
    await visitor.visit("<canvas aria-label=Berths tabindex=0 width=90 height=40></canvas>")
    end = await visitor.on("Berths", "scroll", direction="down")
    assert (end.status, end.reason, end.detail) == (
        "no_effect",
        "not_needed",
        "there is nothing further in that direction",
    )


async def test_scroll_a_page_filled_by_a_scrolling_container(visitor: Visitor):
    await visitor.visit(
        """<html><style>html, body { margin: 0; overflow: hidden } main { height: 100vh; overflow: auto }</style>
        <main><p>Top</p><div style='height: 3000px'></div><p>End</p></main>"""
    )
    page = (await visitor.see()).zones[0]
    ok(await visitor.do("scroll", page, amount=9))
    assert await visitor.state("End", "seen") is None
    assert (await visitor.do("scroll", page)).status == "no_effect"


async def test_drag_onto_another_and_by_pixels(visitor: Visitor):
    await visitor.visit(
        f"""{SAYS}<div id=a draggable=true style='width: 90px'>Card</div><div id=b style='height: 60px'>Pile</div>
        <input aria-label=Volume type=range value=0 style='width: 200px'><script>
        a.ondragstart = (e) => e.dataTransfer.setData('text', 'card')
        b.ondragover = (e) => e.preventDefault()
        b.ondrop = (e) => {{ e.preventDefault(); say('dropped ' + e.dataTransfer.getData('text')) }}</script>"""
    )
    ok(await visitor.on("Card", "drag", to=(await visitor.zone("Pile")).id))
    assert await read_log(visitor) == "dropped card"
    ok(await visitor.on("Volume", "drag", right=60))
    assert int(str(await visitor.state("Volume", "value"))) > 50
    assert (await visitor.on("Card", "drag", to="e99999")).reason == "target_not_visible"


async def test_drag_to_where_the_page_has_to_be_scrolled(visitor: Visitor):
    await visitor.visit(
        f"""{SAYS}<div id=a draggable=true>Card</div><div style='height: 3000px'></div><div id=b style='height: 60px'>Pile</div>
        <button id=off disabled>Closed</button><script>
        a.onmousedown = () => say('touched')
        b.ondragover = (e) => e.preventDefault()
        b.ondrop = (e) => {{ e.preventDefault(); say('dropped') }}</script>"""
    )
    assert (await visitor.on("Card", "drag", to=(await visitor.zone("Closed")).id)).reason == "disabled"
    assert await read_log(visitor) == "-"
    ok(await visitor.on("Card", "drag", to=(await visitor.zone("Pile")).id))
    assert await read_log(visitor) == "dropped"


# --- reading


async def test_wait_for_text_that_appears_late(visitor: Visitor):
    await visitor.visit("<script>setTimeout(() => { document.body.innerHTML = '<p>Here it is</p>' }, 400)</script>")
    ok(await visitor.do("wait_for", text="it is", seconds=5))
    assert (await visitor.do("wait_for", text="never", seconds=0.1)).reason == "not_seen"


async def test_extract_into_the_output(visitor: Visitor):
    await visitor.visit(
        "<p id=t>Total: $1,234.50</p><p>3 items</p><input aria-label=Mail value=ada@example.org><p>no number</p>"
    )
    total = next(zone for zone in (await visitor.see()).zones if zone.label.startswith("Total"))
    assert (await visitor.do("extract", total, name="total", kind="number")).data == (("total", 1234.5),)
    assert (await visitor.on("3 items", "extract", name="items", kind="integer")).data == (("items", 3),)
    assert (await visitor.on("Mail", "extract", name="mail")).data == (("mail", "ada@example.org"),)
    assert (await visitor.on("no number", "extract", name="n", kind="number")).reason == "unreadable"


async def test_document_without_anything_in_it_does_not_scroll(visitor: Visitor):
    await visitor.visit("<p>Here</p>")
    await page_of(visitor).evaluate("document.documentElement.remove()")
    page = Zone(id="page", role="page", label="")
    assert (await visitor.world.act(visitor.call("scroll", page))).status == "no_effect"


REWRITES = "const it = this, text = it.value; it.type = 'text'; it.value = text; it.setSelectionRange(0, 0); it.type = 'number'"


@pytest.mark.parametrize(
    ("handler", "value", "reason"),
    [(REWRITES, "64.80", ""), ("if (this.value > 50) this.value = 50", "50", "text_differs"), ("", "64.80", "")],
    ids=["written anew after each key", "limited", "plain"],
)
async def test_a_number_is_the_one_that_was_typed_or_the_step_fails(
    visitor: Visitor, handler: str, value: str, reason: str
):
    await visitor.visit(f'<label>Amount <input type=number step=any value=0 oninput="{handler}"></label>')
    outcome = await visitor.on("Amount", "type", text="64.80")
    assert (await visitor.zone("Amount")).get("value") == value
    assert outcome.reason == reason
