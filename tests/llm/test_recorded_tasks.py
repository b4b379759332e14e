"""Shipped tasks with a recorded model: each runs without a key or network, and prints what its page says.

If a request was not recorded, a prompt has changed: `python -m tests.llm.recorded_tasks` records the cassettes again.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from midcourse.agent.wiring import load_job
from midcourse.cli.main import main
from midcourse.errors import SkillInvalid
from midcourse.llm.cassette import read_exchanges
from midcourse.worlds.simulated import Windows
from tests.llm.recorded_tasks import COMPARED, RECORDED, TASKS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"outline": "outline.md", "monitor": "monitor.md", "reflection": "recovery.md", "detour": "detours.md"}
"""The page that shows the output of each task."""
Output = Callable[..., str]


@pytest.fixture
def run_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Output:
    """What a command prints in a folder of its own, without keys and with a model in the environment that is not there."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("MIDCOURSE_") or name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("MIDCOURSE_MODEL", "openai:another")
    monkeypatch.setenv("MIDCOURSE_MODEL_BASE_URL", "http://127.0.0.1:9/v1")

    def call(*words: str, code: int = 0) -> str:
        assert main([*words]) == code
        printed = capsys.readouterr()
        return printed.out + printed.err

    return call


def list_log_lines(text: str) -> list[str]:
    """The log lines of a run, without their times."""
    return [line[7:] for line in text.splitlines() if re.match(r" \d:\d\d  ", line)]


def read_docs(command: str, page: str) -> list[str]:
    found = re.search(rf"^\$ {command}\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL)
    assert found, f"{page} does not show {command}"
    return list_log_lines(found[1])


def test_every_recording_belongs_to_a_shipped_task():
    assert {name: load_job(name, {}).settings.cassette for name in RECORDED} == {
        name: TASKS / f"{name}.jsonl" for name in RECORDED
    }
    assert [*PAGES] == [*RECORDED]


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_task_runs_without_a_key_and_prints_what_its_page_says(name: str, run_command: Output):
    output = run_command("run", name, "--set", "step_delay_seconds=0")
    assert "done, and verified" in output
    assert list_log_lines(output) == read_docs(f"midcourse run {name}", PAGES[name])


@pytest.mark.parametrize("name", RECORDED)
def test_every_recorded_exchange_is_played(name: str, run_command: Output):
    run_command("run", name, "--set", "step_delay_seconds=0")
    spent = re.findall(r"^  .*: (\d+) calls?", run_command("show", "last").partition("\nSpent\n")[2], re.MULTILINE)
    compared = len(COMPARED[name][1]) if name in COMPARED else 0
    assert sum(map(int, spent)) == len(RECORDED[name]) == len(read_exchanges(TASKS / f"{name}.jsonl")) - compared


def test_the_outline_says_how_many_goals_are_done_before_each_plan(run_command: Output):
    lines = list_log_lines(run_command("run", "outline", "--set", "step_delay_seconds=0"))
    assert [line[:17] for line in lines if " of 3 goals done" in line] == [f"{n} of 3 goals done" for n in (1, 2, 2)]


def test_without_the_monitor_the_loop_ends_the_run(run_command: Output):
    lines = list_log_lines(run_command("run", "monitor", "--set", "step_delay_seconds=0"))
    position = next(number for number, line in enumerate(lines) if line.startswith("the monitor: "))
    assert lines[position].endswith("(repetition)")
    assert "done: Open the menu Bookmarks instead" in lines[position:]
    alone = run_command("run", "monitor", "--set", "monitor=off", "--set", "step_delay_seconds=0", code=1)
    assert "replan_no_change" in alone


def test_plan_2_differs_from_plan_1_because_of_the_reflection(run_command: Output):
    lines = list_log_lines(run_command("run", "reflection", "--set", "step_delay_seconds=0"))
    why = next(line for line in lines if line.startswith("it failed because: "))
    assert "may help: Save it in a folder that the user owns" in why
    plans = run_command("show", "last", "--plans")
    assert plans.index("Save it in /protected") < plans.index("a model on why it failed: /protected belongs to root")
    assert plans.rindex("Save it in /home/ada") > plans.index("a model on why it failed: /protected belongs to root")


def test_the_detour_takes_three_tries_and_takes_one_back(run_command: Output):
    output = run_command("run", "detour", "--set", "step_delay_seconds=0")
    lines = list_log_lines(output)
    assert [line.partition(", ")[2] for line in lines if ": a try, " in line] == [
        "Open the menu View",
        "Open the menu List",
        "Choose Add",
    ]
    assert "done: 1.2: back, key, press Escape; the screen is as it was before" in lines
    assert "3 tries, 1 revert" in output


def test_a_model_that_is_asked_for_takes_the_place_of_the_recording(
    run_command: Output, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("MIDCOURSE_MODEL_BASE_URL")
    output = run_command("run", "outline", "--model", "openai:gpt-5", code=2)
    assert "OPENAI_API_KEY" in output


def test_a_cassette_is_beside_the_task_file_that_names_it(run_command: Output, tmp_path: Path):
    (tmp_path / "mine").mkdir()
    for name in ("outline.toml", "outline.jsonl"):
        (tmp_path / "mine" / name).write_bytes((TASKS / name).read_bytes())
    assert "done, and verified" in run_command("run", "mine/outline.toml", "--set", "step_delay_seconds=0")


@pytest.mark.parametrize(
    ("views", "why"),
    [
        ([{"name": "start", "title": "Start"}], "the first view of an application is 'main'"),
        ([{"name": "main", "title": "Main", "colour": "red"}], "a view has no 'colour'"),
        ([{"name": "main", "title": "Main", "controls": [{"lable": "OK"}]}], "a control has no 'lable'"),
        ([{"name": "main", "title": "Main", "controls": [{"label": "OK", "opens": "x"}]}], "there is no view 'x'"),
        ([{"name": "main", "title": "Main", "kind": "page"}], "kind"),
    ],
)
def test_an_invalid_application_is_refused_with_the_reason(views: list[dict[str, object]], why: str):
    with pytest.raises(SkillInvalid, match=why):
        Windows(views=views)
