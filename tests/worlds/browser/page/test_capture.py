"""Zones of a page: roles, names, states and boxes, in frames and shadow roots, in document order."""

import pytest

from midcourse.worlds.browser.page.capture import Capture
from tests.worlds.browser.visitor import Visitor, ok, page_of, tabs_of

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


async def seen(visitor: Visitor, body: str) -> list[tuple[str, str]]:
    await visitor.visit(body)
    return [(zone.role, zone.label) for zone in (await visitor.see()).zones[1:]]


async def test_zones_are_in_the_order_of_the_document_and_the_page_is_the_first(visitor: Visitor):
    path = await visitor.visit(
        "<h1>Shop</h1><p>One <b>two</b> <a href=/x>three</a>.</p><button>Four</button>", title="Hi"
    )
    look = await visitor.see()
    assert [(zone.role, zone.label) for zone in look.zones] == [
        ("page", "Hi"),
        ("heading", "Shop"),
        ("text", "One two three."),
        ("link", "three"),
        ("button", "Four"),
    ]
    assert look.zones[0].id == "page"
    assert dict(look.zones[0].state) == {"status": 200, "tabs": 1}
    assert look.surface.address == visitor.pages.url + path
    assert look.surface.origin == visitor.pages.url
    assert (await visitor.zone("three")).get("href") == visitor.pages.url + "/x"


async def test_status_of_the_document_is_on_the_page(visitor: Visitor):
    await visitor.visit("<p>Sorry</p>", status=503)
    assert (await visitor.see()).zones[0].get("status") == 503


@pytest.mark.parametrize(
    ("body", "zone"),
    [
        ("<label for=a>Name</label><input id=a>", ("textbox", "Name")),
        ("<label>Name <input></label>", ("textbox", "Name")),
        ("<label for=a>Name</label><input id=a><label for=a>in full</label>", ("textbox", "Name in full")),
        ("<p id=n hidden><b>Full</b> name</p><input aria-labelledby=n>", ("textbox", "Full name")),
        ("<input aria-label=Name type=email>", ("textbox", "Name")),
        ("<b id=n>Name</b><textarea aria-labelledby=n></textarea>", ("textbox", "Name")),
        ("<input placeholder=Name type=search>", ("searchbox", "Name")),
        ("<input title=Name type=number>", ("spinbutton", "Name")),
        ("<input name=amount type=range>", ("slider", "amount")),
        ("<div contenteditable aria-label=Notes></div>", ("textbox", "Notes")),
        ("<input type=submit>", ("button", "Submit")),
        ("<input type=button value=Go>", ("button", "Go")),
        ("<button><img alt=Search src=x></button>", ("button", "Search")),
        ("<button><svg width=9 height=9><title>Close</title></svg></button>", ("button", "Close")),
        ("<button>Buy <span hidden>not</span> now</button>", ("button", "Buy now")),
        ("<div role=button>Press</div>", ("button", "Press")),
        ("<form onclick='1' title=Find><input name=title><input name=name></form>", ("clickable", "Find")),
        ("<form onclick='1'><input name=title><input name=name></form>", ("textbox", "title")),
        ("<svg><a href='/x'><text y=20>Chart</text></a></svg>", ("link", "Chart")),
        ("<span role=switch aria-checked=true>Wifi</span>", ("switch", "Wifi")),
        ("<div role=tab aria-selected=true>First</div>", ("tab", "First")),
        ("<details><summary>More</summary>text</details>", ("button", "More")),
        ("<input type=file aria-label=Photo>", ("file", "Photo")),
        ("<img alt=Logo src=x width=9 height=9>", ("img", "Logo")),
        ("<output>12 kg</output>", ("status", "12 kg")),
        ("<div role=alert>No stock</div>", ("alert", "No stock")),
        ("<table><tr><td>7</td></tr></table>", ("cell", "7")),
        ("<div tabindex=0>Card</div>", ("clickable", "Card")),
        ("<div onclick='1'>Card</div>", ("clickable", "Card")),
        ("<div style='cursor: pointer'>Card</div>", ("clickable", "Card")),
        ("<div draggable=true>Card</div>", ("clickable", "Card")),
        ("<div id=x>Card</div><script>x.addEventListener('click', () => 1)</script>", ("clickable", "Card")),
        ("<div id=x>Card</div><script>x.onclick = () => 1</script>", ("clickable", "Card")),
        (
            "<svg><circle id=x r=9 cx=9 cy=9><title>Dot</title></circle></svg><script>x.onmousedown = () => 1</script>",
            ("clickable", "Dot"),
        ),
    ],
)
async def test_elements_have_their_role_and_accessible_name(visitor: Visitor, body: str, zone: tuple[str, str]):
    assert zone in await seen(visitor, body)


