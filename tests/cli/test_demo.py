"""`midcourse demo`: every trouble comes and is reported, one order is placed, and what was not recorded ends it."""

import asyncio
import re
from pathlib import Path

import pytest

from midcourse.agent.start import prepare_run
from midcourse.cli.commands.start import demo
from midcourse.cli.main import main
from midcourse.config import extras
from midcourse.demo import RecordedPlanner, demo_job, provide_password
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.task import Task
from midcourse.errors import CassetteMiss
from midcourse.home.stores import open_store
from midcourse.ports.planner import PlanningContext
from midcourse.ports.world import Catalogue
from midcourse.worlds.browser import chromium
from tests.cli.conftest import Cli
from tests.cli.test_terminal import run_in_terminal


@pytest.mark.slow
def test_without_a_terminal_it_answers_itself_and_says_so(cli: Cli):
    result = cli("demo")
    assert result.code == 0, result.out + result.err
    text = " ".join(result.out.split())
    for words in (demo.COVERED, demo.RENAMED, demo.HELD, demo.NO_TERMINAL, demo.UNKNOWN, demo.HAPPENED):
        assert words in text, result.out
    assert "value     reference = PO-1001" in result.out
    assert "the shop's own log has 1 order." in text
    assert "done, and verified" in result.out
    assert re.search(r"^console  http://127\.0\.0\.1:\d+/#token=[\w-]+/runs/[\w-]+$", result.out, re.M), result.out
    assert cli("show", "last", "--json").json["result"]["final_reason"] == "goal_reached"


async def test_a_demo_that_was_killed_is_not_continued_without_its_shop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("MIDCOURSE_HOME", str(tmp_path))
    job = demo_job("http://127.0.0.1:9", headed=False, home=tmp_path)
    with open_store(tmp_path) as store, provide_password():
        async with prepare_run(job, "killed", store) as prepared:
            await prepared.begin()
    assert await asyncio.to_thread(main, ["resume", "killed"]) == 2
    assert "type: midcourse demo" in capsys.readouterr().err


@pytest.mark.slow
def test_what_the_recording_has_no_answer_for_is_told_and_ends_it(tmp_path: Path):
    with run_in_terminal(tmp_path, "demo") as user:
        user.wait_for("May this be done?")
        user.wait_for("y/")
        user.type("g\n")
        user.wait_for("What should it do instead?")
        user.type("Take two\n")
        assert user.wait_for_exit() == 2
    assert "the recorded model has no answer for advice from you, and none is made up" in user.output


async def test_an_answer_is_for_what_is_on_the_screen_and_is_given_once():
    fields = [("textbox", "User name"), ("textbox", "Password"), ("button", "Sign in")]
    zones = tuple(Zone(id=f"e{number}", role=role, label=label) for number, (role, label) in enumerate(fields, 7))
    planner = RecordedPlanner()
    draft = await planner.plan(make_context("Sign in", zones))
    assert [step.zone for step in draft.steps] == ["e7", "e8", "e9", "__replan__"]
    for title, seen in (("Sign in", zones), ("Sign in", zones[:2]), ("Somewhere", zones)):
        with pytest.raises(CassetteMiss, match="none is made up"):
            await planner.plan(make_context(title, seen))


def make_context(title: str, zones: tuple[Zone, ...]) -> PlanningContext:
    seen = Observation(id="o", surface=Surface(title=title, address="http://x/"), zones=zones, fingerprint="f")
    return PlanningContext(task=Task(goal="g"), observation=seen, catalogue=Catalogue())


def test_what_is_missing_is_told_with_the_command_to_type(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    async def find_nothing() -> None:
        return None

    monkeypatch.setattr(chromium, "find_chromium", find_nothing)
    assert main(["demo"]) == 2
    assert "Type: playwright install chromium" in capsys.readouterr().err
    monkeypatch.setitem(extras.EXTRAS, "browser", ("no_such_module",))
    assert main(["demo"]) == 2
    assert "pip install 'midcourse[browser]'" in capsys.readouterr().err


@pytest.mark.slow
async def test_chromium_is_found_where_playwright_puts_it_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(chromium, "system_chromium", lambda **_: None)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert await chromium.find_chromium() is None
