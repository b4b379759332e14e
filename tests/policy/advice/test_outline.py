"""Which goals are coarse enough for an outline, and what guidance may change."""

import pytest

from midcourse.domain.outline import CoarseGoal, Outline
from midcourse.policy.advice.outline import MOST_GOALS, format_outline, rewrite_goals, select_goals, why_not_coarse


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