@pytest.mark.parametrize(
    "body",
    [
        "<button hidden>No</button>",
        "<button style='visibility: hidden'>No</button>",
        "<div style='display: none'><button>No</button></div>",
        "<a href=/ style='position: absolute; left: -9999px'>No</a>",
        "<input type=hidden name=No>",
        "<script>'No'</script><style>No{}</style><noscript>No</noscript>",
        "<button style='width: 0; height: 0; padding: 0; border: 0; overflow: hidden'>No</button>",
    ],
)
async def test_invisible_elements_are_not_captured(visitor: Visitor, body: str):
    assert await seen(visitor, body) == []


async def test_the_label_of_a_field_that_is_hidden_is_read(visitor: Visitor):
    """As where a custom list replaces the list of the browser."""
    body = "<label for=s>Size</label><select id=s style='display: none'><option>S</select><div tabindex=0>S</div>"
    assert await seen(visitor, body) == [("text", "Size"), ("clickable", "S")]


CELLS = "".join(f"<td style='min-width: 300px'>{i}" for i in range(9))
MESSAGES = "".join(f"<p style='flex: none; height: 200px'>{i}</p>" for i in range(9))
BEHIND = {
    "a table from right to left": f"<div dir=rtl style='width: 500px; overflow: auto'><table><tr>{CELLS}</table></div>",
    "a page from right to left": f"<html dir=rtl><title>Page</title><table><tr>{CELLS}</table></html>",
    "messages with the last one in view": f"<div style='display: flex; flex-direction: column-reverse; height: 300px; overflow: auto'>{MESSAGES}</div>",
    "what scrolls in a shadow root": f"""<x-list>{MESSAGES}</x-list><script>const root = document.querySelector('x-list').attachShadow({{mode: 'open'}})
        root.innerHTML = '<div style="height: 300px; overflow: auto"><slot></slot></div>'; root.firstChild.scrollTop = 9999</script>""",
}


@pytest.mark.parametrize("where", BEHIND)
async def test_elements_that_scrolling_brings_back_are_captured(visitor: Visitor, where: str):
    await visitor.visit(BEHIND[where])
    assert await visitor.labels() == ["Page", *map(str, range(9))]
    for label in ("0", "8"):
        ok(await visitor.on(label, "click"))


async def test_element_that_listens_for_its_children_is_not_clickable(visitor: Visitor):
    body = "<div id=x><p>Text</p><button>Go</button></div><script>x.addEventListener('click', () => 1)</script>"
    assert await seen(visitor, body) == [("text", "Text"), ("button", "Go")]


async def test_element_that_comes_into_the_page_after_it_began_to_listen(visitor: Visitor):
    body = """<script>const x = document.createElement('div'); x.textContent = 'Late'; x.addEventListener('click', () => 1)
        setTimeout(() => document.body.append(x), 5)</script>"""
    assert await seen(visitor, body) == [("clickable", "Late")]


async def test_listener_on_a_page_rewritten_with_document_open_is_found(visitor: Visitor):
    await visitor.visit(
        """<script>onload = () => { document.open(); document.write('<p id=x>Card</p>'); document.close()
        document.querySelector('p').addEventListener('click', () => 1) }</script>"""
    )
    assert await visitor.labels("clickable") == ["Card"]


async def test_elements_have_their_states(visitor: Visitor):
    await visitor.visit(
        """<form><fieldset><legend>Who</legend>
        <input aria-label=Name value=Ada required><input aria-label=Key type=password value=abc>
        <input aria-label=Day type=date value=2026-05-01><input aria-label=Old value=x readonly></fieldset>
        <select aria-label=Size><option>S<option selected>M</select>
        <select aria-label=Tags multiple><option selected>a<option selected>b<option>c</select>
        <label><input type=checkbox checked> Agree</label><button disabled>Send</button></form>
        <button aria-pressed=true>Bold</button><button aria-expanded=false>Menu</button>
        <div style='height: 3000px'></div><button>Below</button>"""
    )
    states = {zone.label: dict(zone.state) for zone in (await visitor.see()).zones}
    assert states["Name"] == {"value": "Ada", "required": True, "within": "Who"}
    assert states["Key"] == {"value": "•••", "type": "password", "within": "Who"}
    assert states["Day"] == {"value": "2026-05-01", "type": "date", "within": "Who"}
    assert states["Old"] == {"value": "x", "readonly": True, "within": "Who"}
    assert states["Size"] == {"value": "M", "options": "S | M"}
    assert states["Tags"] == {"value": "a | b", "options": "a | b | c"}
    assert states["Agree"] == {"checked": True}
    assert states["Send"] == {"disabled": True}
    assert states["Bold"] == {"checked": True}
    assert states["Menu"] == {"expanded": False}
    assert states["Below"] == {"seen": False}


