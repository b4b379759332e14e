"""The searcher without a model, and its relatives: what they try, what they leave alone, and how noise works."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.detour import Goal, Option
from midcourse.domain.expectation import Expectation, SurfaceMatches
from midcourse.domain.observation import Observation, Zone
from midcourse.errors import TaskInvalid
from midcourse.ports.closeness import ClosenessJudge, JudgingContext, WordOverlap
from midcourse.ports.detour import DetourContext, DetourPlanner, PastTry, TryDraft
from midcourse.testing import JudgedBy, ScriptedTries
from midcourse.testing.conformance.detour import CLICK, FIRST, ClosenessJudgeConformance, DetourPlannerConformance
from midcourse.testing.conformance.planner import TASK, seen
from midcourse.testing.searcher import ESCAPE, NoisyJudge, RandomTries, Searcher

GOAL = Goal(says="'Page Setup' is open", expect=Expectation(checks=(SurfaceMatches(pattern="Page Setup"),)))
FILE = Zone(id="m/File", role="menu", label="File")
PAGE = Zone(id="m/Page", role="menu", label="Page")
SETUP = Zone(id="f/Setup", role="menuitem", label="Setup")
OTHERS = (
    Zone(id="m/Page box", role="checkbox", label="Page numbers"),
    Zone(id="m/Page field", role="textbox", label="Page"),
    Zone(id="m/Send", role="send_button", label="Send Page Setup"),
    Zone(id="m/Cancel", role="button", label="Cancel"),
)


class TestSearcher(DetourPlannerConformance):
    def make_planner(self) -> DetourPlanner:
        return Searcher()


class TestRandomTries(DetourPlannerConformance):
    def make_planner(self) -> DetourPlanner:
        return RandomTries(1)


class TestScriptedTries(DetourPlannerConformance):
    def make_planner(self) -> DetourPlanner:
        return ScriptedTries(TryDraft(step=ESCAPE))


class TestWordOverlap(ClosenessJudgeConformance):
    def make_judge(self) -> ClosenessJudge:
        return WordOverlap()


class TestNoisyJudge(ClosenessJudgeConformance):
    def make_judge(self) -> ClosenessJudge:
        return NoisyJudge(lambda: 3, noise=0.5)


class TestJudgedBy(ClosenessJudgeConformance):
    def make_judge(self) -> ClosenessJudge:
        return JudgedBy(lambda seen: 2.0)


def ask(*zones: Zone, **more: Any) -> TryDraft:
    context: DetourContext = replace(FIRST, goal=GOAL, observation=seen("Main", *zones), **more)
    return asyncio.run(Searcher().plan_try(context))


def tried(zone: Zone, observation: Observation, progress: float) -> PastTry:
    return PastTry(
        label="1.1",
        step=replace(CLICK, zone=zone.id),
        before=observation.fingerprint,
        after="elsewhere",
        closeness_before=2.0,
        closeness_after=2.0 + progress,
        reverted=True,
    )


def zone_of(answer: TryDraft) -> str:
    assert answer.step is not None
    return answer.step.zone


def test_what_is_named_like_the_goal_is_tried_first() -> None:
    assert zone_of(ask(FILE, PAGE, *OTHERS)) == PAGE.id


def test_nothing_is_sent_written_or_ticked() -> None:
    assert ask(*OTHERS).step == ESCAPE


def test_what_was_in_vain_is_not_tried_again() -> None:
    here = seen("Main", FILE, PAGE)
    assert zone_of(ask(FILE, PAGE, tries=(tried(PAGE, here, 0.0),))) == FILE.id
    elsewhere = seen("Elsewhere", FILE, PAGE)
    assert zone_of(ask(FILE, PAGE, tries=(tried(PAGE, elsewhere, -1.0),))) == FILE.id
    assert zone_of(ask(FILE, PAGE, tries=(tried(PAGE, here, 1.0),))) == PAGE.id, "the way to more entries"


def test_a_hint_is_followed_or_the_way_to_it_cleared() -> None:
    assert zone_of(ask(FILE, PAGE, hint=Option(name=FILE.id))) == FILE.id
    assert zone_of(ask(PAGE, *OTHERS, hint=Option(name=FILE.id))) == "m/Cancel"


def test_options_are_close_calls_that_do_not_go_away() -> None:
    edit = Zone(id="m/Edit", role="menu", label="Edit")
    assert [option.name for option in ask(FILE, edit).options] == [edit.id]
    assert ask(PAGE, FILE).options == (), "no close call"
    assert ask(SETUP, PAGE).options == (), "a dialog would hide it"


@pytest.mark.parametrize(("noise", "differs"), [(0.0, False), (0.5, True), (1.0, True)])
def test_noise_is_to_order_and_the_same_each_time(noise: float, differs: bool) -> None:
    async def judge(title: str) -> float | None:
        context = JudgingContext(task=TASK, goal=GOAL, observation=seen(title))
        return (await NoisyJudge(lambda: 2, noise=noise, seed=7).judge(context)).value

    values = [asyncio.run(judge(title)) for title in "abc"]
    assert (len(set(values)) > 1) is differs
    assert values == [asyncio.run(judge(title)) for title in "abc"]
    if not noise:
        assert values[0] == 7.0


def test_a_script_needs_a_draft() -> None:
    with pytest.raises(TaskInvalid):
        ScriptedTries()
