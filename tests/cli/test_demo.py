"""`midcourse demo`: every trouble comes and is told, one order is placed, and what was not recorded ends it."""

import re
from pathlib import Path

import pytest

from midcourse.app import extras
from midcourse.app.demo import RecordedPlanner
from midcourse.cli.commands.start import demo
from midcourse.cli.main import main
from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.task import Task
from midcourse.errors import CassetteMiss
from midcourse.ports.planner import PlanningContext
from midcourse.ports.world import Catalogue
from midcourse.worlds.browser import chromium
from tests.cli.conftest import Cli
from tests.cli.test_terminal import sitting_at


@pytest.mark.slow
def test_without_a_terminal_it_answers_itself_and_says_so(cli: Cli):
    said = cli("demo")
    assert said.code == 0, said.out + said.err
    told = " ".join(said.out.split())
    for words in (demo.COVERED, demo.RENAMED, demo.HELD, demo.NO_TERMINAL, demo.UNKNOWN, demo.HAPPENED):
        assert words in told, said.out
    assert "value     reference = PO-1001" in said.out
    assert "the shop's own log has 1 order." in told
    assert "done, and verified" in said.out
    assert re.search(r"^console  http://127\.0\.0\.1:\d+/#token=[\w-]+/runs/[\w-]+$", said.out, re.M), said.out
    assert cli("show", "last", "--json").json["result"]["final_reason"] == "goal_reached"


@pytest.mark.slow
def test_what_the_recording_has_no_answer_for_is_told_and_ends_it(tmp_path: Path):
    with sitting_at(tmp_path, "demo") as person:
        person.sees("May this be done?")
        person.sees("y/")
        person.types("g\n")
        person.sees("What should it do instead?")
        person.types("Take two\n")
        assert person.leaves_with() == 2
    assert "the recorded model has no answer for advice from you, and none is made up" in person.output


async def test_an_answer_is_for_what_is_on_the_screen_and_is_given_once():
    fields = [("textbox", "User name"), ("textbox", "Password"), ("button", "Sign in")]
    zones = tuple(Zone(id=f"e{number}", role=role, label=label) for number, (role, label) in enumerate(fields, 7))
    planner = RecordedPlanner()
    draft = await planner.plan(context("Sign in", zones))
    assert [step.zone for step in draft.steps] == ["e7", "e8", "e9", "__replan__"]
    for title, seen in (("Sign in", zones), ("Sign in", zones[:2]), ("Somewhere", zones)):
        with pytest.raises(CassetteMiss, match="none is made up"):
            await planner.plan(context(title, seen))


def context(title: str, zones: tuple[Zone, ...]) -> PlanningContext:
    seen = Observation(id="o", surface=Surface(title=title, address="http://x/"), zones=zones, fingerprint="f")
    return PlanningContext(task=Task(goal="g"), observation=seen, catalogue=Catalogue())


def test_what_is_missing_is_told_with_the_command_to_type(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    async def nowhere() -> None:
        return None

    monkeypatch.setattr(chromium, "find_chromium", nowhere)
    assert main(["demo"]) == 2
    assert "Type: playwright install chromium" in capsys.readouterr().err
    monkeypatch.setitem(extras.EXTRAS, "browser", ("no_such_module",))
    assert main(["demo"]) == 2
    assert "pip install 'midcourse[browser]'" in capsys.readouterr().err


@pytest.mark.slow
async def test_chromium_is_found_where_playwright_puts_it_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setattr(chromium, "system_chromium", lambda: None)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert await chromium.find_chromium() is None