async def test_elements_in_a_disabled_group_are_disabled(visitor: Visitor):
    """Elements in its legend stay enabled: often there is the checkbox that enables the group."""
    await visitor.visit(
        """<fieldset disabled><legend><label><input type=checkbox> Elsewhere</label></legend><input aria-label=Street></fieldset>
        <div role=group aria-disabled=true><button>Send</button></div>"""
    )
    disabled = {zone.label: zone.get("disabled") for zone in (await visitor.see()).zones}
    assert disabled == {"Page": None, "Elsewhere": None, "Street": True, "Send": True}
    ok(await visitor.on("Elsewhere", "check"))
    assert (await visitor.on("Send", "click")).reason == "disabled"


async def test_custom_list_has_its_selection_as_value(visitor: Visitor):
    await visitor.visit(
        """<button role=combobox aria-label=Size><span>Medium</span> ▾</button>
        <div role=combobox aria-label=City><input aria-label=Search><div role=listbox><div role=option>Paris</div></div></div>"""
    )
    assert (await visitor.state("Size", "value"), await visitor.state("City", "value")) == ("Medium ▾", None)


@pytest.mark.parametrize(
    "body",
    [
        "<input aria-label=Mail aria-invalid=true aria-describedby=m><p id=m>Not an address</p>",
        "<input aria-label=Mail aria-invalid=true aria-errormessage=m><p id=m>Not an address</p>",
        "<div><input aria-label=Mail><span class=error>Not an address</span></div>",
        "<div><ul class=errorlist><li>Not an address</ul><input aria-label=Mail></div>",
        "<div><div><input aria-label=Mail></div><div class=invalid-feedback>Not an address</div></div>",
        "<div><input aria-label=Mail><div role=alert>Not an address</div></div>",
    ],
)
async def test_the_message_of_an_invalid_field_is_its_error(visitor: Visitor, body: str):
    await visitor.visit(body)
    field = await visitor.zone("Mail")
    assert field.get("invalid") is True
    assert field.get("error") == "Not an address"


async def test_description_of_a_field_is_not_an_error(visitor: Visitor):
    await visitor.visit(
        "<input aria-label=Mail aria-describedby=m><p id=m>We never show it</p><p class=error hidden>x</p>"
    )
    field = await visitor.zone("Mail")
    assert (field.get("invalid"), field.get("error")) == (None, None)


async def test_validation_message_of_the_browser_is_the_error(visitor: Visitor):
    await visitor.visit("<form><input aria-label=Mail type=email required><button>Send</button></form>")
    ok(await visitor.on("Mail", "type", text="nonsense"))
    ok(await visitor.on("Send", "click"))
    field = await visitor.zone("Mail")
    assert field.get("invalid") is True
    assert "@" in str(field.get("error"))


async def test_rows_and_dialogs_tell_twins_apart(visitor: Visitor):
    await visitor.visit(
        """<table><tr><th>Name<th>Do<tr><td><input type=checkbox aria-label=Pick><td>Ada<td><button>Delete</button>
        <tr><th>Bob<td><button>Delete</button></table>
        <div role=dialog aria-label=Sure?><button>Delete</button></div>"""
    )
    look = await visitor.see()
    assert [zone.get("within") for zone in look.zones if zone.label == "Delete"] == ["Ada", "Bob", "Sure?"]
    assert ("dialog", "Sure?") in [(zone.role, zone.label) for zone in look.zones]


PLACES = [
    ("Name", 0, 0),
    ("Do", 0, 2),
    ("Pick", 1, 0),
    ("Ada", 1, 1),
    ("Delete", 1, 2),
    ("Bob", 2, 0),
    ("Edit", 2, 2),
]


