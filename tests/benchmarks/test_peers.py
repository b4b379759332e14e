"""Midcourse beside other systems: the cells are those that were fixed, adapters are small, and a 504 is repeated by one system and not by ours."""

import json
from pathlib import Path

import pytest

from benchmarks.llm.decisions import Element, Move, Page, decide
from benchmarks.peer_systems import summary
from benchmarks.peer_systems.cells import (
    FROZEN,
    MAGENTIC_FROZEN,
    PRETIX_FROZEN,
    Cell,
    digest_cells,
    list_cells,
    list_magentic_cells,
    list_pretix_cells,
)
from benchmarks.peer_systems.faults import rename_controls
from benchmarks.peer_systems.profiles import Errors
from benchmarks.peer_systems.snapshots import read_snapshot
from benchmarks.peer_systems.with_browser_use.dialect import BrowserUse
from benchmarks.peer_systems.with_magentic.dialect import Magentic
from midcourse.testing.models import ChatRequest
from tests.benchmarks.scripts import ROOT, measure

FOLDER = ROOT / "benchmarks" / "peer_systems"
SYSTEMS = sorted(FOLDER.glob("with_*"))
WAGTAIL_FORM = """\
<browser_state>
<page_stats>10 links, 46 interactive, 0 iframes, 3 shadow(open), 0 shadow(closed), 1 images, 225 total elements</page_stats>
Current tab: 301B
Available tabs:
Tab 301B: http://127.0.0.1:41129/admin/pages/add/articles/article/2/ - 127.0.0.1:41129/admin/pages/ad

Interactive elements:
[Start of page]
	*[6801]<a />
		Title
	*[6758]<a />
		Summary
	*[6817]<h2 id=panel-child-content-title-heading level=2 />
		*[8001]<span />
			Title
		*[8003]<span />
	The page title as you'd like it to be seen by the public
	|SHADOW(open)|*[6740]<input type=text name=title maxlength=255 placeholder=Page title* id=id_title required=true />
	*[6820]<button aria-label=Add comment />
	*[6822]<h2 id=panel-child-content-summary-heading level=2 />
		*[8062]<span />
			Summary
		*[8064]<span />
	|SHADOW(open)|*[6741]<input type=text name=summary maxlength=200 id=id_summary required=true />
	*[6831]<button />
		Choose a page
[End of page]
</browser_state>"""
"""From a request of browser-use 0.13.14."""


def test_the_cells_are_those_that_were_fixed_before_the_first_run() -> None:
    assert digest_cells(list_cells()) == FROZEN
    assert digest_cells(list_pretix_cells()) == PRETIX_FROZEN
    assert digest_cells(list_magentic_cells()) == MAGENTIC_FROZEN


@pytest.mark.parametrize("frozen", [list_cells(), list_magentic_cells()], ids=["peers", "magentic"])
def test_every_pair_of_system_and_fault_has_a_first_seed_before_any_has_a_second(frozen: list[Cell]) -> None:
    cells = [cell for cell in frozen if cell.profile in ("trusting", "careful")]
    first = [cell.seed for cell in cells].index(1)
    assert {(cell.system, cell.fault) for cell in cells[:first]} == {(cell.system, cell.fault) for cell in cells}


@pytest.mark.parametrize("folder", SYSTEMS, ids=lambda folder: folder.name)
def test_an_adapter_has_at_most_150_lines(folder: Path) -> None:
    code = [file.read_text(encoding="utf-8") for file in folder.iterdir() if file.suffix in (".py", ".mjs")]
    assert 0 < sum(bool(line.strip()) for text in code for line in text.splitlines()) <= 150


def test_no_lock_names_a_registry() -> None:
    for file in FOLDER.glob("with_*/requirements.lock"):
        assert "://" not in file.read_text(encoding="utf-8"), file
    for file in FOLDER.glob("with_*/package-lock.json"):
        assert '"resolved"' not in file.read_text(encoding="utf-8"), file


def test_errors_are_drawn_by_what_is_done_and_grow_with_the_rate() -> None:
    moves = [Move(kind="type", value="x", says=f"Set {n}") for n in range(400)]
    made: list[set[str]] = []
    for rate in (0.05, 0.1, 0.2):
        spoilt = Errors("tickets", 3, rate).spoil(moves, Page())
        made.append({move.says for move in spoilt if move.value != "x"})
    assert made[0] < made[1] < made[2]
    assert 40 < len(made[2]) < 120
    again = Errors("tickets", 3, 0.2)
    again.spoil(moves, Page())
    assert again.spoil(moves, Page()) == moves, "each error is made once"


