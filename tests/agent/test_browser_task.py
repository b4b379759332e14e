"""A task file that names the browser: carried out on real pages, with what it brings back."""

from collections.abc import Generator
from pathlib import Path

import pytest

from midcourse.agent.agent import build_agent
from midcourse.agent.wiring import load_job
from midcourse.errors import TaskInvalid
from tests.pages import Pages, serve_pages

TASK = """
goal = "Find out what the shop charges for two lamps"
[output]
total = "number"
[world]
name = "browser"
options = {{ start = "{start}", screenshots = "on_change" }}
[planner]
name = "playbook"
[[planner.rules]]
on = "Shop"
steps = [
  {{zone = "textbox:Search", skill = "type", arguments = {{ text = "lamp" }}}},
  {{zone = "button:Find", skill = "click", says = "Find it"}},
]
[[planner.rules]]
on = "Lamp"
steps = [
  {{zone = "combobox:Quantity", skill = "select", arguments = {{ option = "2" }}}},
  {{zone = "status:*", skill = "extract", arguments = {{ name = "total", kind = "number" }}}},
]
final = true
"""


@pytest.fixture
def pages() -> Generator[Pages]:
    with serve_pages() as there:
        there.show(
            "/", "<form action=/lamp><label>Search <input name=q></label><button>Find</button></form>", title="Shop"
        )
        there.show(
            "/lamp",
            """<select aria-label=Quantity onchange="x.textContent = '$ ' + 19.5 * this.value"><option>1<option>2</select>
            <output id=x>$ 19.50</output>""",
            title="Lamp",
        )
        yield there


@pytest.mark.slow
async def test_task_in_a_real_browser(pages: Pages, tmp_path: Path):
    (tmp_path / "lamp.toml").write_text(TASK.format(start=pages.url))
    job = load_job(str(tmp_path / "lamp.toml"), {"home": str(tmp_path)})
    folder = tmp_path / "run"
    result = await build_agent(job, folder, None).run(job.task)
    assert result.success, result
    assert result.data == (("total", 39.0),)
    assert [hit for hit in pages.hits if "favicon" not in hit] == ["GET /", "GET /lamp?q=lamp"]
    taken = [blob.suffix for blob in (tmp_path / "runs").glob("*/blobs/*/*/*")]
    assert len(taken) >= 2
    assert set(taken) == {".webp"}


async def test_skill_that_the_browser_does_not_have_is_found_before_it_starts(tmp_path: Path):
    (tmp_path / "lamp.toml").write_text(TASK.format(start="http://127.0.0.1:1").replace('"select"', '"selct"'))
    job = load_job(str(tmp_path / "lamp.toml"), {"home": str(tmp_path)})
    with pytest.raises(TaskInvalid, match="did you mean 'select'"):
        build_agent(job, tmp_path / "run", None)


FETCHING = """
goal = "Fetch the report"
[output]
report = "string"
[world]
name = "browser"
options = {{ start = "{start}/files" }}
[planner]
name = "playbook"
[[planner.rules]]
when = {{ zone_appears = "download:report.csv" }}
steps = [{{zone = "download:report.csv", skill = "extract", arguments = {{ name = "report" }}}}]
final = true
[[planner.rules]]
on = "Files"
steps = [{{zone = "link:Report", skill = "click"}}]
"""


@pytest.mark.slow
async def test_file_that_a_task_fetches_stays_in_the_folder_of_its_run(pages: Pages, tmp_path: Path):
    pages.show("/files", "<a href=/report>Report</a>", title="Files")
    pages.show("/report", "<html>", content_type="text/csv", content_disposition="attachment; filename=report.csv")
    (tmp_path / "fetch.toml").write_text(FETCHING.format(start=pages.url))
    job = load_job(str(tmp_path / "fetch.toml"), {"home": str(tmp_path)})
    result = await build_agent(job, tmp_path / "run", None).run(job.task)
    assert result.success, result
    there = tmp_path / "run" / "downloads" / "report.csv"
    assert result.data == (("report", str(there)),)
    assert there.read_text() == "<html>"