@pytest.mark.parametrize(
    "body",
    [
        """<table><thead><tr><th colspan=2>Name<th>Do</thead><tr><td><input type=checkbox aria-label=Pick><td>Ada<td>
        <button>Delete</button><tr><th colspan=2>Bob<td><a href=x>Edit</a></table>""",
        """<div role=grid><div role=row><span role=columnheader aria-colspan=2>Name</span><span role=columnheader>Do</span></div>
        <div role=row><div role=gridcell><input type=checkbox aria-label=Pick></div><div role=gridcell>Ada</div>
        <div role=gridcell><button>Delete</button></div></div>
        <div role=row><div role=rowheader aria-colspan=2>Bob</div><div role=gridcell><a href=x>Edit</a></div></div></div>""",
    ],
)
async def test_zones_of_a_table_know_their_row_and_column(visitor: Visitor, body: str):
    await visitor.visit(f"<p>Before</p>{body}<p>After</p>")
    found = [(zone.label, zone.cell) for zone in (await visitor.see()).zones]
    assert [*dict.fromkeys((label, *cell[1:]) for label, cell in found if cell)] == PLACES
    assert len({cell[0] for _, cell in found if cell}) == 1


@pytest.mark.parametrize("span", ["Infinity", "-3", "1e99", "x", "2.5"])
async def test_no_span_that_a_page_gives_breaks_the_capture(visitor: Visitor, span: str):
    cell = f"<div role=cell aria-colspan={span}>A</div><div role=cell>B</div>"
    await visitor.visit(f"<div role=table><div role=row>{cell}</div></div>")
    assert [zone.label for zone in (await visitor.see()).zones if zone.cell] == ["A", "B"]


async def test_a_layout_that_says_so_is_no_table_and_a_table_in_a_table_is_its_own(visitor: Visitor):
    inner = "<table><tr><td>In</table>"
    await visitor.visit(f"<table role=presentation><tr><td>Out</table><table><tr><td>{inner}<td>Beside</table>")
    cells = {zone.label: zone.cell for zone in (await visitor.see()).zones}
    assert cells["Out"] is None
    assert cells["In"]
    assert cells["Beside"]
    assert cells["In"][0] != cells["Beside"][0]


async def test_behind_a_modal_dialog_nothing_can_be_done(visitor: Visitor):
    await visitor.visit(
        "<button>Behind</button><dialog id=d aria-label=Top><button>In it</button></dialog><script>d.showModal()</script>"
    )
    assert await visitor.state("Behind", "disabled") is True
    assert await visitor.state("In it", "disabled") is None


async def test_last_opened_modal_dialog_counts(visitor: Visitor):
    await visitor.visit(
        """<dialog id=sure aria-label=Sure><button>Yes</button></dialog>
        <dialog id=edit aria-label=Edit><button>Save</button></dialog><script>edit.showModal(); sure.showModal()</script>"""
    )
    assert (await visitor.state("Yes", "disabled"), await visitor.state("Save", "disabled")) == (None, True)
    ok(await visitor.on("Yes", "click"))


async def test_elements_of_open_shadow_roots_are_captured_in_order(visitor: Visitor):
    await visitor.visit(
        """<my-card><b>Slotted</b></my-card><script>
        document.querySelector('my-card').attachShadow({mode: 'open'}).innerHTML = '<h2>Card</h2><slot></slot><button>Inside</button>'
        document.querySelector('my-card').shadowRoot.querySelector('button').onclick = (e) => { e.target.textContent = 'Hit' }
        </script>"""
    )
    assert await visitor.labels() == ["Page", "Card", "Slotted", "Inside"]
    ok(await visitor.on("Inside", "click"))
    assert "Hit" in await visitor.labels()


async def test_elements_of_nested_frames_are_captured_and_clicked(visitor: Visitor):
    inner = visitor.pages.show("/innermost", "<button onclick=\"this.textContent='Hit'\">Innermost</button>")
    outer = visitor.pages.show("/inner", f"<p>Inner</p><iframe style='margin-top: 40px' src='{inner}'></iframe>")
    await visitor.visit(
        f"<p>Before</p><iframe style='margin: 30px; border: 5px solid' height=300 src='{outer}'></iframe><p>After</p>"
    )
    ok(await visitor.do("wait_for", text="Innermost"))
    assert await visitor.labels() == ["Page", "Before", "Inner", "Innermost", "After"]
    button = await visitor.zone("Innermost")
    assert button.id.startswith("f")
    assert button.bounds is not None
    assert button.bounds[0] > 35
    assert button.bounds[1] > 75
    ok(await visitor.do("click", button))
    assert "Hit" in await visitor.labels()


