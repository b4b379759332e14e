"""Lessons that a run draws from its failures."""

from typing import Any

import pytest

from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import REPLAN, PlanVersion, Step, Target
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.records.lesson import LessonVerdict
from midcourse.policy.failure.lessons import LONGEST_FIX, can_teach, judge_lessons


def a_plan(version: int, *skills: str, cause: Any = "error") -> PlanVersion:
    steps = tuple(
        Step(
            version=version,
            index=n,
            zone=REPLAN if skill == REPLAN else "z",
            skill=skill,
            target=Target(surface="Shop", role="button", label="Save"),
        )
        for n, skill in enumerate(skills)
    )
    return PlanVersion(version=version, parent=None, cause=cause, why="", observation="o1", final=True, steps=steps)


def tried(*results: tuple[int, int, str]) -> list[LedgerEntry]:
    """(version, index, lesson); no lesson: it went well."""
    return [
        LedgerEntry(
            command=n,
            version=version,
            index=index,
            call="c",
            outcome=Outcome(status="failed", reason="r") if lesson else Outcome(),
            lesson=lesson,
        )
        for n, (version, index, lesson) in enumerate(results)
    ]


def verdicts(*words: LessonVerdict) -> dict[str, str | None]:
    return {word.lesson: word.verdict for word in words}


FIRST = a_plan(1, "save", cause="initial")


def test_without_failures_there_are_no_lessons() -> None:
    assert judge_lessons([FIRST], tried((1, 0, "")), "goal_reached") == ()


def test_a_new_plan_that_was_carried_out_is_a_fix() -> None:
    plans = [FIRST, a_plan(2, "close", "save")]
    (word,) = judge_lessons(plans, tried((1, 0, "k"), (2, 0, ""), (2, 1, "")))
    assert word.verdict == "fixed"
    assert word.fix.text == "close button 'Save'; save button 'Save'"


def test_the_end_of_a_plan_is_its_last_step_before_replan() -> None:
    plans = [FIRST, a_plan(2, "close", REPLAN)]
    assert verdicts(*judge_lessons(plans, tried((1, 0, "k"), (2, 0, "")))) == {"k": "fixed"}


def test_an_unfinished_plan_has_no_verdict_unless_the_run_gave_up() -> None:
    plans = [FIRST, a_plan(2, "close", "save")]
    entries = tried((1, 0, "k"), (2, 0, ""))
    assert verdicts(*judge_lessons(plans, entries)) == {"k": None}
    assert verdicts(*judge_lessons(plans, entries, "cancelled")) == {"k": None}
    assert verdicts(*judge_lessons(plans, entries, "replan_exhausted")) == {"k": "unhelpful"}


def test_a_failure_that_recurs_was_not_fixed() -> None:
    plans = [FIRST, a_plan(2, "close", REPLAN), a_plan(3, "save", cause="adaptive"), a_plan(4, "save")]
    entries = tried((1, 0, "k"), (2, 0, ""), (3, 0, "k"))
    assert verdicts(*judge_lessons(plans, entries)) == {"k": "unhelpful"}
    assert verdicts(*judge_lessons(plans, [*entries, *tried((4, 0, ""))])) == {"k": "fixed"}


def test_a_successful_retry_is_not_credited_to_a_plan() -> None:
    plans = [a_plan(1, "save", "send", cause="initial"), a_plan(2, "send")]
    entries = tried((1, 0, "k"), (1, 0, ""), (1, 1, "other"), (2, 0, ""))
    assert verdicts(*judge_lessons(plans, entries)) == {"k": None, "other": "fixed"}


def test_a_plan_that_leads_into_another_failure_has_yet_to_show_what_it_is_good_for() -> None:
    plans = [FIRST, a_plan(2, "send"), a_plan(3, "post")]
    entries = tried((1, 0, "k"), (2, 0, "other"))
    assert verdicts(*judge_lessons(plans[:2], entries)) == {"k": None, "other": None}
    assert verdicts(*judge_lessons(plans, [*entries, *tried((3, 0, ""))])) == {"k": "fixed", "other": "fixed"}
    assert verdicts(*judge_lessons(plans, entries, "replan_no_change")) == {"k": "unhelpful", "other": "unhelpful"}


def test_a_run_that_stopped_without_another_plan_gives_no_lesson() -> None:
    """Above all not who stopped because of a lesson: it would confirm itself."""
    assert verdicts(*judge_lessons([FIRST], tried((1, 0, "k")), "structural_failure")) == {"k": None}
    assert verdicts(*judge_lessons([FIRST], tried((1, 0, "k")), "replan_exhausted")) == {"k": None}


def test_an_empty_plan_is_unhelpful() -> None:
    assert verdicts(*judge_lessons([FIRST], tried((1, 0, "k")), "empty_plan")) == {"k": "unhelpful"}


def test_the_text_of_a_fix_is_cut() -> None:
    plans = [FIRST, a_plan(2, *["close"] * 50)]
    (word,) = judge_lessons(plans, tried((1, 0, "k"), (2, 49, "")))
    assert len(word.fix.text) == LONGEST_FIX


@pytest.mark.parametrize("reason", ["held", "bad_arguments", "world_lost"])
def test_our_own_reasons_teach_nothing_about_the_world(reason: str) -> None:
    assert not can_teach(reason)
    assert can_teach("permission")
