"""Hints for controls without a name, and marks for what the page shows as selected: states, never names."""

import pytest

from midcourse.domain.observation import Viewer
from tests.worlds.browser.visitor import Visitor, page_of

pytestmark = [pytest.mark.slow, pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ("<button><i class='fa fa-fw fa-trash'></i></button>", "trash"),
        ("<button class='btn btn-icon'><i class='bi bi-pencil'></i></button>", "pencil"),
        ("<button><svg><use href='#icon-archive'></use></svg></button>", "archive"),
        ("<button><svg data-testid=ReplyIcon><path d='M1 1h3'/></svg></button>", "Reply"),
        ("<button><i data-icon=more_vert></i></button>", "more_vert"),
        ("<button><img src='/static/spam-report.png?v=3' width=9 height=9></button>", "spam-report"),
        ("<button data-tooltip='Refresh all'></button>", "Refresh all"),
        ("<button data-testid=DeleteForeverOutlinedIcon></button>", "DeleteForeverOutlined"),
        ("<button data-testid=4rJtHOKafVsATsVifi7oZ></button>", None),
        ("<button data-testid=sUx640zLewkpD81_qcnlm></button>", None),
        ("<button id=compose-button></button>", "compose-button"),
        ("<button id=rcmbtn107></button>", None),
        ("<button><img src='data:image/png;base64,AAAA' width=9 height=9></button>", None),
        ("<div><div>Role name</div><div><input></div></div>", "Role name"),
        ("<div><label>Role name <input></label></div>", None),
        ("<button title=Save><i class='fa fa-disk'></i></button>", None),
        (f"<button data-tooltip='{'x' * 500}'></button>", "x" * 39 + "…"),
    ],
)
async def test_a_control_without_a_name_has_a_hint(visitor: Visitor, body: str, hint: str | None):
    await visitor.visit(f"<style>button{{width:20px;height:20px}}</style><main>{body}</main>")
    control = next(zone for zone in (await visitor.see()).zones if zone.role in ("button", "textbox"))
    assert control.get("hint") == hint
    assert not (control.label and hint)


@pytest.mark.parametrize(
    ("body", "marked"),
    [
        ("<ul><li class=active><a href=a>A</a> <a href=b>B</a></li><li><a href=c>C</a></li></ul>", {"A": "active"}),
        (
            "<table><tr><td class='todaysDay ui-selected'><a href=a>19</a><td class=day><a href=b>20</a></table>",
            {"19": "today selected"},
        ),
        ("<table><tr><td class='is-today'>19<td>20</table>", {"19": "today"}),
        ("<a class=inactive href=a>A</a><a class=not-selected href=b>B</a><a class=activity href=c>C</a>", {}),
        ("<a class=active aria-current=page href=a>A</a>", {}),
    ],
)
async def test_what_a_class_calls_selected_is_marked(visitor: Visitor, body: str, marked: dict[str, str]):
    await visitor.visit(body)
    assert {zone.label: zone.get("marked") for zone in (await visitor.see()).zones if zone.get("marked")} == marked


async def test_a_sorted_column_and_a_selected_cell_say_so(visitor: Visitor):
    await visitor.visit(
        """<table><tr><th aria-sort=descending><a href=a>Price</a><th aria-sort=none>Name
        <tr role=row><td role=gridcell aria-selected=true>19<td>Lamp</table>"""
    )
    found = {zone.label: dict(zone.state) for zone in (await visitor.see()).zones}
    assert found["Price"]["sort"] == "descending"
    assert "sort" not in found["Name"]
    assert found["19"]["selected"] is True


async def test_neither_hints_nor_marks_make_it_another_page(visitor: Visitor):
    await visitor.visit(
        "<button style='width:9px;height:9px'><i class='fa fa-trash'></i></button><ul><li><a href=a>A</a></ul>"
    )
    before = await visitor.see()
    await page_of(visitor).evaluate(
        "document.querySelector('i').className = 'fa fa-undo'; document.querySelector('li').className = 'today'"
    )
    after = await visitor.see()
    assert after.zones != before.zones
    assert after.fingerprint == before.fingerprint


async def test_an_observation_says_whom_the_page_takes_its_user_to_be(visitor: Visitor):
    await visitor.visit(
        "<script>Intl.DateTimeFormat = () => ({ resolvedOptions: () => ({ timeZone: 'Nowhere/Fake' }) })</script><p>x</p>"
    )
    seen = await visitor.see()
    assert isinstance(seen.viewer, Viewer)
    assert seen.viewer.size == (1280, 800)
    assert seen.viewer.locale
    assert seen.viewer.time_zone not in ("", "Nowhere/Fake")