@pytest.mark.parametrize(
    "style", ["visibility: hidden", "width: 0; height: 0; border: 0", "position: absolute; left: -9999px"]
)
async def test_elements_of_an_invisible_frame_are_not_captured(visitor: Visitor, style: str):
    await visitor.visit(f"<iframe style='{style}' srcdoc='<p>No</p>'></iframe><iframe srcdoc='<p>Yes</p>'></iframe>")
    ok(await visitor.do("wait_for", text="Yes"))
    assert await visitor.labels() == ["Page", "Yes"]


@pytest.mark.parametrize("around", ["overflow: visible", "height: 400px; overflow: auto"])
async def test_elements_at_the_end_of_a_long_frame_are_clicked(visitor: Visitor, around: str):
    inner = visitor.pages.show(
        "/long", "<div style='height: 2800px'></div><button onclick=\"this.textContent='Hit'\">End</button>"
    )
    await visitor.visit(f"<div style='{around}'><iframe src='{inner}' height=3000></iframe></div>")
    ok(await visitor.on("End", "click"))
    assert await visitor.labels() == ["Page", "Hit"]


async def test_bounds_in_a_scaled_frame_are_those_on_the_screen(visitor: Visitor):
    button = "<button style='margin: 200px; width: 80px' onclick=\"this.textContent='Hit'\">Go</button>"
    inner = visitor.pages.show("/small", f"<body style='margin: 0'>{button}")
    style = "transform: scale(.5); transform-origin: 0 0; position: absolute; left: 0; top: 0; border: 0"
    await visitor.visit(f"<iframe src='{inner}' width=600 height=600 style='{style}'></iframe>")
    zone = await visitor.zone("Go")
    assert zone.bounds is not None
    assert (zone.bounds[0], zone.bounds[2]) == (100, 40)
    ok(await visitor.do("click", zone))
    assert await visitor.labels() == ["Page", "Hit"]


async def test_ids_stay_while_the_element_does_and_are_never_given_twice(visitor: Visitor):
    await visitor.visit(
        "<button onclick=\"document.body.prepend(document.createElement('hr')); this.textContent='Two'\">One</button>"
    )
    before = await visitor.zone("One")
    ok(await visitor.do("click", before))
    assert (await visitor.zone("Two")).id == before.id
    await visitor.visit("<button>Three</button>")
    assert (await visitor.zone("Three")).id != before.id
    gone = await visitor.do("click", before)
    assert (gone.status, gone.reason) == ("no_effect", "target_not_visible")


async def test_page_cannot_change_the_capture_by_patching_built_ins(visitor: Visitor):
    """Our scripts run in an isolated world, which the page cannot change."""
    await visitor.visit(
        """<button>Real</button><script>
        JSON.stringify = () => '{"title": "Lie", "next": 1, "changes": 0, "zones": []}'
        Element.prototype.getBoundingClientRect = () => { throw new Error('no') }
        Array.prototype.toJSON = () => 'lie'
        globalThis.midcourse = { look: () => 'lie' }
        </script>"""
    )
    assert await visitor.labels() == ["Page", "Real"]


async def test_long_text_is_cut_in_the_zone_and_read_whole(visitor: Visitor):
    await visitor.visit(f"<p>{'word ' * 3000}end</p>")
    zone = (await visitor.see()).zones[1]
    assert len(zone.label) == 10_000
    outcome = await visitor.do("read", zone)
    assert dict(outcome.data)["text"] == "word " * 3000 + "end"


async def test_half_a_surrogate_pair_does_not_break_the_capture(visitor: Visitor):
    """The page cut one in two, and so does a label that is cut where it becomes too long."""
    await visitor.visit(
        f"<p id=x></p><button>{'a' * 198}😀 more</button><script>x.textContent = 'Nice 😀'.slice(0, 6)</script>"
    )
    assert await visitor.labels() == ["Page", "Nice ?", f"{'a' * 198}?…"]
    assert dict((await visitor.on("Nice ?", "read")).data) == {"text": "Nice ?"}


async def test_covered_elements_are_marked(visitor: Visitor):
    await visitor.visit(
        """<button>Behind</button><iframe srcdoc="<button>In frame</button>"></iframe>
        <div style='position: fixed; inset: 0; background: #0008'></div>
        <div role=dialog aria-label=Cookies style='position: fixed; inset: 40% 30%; background: white'><button>Accept</button></div>"""
    )
    ok(await visitor.do("wait_for", text="In frame"))
    covered = {zone.label: zone.get("covered") for zone in (await visitor.see()).zones}
    assert covered == {"Page": None, "Behind": True, "In frame": True, "Cookies": None, "Accept": None}


