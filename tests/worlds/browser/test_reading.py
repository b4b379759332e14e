"""Reading text of any length, tables and downloads, and adding to a field that holds text."""

import pytest

from midcourse.domain.observation import Zone
from tests.worlds.browser.visitor import Visitor, ok

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]

NOTE = "\n".join(f"Line {number} of what the last shift wrote down." for number in range(27))

ROWS = "name,<html>\nAda,7\nBob,9\n"


async def read(visitor: Visitor, zone: Zone | None = None) -> str:
    page = next(each for each in (await visitor.see()).zones if each.id == "page")
    return str(dict((await visitor.do("read", zone or page)).data)["text"])


async def test_a_long_paragraph_is_read_to_its_end(visitor: Visitor):
    said = " ".join(f"Clause {number} says nothing." for number in range(70)) + " Objections within 21 days."
    await visitor.visit(f"<p>{said}</p>")
    [text] = [zone for zone in (await visitor.see()).zones if zone.role == "text"]
    assert await read(visitor, text) == text.label == said


async def test_a_page_of_megabytes_is_cut_where_it_says_so(visitor: Visitor):
    await visitor.visit("<p id=p></p><script>p.textContent = 'word '.repeat(600000)</script>")
    text = await read(visitor)
    assert len(text) < 200_000
    assert text.endswith("… cut here: 199900 characters of 2999999 characters")


@pytest.mark.parametrize(
    "table",
    [
        "<table><tr><th>Day</th><th>Who</th></tr><tr><td><p>Mon</p><p>day</p></td><td><div>Ada</div></td></tr></table>",
        """<div role=table><div role=row><div role=columnheader>Day</div><div role=columnheader>Who</div></div>
        <div role=row><div role=cell>Mon<br>day</div><div role=cell>Ada</div></div></div>""",
    ],
    ids=["table", "drawn"],
)
async def test_a_row_of_a_table_is_a_line_with_its_cells_behind_tabs(visitor: Visitor, table: str):
    await visitor.visit(f"<p>Before</p>{table}<p>After</p>")
    lines = [line for line in (await read(visitor)).split("\n") if line]
    assert lines == ["Before", "Day\tWho", "Mon day\tAda", "After"]


async def download(visitor: Visitor, name: str, kind: str, text: str) -> Zone:
    there = visitor.pages.show(f"/{name}", text, content_type=kind, content_disposition=f"attachment; filename={name}")
    await visitor.visit(f"<a href='{there}'>Get</a>")
    ok(await visitor.on("Get", "click"))
    return [zone for zone in (await visitor.see()).zones if zone.role == "download"][-1]


async def test_a_downloaded_table_is_read_as_it_is(visitor: Visitor):
    file = await download(visitor, "rows.csv", "text/csv", ROWS)
    assert (await visitor.do("read", file)).data == (("text", ROWS),)


async def test_only_a_download_is_read_from_the_disk(visitor: Visitor):
    await visitor.visit("<button value='/etc/hostname'>Report</button>")
    assert (await visitor.on("Report", "read")).data == (("text", "Report"),)


# --- adding to a field


FIELDS = {
    "textarea": f"<textarea aria-label=Note>{NOTE}</textarea>",
    "editor": f"<div contenteditable role=textbox aria-label=Note style='white-space: pre-wrap'>{NOTE}</div>",
}


@pytest.mark.parametrize("kind", FIELDS)
async def test_text_is_added_at_the_end_or_after_a_part(visitor: Visitor, kind: str):
    await visitor.visit(FIELDS[kind])
    ok(await visitor.on("Note", "append", text="\nThe pump 🔧 is repaired."))
    ok(await visitor.on("Note", "append", text=" (twice)", after="Line 3 of what"))
    note = await read(visitor, await visitor.zone("Note"))
    said = f"{NOTE}\nThe pump 🔧 is repaired.".replace("Line 3 of what", "Line 3 of what (twice)")
    assert note.split() == said.split()
    assert "multiline" in dict((await visitor.zone("Note")).state)


@pytest.mark.parametrize(
    ("field", "after", "reason"),
    [
        (f"<textarea aria-label=Note>{NOTE}</textarea>", "of what the", "wrong_place"),
        (f"<textarea aria-label=Note>{NOTE}</textarea>", "nowhere", "wrong_place"),
        ("<input type=email aria-label=Note value='ada@x.example'>", "", "wrong_target"),
        ("<textarea aria-label=Note maxlength=9>12345678</textarea>", "", "text_differs"),
        ("<textarea aria-label=Note oninput='value = \"12\"'>12345678</textarea>", "", "text_differs"),
        ("<textarea aria-label=Note readonly>12345678</textarea>", "", "disabled"),
    ],
)
async def test_text_that_cannot_be_added_is_reported(visitor: Visitor, field: str, after: str, reason: str):
    await visitor.visit(field)
    outcome = await visitor.on("Note", "append", text="90", after=after)
    assert (outcome.status, outcome.reason) == ("failed", reason)
