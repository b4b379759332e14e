"""Long texts on a real page, read by a scripted model that sees only the prompt: what it answers stands in the text that it was shown."""

import re
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from midcourse.agent.agent import build_agent
from midcourse.agent.wiring import load_job
from midcourse.domain.result import Result
from midcourse.testing import Approves
from midcourse.testing.models import ChatRequest, ModelServer
from midcourse.testing.models.script import Line
from tests.pages import Pages, serve_pages

pytestmark = pytest.mark.slow

_CLAUSES = " ".join(f"Clause {number} of the contract is without effect." for number in range(60))
PARAGRAPH = f"{_CLAUSES[:2600].strip()} Objections are to be raised within 21 days."
ARTICLE = [f"In the year {1800 + number} the mill was rebuilt, and {number} looms stood idle." for number in range(150)]
MONTHS = ["Jan", "Feb", "Mar"]
ROWS = [(f"Customer {number}", *(str(number * 7 + month) for month in range(3))) for number in range(60)]
CSV = "<html>,sum\n" + "\n".join(f"Customer {number},{number * 11}" for number in range(60))
NOTE = "\n".join(f"{number}. The night shift found nothing unusual at gate {number}." for number in range(22))
BOOK = "\n".join(
    f"Entry {number}: the tide was {number % 9} feet, and the keeper wrote nothing else." for number in range(700)
)

PAGE = f"""<h1>Papers</h1><p id=terms>{PARAGRAPH}</p>
<article>{"".join(f"<p>{line}</p>" for line in ARTICLE)}</article>
<table><tr><th>Customer</th>{"".join(f"<th>{month}</th>" for month in MONTHS)}</tr>
{"".join(f"<tr>{''.join(f'<td><div>{cell}</div></td>' for cell in row)}</tr>" for row in ROWS)}</table>"""
FORM = f"<textarea aria-label=Log rows=5>{NOTE}</textarea>"

TASK = """
goal = "{goal}"
[world]
name = "browser"
options.start = "{start}"
[planner]
model = "openai:scripted"
base_url = "{model}"
"""


@dataclass(frozen=True, kw_only=True)
class Stage:
    pages: Pages
    folder: Path

    async def run(self, start: str, script: Any) -> tuple[Result, list[ChatRequest]]:
        def think(request: ChatRequest) -> Line:
            try:
                return script(request)
            except AssertionError as error:  # a server that fails would be asked again for minutes
                return {"verdict": "gave_up", "reason": str(error)}

        with ModelServer(think) as server:
            file = self.folder / "task.toml"
            file.write_text(TASK.format(goal="Answer from the papers", start=self.pages.url + start, model=server.url))
            job = load_job(str(file), {"home": str(self.folder)})
            result = await build_agent(job, self.folder / "run", Approves()).run(job.task)
            return result, list(server.requests)


@pytest.fixture
def stage(tmp_path: Path) -> Generator[Stage]:
    with serve_pages() as pages:
        pages.show("/papers", PAGE, title="Papers")
        pages.show("/form", FORM, title="Form")
        pages.show("/book", f"<pre id=book>{BOOK}</pre>", title="Book")
        pages.show("/rows.csv", CSV, content_type="text/csv", content_disposition="attachment; filename=rows.csv")
        pages.show("/files", "<a href='/rows.csv'>Rows</a>", title="Files")
        yield Stage(pages=pages, folder=tmp_path)


def zone(request: ChatRequest, pattern: str) -> str:
    found = re.search(rf"^(\S+) {pattern}", request.text, re.MULTILINE)
    assert found, f"no {pattern} in\n{request.text}"
    return found[1]


def step(skill: str, zone: str = "", kept_as: str = "", **arguments: str) -> dict[str, Any]:
    given = [{"name": name.rstrip("_"), "value": value} for name, value in arguments.items()]
    return {"skill": skill, "arguments": given, "zone": zone, "as": kept_as}


def answer_from(request: ChatRequest, pattern: str) -> Line:
    found = re.search(pattern, request.text)
    assert found, f"no {pattern} in\n{request.text}"
    return {"verdict": "done", "reason": found[1]}


async def test_a_paragraph_and_an_article_are_answered_from(stage: Stage) -> None:
    def think(request: ChatRequest) -> Line:
        if "RESULTS" not in request.text:
            terms = zone(request, 'text "Clause 0 of')
            assert f"(cut, {len(PARAGRAPH)} characters)" in request.text
            return {"steps": [step("read", terms, "terms"), step("read", "page", "all")]}
        if request.number == 1:
            assert f"$result.terms, {len(PARAGRAPH)} characters:" in request.text
            assert all(f"| {line}\n" in request.text for line in ARTICLE), "the whole article"
            assert "\n| Customer\tJan\tFeb\tMar\n" in request.text, "the columns once"
            assert request.text.count("Jan\tFeb") == 1
            assert all("| " + "\t".join(row) in request.text for row in ROWS)
        return answer_from(request, r"Objections are to be raised within (\d+ days)")

    result, asked = await stage.run("/papers", think)
    assert (result.final_detail, len(asked)) == ("21 days", 2), result


async def test_a_book_is_read_on_until_the_line_that_is_wanted(stage: Stage) -> None:
    def think(request: ChatRequest) -> Line:
        if "RESULTS" not in request.text:
            return {"steps": [step("read", "page", "book")]}
        if "Entry 690:" in request.text:
            return answer_from(request, r"Entry 690: the tide was (\d) feet")
        more = re.search(r'read_more with name "book" and from "(\d+)" shows them', request.text)
        assert more, request.text
        return {"steps": [step("read_more", name="book", from_=more[1])]}

    result, asked = await stage.run("/book", think)
    assert result.final_detail == "6", result
    assert len(asked) < 8
    assert not result.attempts


async def test_a_download_is_read(stage: Stage) -> None:
    def think(request: ChatRequest) -> Line:
        if "Customer 59" in request.text:
            return answer_from(request, r"\| Customer 59,(\d+)")
        if re.search(r"^download\d+ download", request.text, re.MULTILINE):
            return {"steps": [step("read", zone(request, "download"))]}
        return {"steps": [step("click", zone(request, 'link "Rows"'))]}

    result, _ = await stage.run("/files", think)
    assert result.final_detail == str(59 * 11), result


async def test_a_long_field_is_added_to_and_keeps_its_text(stage: Stage) -> None:
    def think(request: ChatRequest) -> Line:
        log = zone(request, 'textbox "Log"')
        if "RESULTS" not in request.text:
            assert f"(cut, {len(NOTE)} characters)" in request.text
            assert "append(" in request.text
            return {"steps": [step("append", log, text="\n22. Gate 22 was open."), step("read", log)]}
        assert all(f"| {line}\n" in request.text for line in NOTE.split("\n"))
        return answer_from(request, r"\| (22\. Gate 22 was open\.)")

    result, _ = await stage.run("/form", think)
    assert result.final_detail == "22. Gate 22 was open.", result