CUT = "position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip: rect(0, 0, 0, 0); white-space: nowrap"


@pytest.mark.parametrize("around", ["", "<div style='height: 3000px'></div>"], ids=["in view", "below"])
async def test_control_for_screen_readers_is_marked_as_covered_since_it_cannot_be_clicked(
    visitor: Visitor, around: str
):
    await visitor.visit(
        f"""{around}<main><form><input aria-label=Term><div style='{CUT}'><input type=submit value=Search><input aria-label=Hidden></div></form>
        <a href=/x style='{CUT}'>Skip</a><div style='{CUT}'>Results</div><button>Free</button>
        <div style='{CUT}; clip: auto'><button style='position: fixed; left: 300px; top: 5px'>Shown</button></div></main>"""
    )
    zones = [zone for zone in (await visitor.see()).zones if zone.role != "page"]
    covered = {zone.label: zone.get("covered") for zone in zones if zone.label}
    assert {label for label, is_so in covered.items() if is_so} == {"Search", "Skip"}
    assert covered.keys() >= {"Term", "Hidden", "Results", "Free", "Shown"}
    outcome = await visitor.on("Search", "click")
    assert outcome.reason == "covered"


async def test_element_below_the_fold_of_a_dialog_is_not_covered(visitor: Visitor):
    buttons = "".join(f"<button style='display: block; height: 50px'>{i}</button>" for i in range(9))
    await visitor.visit(
        f"""<div role=dialog style='position: fixed; inset: 100px 300px; background: white'>
        <div style='height: 200px; overflow: auto'>{buttons}</div><button style='width: 100%; height: 60px'>Done</button></div>"""
    )
    fourth, fifth = await visitor.zone("3"), await visitor.zone("4")
    assert (fourth.get("covered"), fourth.get("seen")) == (None, None)
    assert (fifth.get("covered"), fifth.get("seen")) == (None, False)


async def test_content_of_closed_details_is_not_captured(visitor: Visitor):
    assert await seen(visitor, "<details>Away<summary>More</summary><p>Hidden</p></details>") == [("button", "More")]
    assert await seen(visitor, "<div hidden=until-found>Away<p>Hidden</p></div>") == []
    assert ("text", "Shown") in await seen(visitor, "<details open><summary>More</summary><p>Shown</p></details>")


async def test_ids_outlive_a_garbage_collection(visitor: Visitor):
    """The page's script makes much of it, so that the browser collects unreferenced objects."""
    buttons = "".join(f"<button>Button {i}</button>" for i in range(300))
    await visitor.visit(f"{buttons}<script>setInterval(() => new Array(20000).fill().map(() => ({{}})), 5)</script>")
    before = {zone.label: zone.id for zone in (await visitor.see()).zones}
    for _ in range(20):
        await visitor.see()
    assert {zone.label: zone.id for zone in (await visitor.see()).zones} == before


MEDDLE = """(seed) => {
  const chance = () => (seed = (seed * 16807) % 2147483647) / 2147483647
  const any = (several) => several[Math.floor(chance() * several.length)]
  const one = () => any([...document.querySelectorAll('main > *')])
  const acts = [
    () => { one().textContent = 'Text ' + seed },
    () => { one().remove() },
    () => { any([one(), document.querySelector('main')]).append(document.createElement('button')) },
    () => { const moved = one(); document.querySelector('main').prepend(moved) },
    () => { one().style.display = any(['none', '', 'block']) },
    () => { one().setAttribute('aria-label', 'Label ' + seed) },
    () => { document.querySelector('input').value = 'Value ' + seed },
    () => { document.querySelector('iframe').style.marginTop = chance() * 50 + 'px' },
    () => { scrollTo(0, chance() * 900) },
  ]
  for (let i = 0; i < 3; i += 1) any(acts)()
}"""


async def test_incremental_capture_equals_a_full_capture(visitor: Visitor):
    """Only changes are transferred again; the result must equal a full capture."""
    things = "".join(f"<button>Button {i}</button><p>Text {i}</p>" for i in range(40))
    await visitor.visit(f"<input aria-label=Field><iframe srcdoc='<p>Frame</p>'></iframe><main>{things}</main>")
    ok(await visitor.do("wait_for", text="Frame"))
    for seed in range(1, 31):
        await visitor.see()
        await page_of(visitor).evaluate(MEDDLE, seed)
        again = await visitor.see()
        full = await Capture().look(tabs_of(visitor))
        assert again.zones == full.zones, seed
        assert again.fingerprint == full.fingerprint, seed