def test_a_click_that_errs_leads_elsewhere_once() -> None:
    page = Page(elements={"1": Element(id="1", role="link", name="Home")})
    press = Move(kind="click", element=Element(id="2", role="button", name="Next"), says="Press Next")
    set_value = Move(kind="type", value="x", says="Set Subject")
    always = Errors("tickets", 0, 1.0)
    (elsewhere,) = always.spoil([set_value, press], page)
    assert elsewhere.kind == "done" or elsewhere.element == page.elements["1"]
    assert always.spoil([set_value, press], page) == [set_value, press]


def test_a_snapshot_is_read_with_values_and_rows() -> None:
    page = Page()
    read_snapshot(
        '- row [ref=e1]:\n  - cell "Gazette" [ref=e2]\n  - link "Explore" [ref=e3]\n- textbox "Title" [ref=e4]:\n  - text: Harbour\n'
        '- combobox "Priority" [ref=e5]:\n  - option "Low"\n  - option "High" [selected]\n- button "Next" [disabled]',
        page,
    )
    assert page.elements["e3"].within == "Gazette"
    assert (page.elements["e4"].value, page.elements["e5"].value) == ("Harbour", "High")
    assert page.find(("button",), "Next") is None, "a button without a reference cannot be clicked"


def test_a_help_text_between_a_label_and_its_field_is_not_the_label() -> None:
    body = {"messages": [{"role": "user", "content": WAGTAIL_FORM}]}
    page = BrowserUse().read(ChatRequest(number=0, headers={}, body=body))
    assert isinstance(page, Page)
    moves = decide("wagtail", "trusting", page)
    assert [(move.kind, move.element and move.element.id) for move in moves] == [
        ("type", "6740"),
        ("type", "6741"),
        ("click", "6831"),
    ]


def test_an_error_page_at_the_address_of_a_form_is_not_taken_for_the_form() -> None:
    start, _, _ = WAGTAIL_FORM.partition("[Start of page]")
    page = "504 Gateway Timeout\nThe server took too long to answer. Please try again.\n*[7331]<a />\n\tTry again\n[End of page]"
    body = {"messages": [{"role": "user", "content": f"{start}[Start of page]\n{page}\n</browser_state>"}]}
    shown = BrowserUse().read(ChatRequest(number=0, headers={}, body=body))
    assert isinstance(shown, Page)
    assert [(move.kind, move.value) for move in decide("wagtail", "careful", shown)] == [
        ("navigate", "/admin/pages/2/")
    ]


@pytest.mark.parametrize(("said", "satisfied"), [("Done: the order was placed", True), ("It is not done yet.", False)])
def test_magentics_manager_believes_its_agent_and_repeats_the_task(said: str, satisfied: bool) -> None:
    task = "Go to http://127.0.0.1:1/. Order exactly 2 desk lamps, once."
    messages = [
        ("user", task),
        ("assistant", said),
        ("user", f"Recall: {task} Please output an answer in pure JSON format"),
    ]
    body = {"messages": [{"role": role, "content": content} for role, content in messages]}
    answer = Magentic().read(ChatRequest(number=0, headers={}, body=body))
    assert isinstance(answer, dict)
    ledger = json.loads(answer["content"])
    assert ledger["is_request_satisfied"]["answer"] is satisfied
    assert ledger["instruction_or_question"]["answer"] == task


def test_renamed_controls_move_too_and_titles_stay() -> None:
    page = b"<title>Sign in</title><nav><a>Tickets</a></nav><main><form x><label>Subject</label><p><button>Sign in</button></p></form></main>"
    assert rename_controls(page, 0).decode() == (
        "<title>Sign in</title><main><form x><p><button>Log in</button></p><label>Title</label></form></main><nav><a>Tickets</a></nav>"
    )


def test_the_page_in_docs_shows_the_kept_result() -> None:
    page = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
    for name in ("peers", "peers_pretix"):
        result = json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text(encoding="utf-8"))
        for part in filter(None, (result["faults"], result["wagtail"], result["erring"])):
            assert summary.format_parts(part) in page
        assert summary.format_overall(result) in page


@pytest.mark.slow
def test_a_trusting_model_orders_twice_after_a_504_in_another_system_and_once_in_ours() -> None:
    result = measure(
        "peers",
        "--systems",
        "midcourse",
        "langgraph",
        "--apps",
        "shop",
        "--faults",
        "lost",
        "--profiles",
        "trusting",
        "--seeds",
        "1",
    )
    rows = {row["system"]: row for row in result["rows"]}
    assert (rows["midcourse"]["completed"], rows["midcourse"]["repeated"], rows["midcourse"]["asked"]) == (1, 0, 0)
    assert (rows["langgraph"]["completed"], rows["langgraph"]["repeated"]) == (0, 1)


def test_a_model_looks_at_the_list_after_wagtail_has_refused_the_page() -> None:
    message = Element(id="1", role="text", name="The page could not be created due to validation errors")
    page = Page(title="New: Article - Wagtail", elements={"1": message})
    (look,) = decide("wagtail", "trusting", page)
    assert (look.kind, look.value) == ("navigate", "/admin/pages/2/")
