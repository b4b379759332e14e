"""Progress moves forward with evidence, and back only by a recorded regression, which takes two judgements."""

from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.observation import Observation, Surface, Zone
from midcourse.domain.outline import CoarseGoal, Outline, Regression
from midcourse.policy.advice.progress import MOST_REGRESSIONS, apply_judgement, find_evidence, is_seen

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


def test_progress_moves_forward_only_with_evidence() -> None:
    assert [one.current for one in fed((2, "menu"), (4, ""), (4, "   "), (5, "all"))] == [2, 2, 2, 5]
    assert [goal.evidence for goal in fed((2, "menu"), (4, "more"))[-1].goals] == ["menu", "more", "more", ""]


def test_two_judgements_in_a_row_are_a_regression_as_far_as_both_agree() -> None:
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


def test_the_example_of_the_seed_has_one_regression() -> None:
    course = fed(*((n, "x") for n in (1, 4, 3, 2, 4, 3, 4)))
    assert [(one.current, one.regressed) for one in course] == [(1, 0), (4, 0), (4, 0), (3, 1), (4, 1), (4, 1), (4, 1)]


def test_judgements_without_progress_are_counted_until_it_moves() -> None:
    assert [one.idle for one in fed((1, "x"), (1, ""), (2, "x"), (1, "x"), (1, "x"))] == [1, 2, 0, 1, 0]


@given(st.lists(st.tuples(st.integers(-3, 9), st.sampled_from(["", "x", " "])), max_size=40))
def test_no_judgement_moves_progress_without_evidence_or_a_recorded_regression(
    judgements: list[tuple[int, str]],
) -> None:
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
