"""The searcher without a model, and its relatives: what they try, what they leave alone, and how noise works."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.search.searcher import ESCAPE, NoisyJudge, RandomTries, Searcher, escape
from midcourse.domain.detour import Goal, Option
from midcourse.domain.expectation import Expectation, SurfaceMatches
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.plan import GLOBAL
from midcourse.domain.skill import Catalogue, Parameter, Skill
from midcourse.errors import TaskInvalid
from midcourse.ports.closeness import ClosenessJudge, JudgingContext, WordOverlap
from midcourse.ports.detour import DetourContext, DetourPlanner, PastTry, TryDraft
from midcourse.testing import JudgedBy, ScriptedTries
from midcourse.testing.conformance.detour import CLICK, FIRST, ClosenessJudgeConformance, DetourPlannerConformance
from midcourse.testing.conformance.planner import TASK, seen

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
    assert ask(*OTHERS).step == escape(FIRST.catalogue)


def test_failed_try_is_not_repeated() -> None:
    here = seen("Main", FILE, PAGE)
    assert zone_of(ask(FILE, PAGE, tries=(tried(PAGE, here, 0.0),))) == FILE.id
    elsewhere = seen("Elsewhere", FILE, PAGE)
    assert zone_of(ask(FILE, PAGE, tries=(tried(PAGE, elsewhere, -1.0),))) == FILE.id
    assert zone_of(ask(FILE, PAGE, tries=(tried(PAGE, here, 1.0),))) == PAGE.id, "the way to more entries"


def test_covered_and_disabled_zones_are_not_tried() -> None:
    for state in (("covered", True), ("disabled", True)):
        assert zone_of(ask(FILE, replace(PAGE, state=(state,)))) == FILE.id


def test_what_an_overlay_covers_is_named_as_an_option() -> None:
    """Closing what lies over a page does not lead nearer to the goal, and taking that back leads nowhere."""
    decline = Zone(id="p/No", role="button", label="No thanks")
    answer = ask(decline, replace(FILE, state=(("covered", True),)), replace(PAGE, state=(("covered", True),)))
    assert (zone_of(answer), [option.name for option in answer.options]) == (decline.id, [PAGE.id])


def test_a_page_that_was_loaded_again_is_still_the_same_page() -> None:
    """Its zones have other ids. Of several alike one was tried, so there is another to try."""
    here = seen("Main", FILE, PAGE)
    first = tried(replace(PAGE, id="gone"), here, 0.0)
    past = replace(first, step=replace(CLICK, zone="gone", target=replace(CLICK.target, role="menu", label="Page")))
    assert zone_of(ask(FILE, PAGE, tries=(past,))) == FILE.id
    twin = replace(PAGE, id="m/Page 2")
    two = replace(past, before=seen("Main", FILE, PAGE, twin).fingerprint)
    assert zone_of(ask(FILE, PAGE, twin, tries=(two,))) == twin.id


def test_keys_are_pressed_and_pages_left_by_the_skills_that_a_browser_has_for_it() -> None:
    keys = Parameter(name="keys", type="string")
    browser = Catalogue(
        skills=(Skill(name="press_keys", on_zone=False, parameters=(keys,)), Skill(name="go_back", on_zone=False))
    )
    pressed = ask(*OTHERS, catalogue=browser).step
    assert pressed is not None
    assert (pressed.skill, pressed.arguments) == ("press_keys", (("keys", "Escape"),))
    gone = tried(FILE, seen("Main", FILE), 0.0)
    back = ask(FILE, catalogue=browser, undo=gone).step
    assert back is not None
    assert (back.zone, back.skill) == (GLOBAL, "go_back")
    assert ask(FILE, undo=gone).verdict == "gave_up", "where there are no pages"


def test_a_hint_is_followed_or_the_way_to_it_cleared() -> None:
    assert zone_of(ask(FILE, PAGE, hint=Option(name=FILE.id))) == FILE.id
    assert zone_of(ask(PAGE, *OTHERS, hint=Option(name=FILE.id))) == "m/Cancel"


def test_options_are_close_calls_that_do_not_go_away() -> None:
    edit = Zone(id="m/Edit", role="menu", label="Edit")
    assert [option.name for option in ask(FILE, edit).options] == [edit.id]
    assert ask(PAGE, FILE).options == (), "no close call"
    assert ask(SETUP, PAGE).options == (), "a dialog would hide it"


@pytest.mark.parametrize(("noise", "differs"), [(0.0, False), (0.5, True), (1.0, True)])
def test_noise_has_the_set_strength_and_is_reproducible(noise: float, differs: bool) -> None:
    async def judge(title: str) -> float | None:
        context = JudgingContext(task=TASK, goal=GOAL, observation=seen(title))
        return (await NoisyJudge(lambda: 2, noise=noise, seed=7).judge(context)).value

    values = [asyncio.run(judge(title)) for title in "abc"]
    assert (len(set(values)) > 1) is differs
    assert values == [asyncio.run(judge(title)) for title in "abc"]
    if not noise:
        assert values[0] == 7.0


def test_scripted_tries_without_a_draft_are_refused() -> None:
    with pytest.raises(TaskInvalid):
        ScriptedTries()
