"""The target of a detour: whether a screen shows it, and how close a screen is by its words."""

from dataclasses import replace

import pytest

from midcourse.domain.detour import Goal
from midcourse.domain.expectation import (
    Expectation,
    FingerprintChanged,
    SurfaceMatches,
    TextContains,
    ZoneAppears,
    ZoneHasState,
)
from midcourse.domain.observation import Zone
from midcourse.domain.plan import REACH, Step, Target
from midcourse.policy.detour.choice import find_arrival, goal_of, is_checkable
from midcourse.policy.detour.closeness import clamp_closeness, word_overlap
from midcourse.testing.conformance.planner import seen

SAVE = Zone(id="z7", role="button", label="Save")
SAVED = Expectation(checks=(TextContains(text="Saved"),), says="the file is saved")
STEP = Step(
    version=1,
    index=3,
    zone="z1",
    skill="click",
    target=Target(surface="Editor", role="button", label="Save"),
    expect=SAVED,
)
AIM = replace(STEP, zone=REACH, target=Target(surface="", role="", label="the file is saved"))


def test_the_target_is_found_wherever_it_is() -> None:
    goal = goal_of(STEP)
    assert goal.says == "button 'Save' is visible, or the file is saved"
    assert find_arrival(goal, seen("Editor", SAVE)) == "z7"
    assert find_arrival(goal, seen("Editor", replace(SAVE, label="Save as"))) == ""
    assert find_arrival(goal, seen("Editor", replace(SAVE, role="link"))) == ""


def test_a_target_that_is_there_twice_is_not_found() -> None:
    assert find_arrival(goal_of(STEP), seen("Editor", SAVE, replace(SAVE, id="z8"))) == ""


def test_an_expectation_that_holds_counts_before_the_target() -> None:
    assert find_arrival(goal_of(STEP), seen("Saved", SAVE)) == REACH


def test_what_an_irreversible_step_is_for_does_not_count() -> None:
    goal = goal_of(replace(STEP, effect="irreversible"))
    assert find_arrival(goal, seen("Saved")) == ""
    assert find_arrival(goal, seen("Editor", SAVE)) == "z7"


def test_a_reach_step_has_an_expectation_and_no_target() -> None:
    goal = goal_of(AIM)
    assert (goal.target, goal.says) == (None, "the file is saved")
    assert find_arrival(goal, seen("Editor", SAVE)) == ""
    assert find_arrival(goal, seen("Saved")) == REACH


def test_an_expectation_in_words_cannot_be_checked() -> None:
    words = replace(AIM, expect=Expectation(says="it looks nice"))
    assert not is_checkable(goal_of(words))
    assert find_arrival(goal_of(words), seen("It looks nice")) == ""
    assert is_checkable(goal_of(AIM))
    assert is_checkable(goal_of(STEP))


# --- by the words alone


def test_closeness_is_the_share_of_the_goals_words_that_are_there() -> None:
    goal = Goal(
        says="the Page Setup dialog is open", expect=Expectation(checks=(SurfaceMatches(pattern="Page Setup"),))
    )
    nothing = word_overlap(goal, seen("Editor"))
    some = word_overlap(goal, seen("Editor", replace(SAVE, label="Page")))
    more = word_overlap(goal, seen("Editor", replace(SAVE, label="Page"), replace(SAVE, label="Setup…")))
    assert 0.0 == nothing < some < more <= 9.0


@pytest.mark.parametrize(
    "check",
    [ZoneAppears(label="Fonts"), TextContains(text="fonts"), ZoneHasState(label="Fonts", state="open", value=True)],
)
def test_every_check_has_words(check: ZoneAppears | TextContains | ZoneHasState) -> None:
    assert word_overlap(Goal(says="", expect=Expectation(checks=(check,))), seen("Fonts")) > 0


def test_a_goal_without_words_is_never_near() -> None:
    assert word_overlap(Goal(says="", expect=Expectation(checks=(FingerprintChanged(),))), seen("Fonts")) == 0.0


@pytest.mark.parametrize(
    ("judged", "checkable", "counts"),
    [(4.2, True, 4.2), (-3.0, True, 0.0), (99.0, False, 10.0), (10.0, True, 9.0), (float("nan"), False, 0.0)],
)
def test_the_closeness_of_a_judge_is_clamped(judged: float, checkable: bool, counts: float) -> None:
    assert clamp_closeness(judged, checkable=checkable) == counts
