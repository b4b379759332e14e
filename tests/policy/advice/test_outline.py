"""Which goals are coarse enough for an outline, and what guidance may change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.outline import CoarseGoal, Outline, Regression
from midcourse.policy.advice.outline import (
    MOST_GOALS,
    MOST_REGRESSIONS,
    apply_judgement,
    find_evidence,
    format_outline,
    is_seen,
    rewrite_goals,
    select_goals,
    why_not_coarse,
)


@pytest.mark.parametrize(
    "text",
    [
        "Explore the menu options",
        "Navigate to the settings area",
        "Find the configuration dialog",
        "Locate the text input field",
        "Discover how folders are made",
        "Find the press releases",
        "Learn the type of the account",
        "Find the tab of the second quarter",
        "Locate the select committee's report",
    ],
)
def test_a_goal_that_says_what_to_explore_is_accepted(text: str) -> None:
    assert why_not_coarse(text) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Click the File menu", "does not say what to explore"),
        ("Type the name", "does not say what to explore"),
        ("", "does not say what to explore"),
        ("Find the File menu and click it", "a click"),
        ("Explore the menu by right-clicking", "a click"),
        ("Find the field, then type the name", "an act"),
        ("Locate the list and scroll to its end", "an act"),
        ("Navigate to the settings by pressing a button", "an act"),
        ("Explore the dialog: select OK", "an act"),
        ("Find the search with Ctrl+F", "a key"),
        ("Explore what F10 opens", "a key"),
        ("Find the Enter key's action", "a key"),
        ("Locate the button at (120, 40)", "coordinates"),
        ("Locate the button at x=120", "coordinates"),
        ("Look 40 pixels to the left", "coordinates"),
        ("Explore " + "everything " * 30, "longer than"),
    ],
)
def test_a_goal_that_says_how_is_rejected(text: str, why: str) -> None:
    assert why in why_not_coarse(text)


def test_goals_lose_the_numbers_that_they_come_with_and_are_listed_once() -> None:
    goals, refused = select_goals(("Step 1: Explore the menu", "2. Find the dialog", "Find  the dialog", "Press Enter"))
    assert goals == ("Explore the menu", "Find the dialog")
    assert len(refused) == 1
    assert len(select_goals([f"Find page {n}" for n in range(99)])[0]) == MOST_GOALS


DONE = CoarseGoal(says="Explore the menu", evidence="Menu")
HALF = Outline(goals=(DONE, CoarseGoal(says="Find the dialog"), CoarseGoal(says="Locate the field")), setbacks=(1,))


def test_a_finished_goal_never_changes_on_guidance() -> None:
    new = rewrite_goals(HALF, ("Explore the toolbar", "Find the panel", "Locate the field", "Check the result"))
    assert new.goals[0] is DONE
    assert [goal.says for goal in new.goals[1:]] == [
        "Explore the toolbar",
        "Find the panel",
        "Locate the field",
        "Check the result",
    ]
    assert (new.current, new.setbacks) == (2, ())


def test_a_finished_goal_is_not_put_on_the_list_again() -> None:
    assert [goal.says for goal in rewrite_goals(HALF, ("Explore the menu", "Find the panel")).goals] == [
        "Explore the menu",
        "Find the panel",
    ]
    assert rewrite_goals(HALF, ("Explore the menu",)) is HALF
    assert rewrite_goals(HALF, ()) is HALF


def test_a_formatted_outline_says_how_far_it_is() -> None:
    assert format_outline(HALF).splitlines() == [
        "1. Explore the menu [finished]",
        "2. Find the dialog",
        "3. Locate the field",
        "Goal 1 is finished; goal 2 of 3 is next.",
    ]
    assert format_outline(Outline(goals=(DONE,))).endswith("All 1 goals are finished.")


# --- which goals are finished

FOUR = Outline(goals=tuple(CoarseGoal(says=f"Find {name}") for name in ("the menu", "b", "c", "d")))
SCREEN = Observation(
    id="o1",
    surface=Surface(title="Bookmarks Manager", address="app://bookmarks"),
    zones=(Zone(id="z", role="textbox", label="Folder name", state=(("value", "Favorites"),)),),
    fingerprint="f",
)


def fed(*judgements: tuple[int, str], outline: Outline = FOUR) -> list[Outline]:
    course = [outline]
    for number, (current, evidence) in enumerate(judgements):
        course.append(apply_judgement(course[-1], current, evidence, f"o{number}"))
    return course[1:]


def test_forward_with_evidence_and_not_without() -> None:
    assert [one.current for one in fed((2, "menu"), (4, ""), (4, "   "), (5, "all"))] == [2, 2, 2, 5]
    assert [goal.evidence for goal in fed((2, "menu"), (4, "more"))[-1].goals] == ["menu", "more", "more", ""]


def test_once_is_a_doubt_and_twice_in_a_row_a_regression_as_far_as_both_agree() -> None:
    once, again = fed((4, "x"), (2, "y"), (1, "z"))[1:]
    assert (once.current, once.setbacks, once.regressed) == (4, (2,), 0)
    assert (again.current, again.setbacks, again.regressed) == (2, (), 1)
    assert again.regressions == (Regression(before=4, after=2, evidence="z", seen="o2"),)


def test_a_doubt_is_forgotten_once_the_judge_agrees_again() -> None:
    assert [one.current for one in fed((4, "x"), (3, "y"), (4, "x"), (3, "y"), (5, "x"), (3, "y"))] == [
        4,
        4,
        4,
        4,
        5,
        5,
    ]


def test_the_sequence_of_the_seed() -> None:
    course = fed(*((n, "x") for n in (1, 4, 3, 2, 4, 3, 4)))
    assert [(one.current, one.regressed) for one in course] == [(1, 0), (4, 0), (4, 0), (3, 1), (4, 1), (4, 1), (4, 1)]


def test_how_long_nothing_moved() -> None:
    assert [one.idle for one in fed((1, "x"), (1, ""), (2, "x"), (1, "x"), (1, "x"))] == [1, 2, 0, 1, 0]


@given(st.lists(st.tuples(st.integers(-3, 9), st.sampled_from(["", "x", " "])), max_size=40))
def test_whatever_a_judge_says(judgements: list[tuple[int, str]]) -> None:
    before = FOUR
    for (current, evidence), after in zip(judgements, fed(*judgements), strict=True):
        assert [goal.finished for goal in after.goals] == [n < after.finished for n in range(4)]
        assert [goal.says for goal in after.goals] == [goal.says for goal in FOUR.goals]
        if after.current > before.current:
            assert evidence.strip()
            assert after.current <= max(current, 1)
        if after.current < before.current:
            assert after.regressed == before.regressed + 1
            assert after.regressions[-1].evidence
        assert len(after.regressions) <= MOST_REGRESSIONS
        before = after


def test_evidence_is_what_is_on_the_screen() -> None:
    for text in ("Bookmarks Manager", "bookmarks  manager", "Folder", "Favorites", "app://bookmarks"):
        assert is_seen(text, SCREEN)
    for text in ("", "  ", "the folder exists", "Folder name Favorites"):
        assert not is_seen(text, SCREEN)


def test_without_a_model_a_goal_is_reached_if_all_its_words_are_there() -> None:
    assert find_evidence(CoarseGoal(says="Navigate to the bookmarks"), SCREEN) == "Bookmarks Manager"
    assert find_evidence(CoarseGoal(says="Find the folder of bookmarks"), SCREEN)
    assert not find_evidence(CoarseGoal(says="Find the bookmarks bar"), SCREEN)
    assert not find_evidence(CoarseGoal(says="Explore"), SCREEN)
