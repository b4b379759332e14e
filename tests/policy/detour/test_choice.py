"""The next move of a detour: every branch of the decision tree, and their order."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.detour import Detour, Option, Tried
from midcourse.domain.run import Run
from midcourse.policy.detour.choice import (
    choose_next,
    find_dead_end,
    find_restored,
    is_looping,
    is_regressing,
    may_detour,
    revert_from,
)
from tests.harness import a_step

STEP = a_step("far", index=7)
MENU, SHORTCUT = Option(name="another menu"), Option(name="a shortcut")


def tried(label: str, progress: float = 0.0, call: str = "", **more: Any) -> Tried:
    """From a state of its own, unless told otherwise."""
    usual: dict[str, Any] = {
        "call": call or f"call {label}",
        "before": f"before {label}",
        "seen": f"o {label}",
        "version": 3,
    }
    return Tried(label=label, closeness_before=5.0, closeness_after=5.0 + progress, **(usual | more))


def detour(*tries: Tried) -> Detour:
    return Detour(step=STEP, number=8, began_under="f1", tries=tries)


@pytest.mark.parametrize(
    ("progress", "why"),
    [(3.0, "good progress"), (0.51, "good progress"), (0.5, "some progress"), (0.1, "some progress")],
)
def test_what_led_nearer_is_retained(progress: float, why: str) -> None:
    verdict = choose_next(detour(tried("8.1", progress, options=(MENU,))), 10)
    assert (verdict.choice, verdict.why) == ("retain", why)


@pytest.mark.parametrize("progress", [0.0, -1.0])
def test_what_led_nowhere_is_followed_by_an_option(progress: float) -> None:
    verdict = choose_next(detour(tried("8.1", progress, options=(MENU, SHORTCUT))), 10)
    assert (verdict.choice, verdict.option, verdict.offered_by) == ("explore", MENU, "8.1")


def test_the_nearest_try_up_the_path_that_has_an_option_left_is_asked() -> None:
    first = tried("8.1", 1.0, options=(MENU,))
    second = tried("8.2", 1.0, options=(MENU, SHORTCUT), explored=1)
    third = tried("8.3", 0.0, options=(MENU,), explored=1)
    assert choose_next(detour(first, second, third), 10).option == SHORTCUT
    assert choose_next(detour(first, replace(second, explored=2), third), 10).offered_by == "8.1"
    assert choose_next(detour(first, replace(second, reverted=True), third), 10).offered_by == "8.1"


def test_a_dead_end_is_reverted() -> None:
    assert choose_next(detour(tried("8.1")), 10).choice == "revert"
    assert choose_next(detour(tried("8.1", options=(MENU,), explored=1)), 10).choice == "revert"


def test_the_same_try_from_the_same_state_for_the_third_time_is_a_loop() -> None:
    again: dict[str, Any] = {"call": "click", "before": "f1"}
    twice = (tried("8.1", 1.0, **again), tried("8.2", 1.0, **again, reverted=True))
    other, third = tried("8.3", 1.0, "other"), tried("8.4", 1.0, **again)
    verdict = choose_next(detour(*twice, third), 10)
    assert (verdict.choice, verdict.cancel) == ("cancel", "looping"), "however much progress it made"
    assert not is_looping(detour(*twice, other)), "something new"
    assert not is_looping(detour(*twice, other, third)), "the same menu, for another entry"
    assert is_looping(detour(*twice, other, third, replace(other, label="8.5"), replace(third, label="8.6")))
    assert not is_looping(detour(*twice, replace(third, before="f2"))), "from another state it is another try"


def test_three_steps_back_in_a_row_are_a_regression() -> None:
    back = [tried(f"8.{n}", -0.1, options=(MENU,)) for n in range(1, 4)]
    verdict = choose_next(detour(*back), 10)
    assert (verdict.choice, verdict.cancel) == ("cancel", "regressing"), "whatever options are left"
    assert not is_regressing(detour(*back[:2]))
    assert not is_regressing(detour(*back[:2], tried("8.3", 0.0), tried("8.4", -1.0)))


def test_steps_that_were_taken_back_are_no_regression() -> None:
    back = [tried(f"8.{n}", -0.1, reverted=n < 3) for n in range(1, 4)]
    assert not is_regressing(detour(*back))


def test_the_last_try_without_the_goal_gives_up() -> None:
    two = detour(tried("8.1", 1.0), tried("8.2", 1.0))
    assert choose_next(two, 3).choice == "retain"
    verdict = choose_next(two, 2)
    assert (verdict.choice, verdict.cancel, verdict.why) == ("cancel", "exhausted", "2 tries did not reach the goal")


# --- going back


def test_the_try_whose_options_are_used_up_is_taken_back_and_all_after_it() -> None:
    """Export was clicked, and its two options have been tried: it was the mistake, not they."""
    tools, export = tried("8.1", 3.0), tried("8.2", -1.0, options=(MENU, SHORTCUT), explored=2)
    path = (tools, export, tried("8.3", explores="8.2"), tried("8.4", -2.0, explores="8.2"))
    assert find_dead_end(detour(*path)) is export
    assert [one.label for one in revert_from(detour(*path), "8.2").path] == ["8.1"]
    assert find_dead_end(detour(tools, tried("8.2"))).label == "8.2", "no person's option: the last one"


def test_a_state_may_be_the_one_to_return_to_already_or_an_earlier_one() -> None:
    path = detour(tried("8.1"), tried("8.2"), tried("8.3"))

    def back(to: str, fingerprint: str) -> str:
        found = find_restored(path, to, fingerprint)
        return found.label if found else ""

    assert back("8.2", "before 8.2") == "8.2"
    assert back("8.2", "before 8.1") == "8.1"
    assert back("8.2", "before 8.3") == "", "not far enough"
    assert back("8.2", "elsewhere") == ""


def test_the_nearest_of_equal_states_counts() -> None:
    path = detour(tried("8.1", before="f1"), tried("8.2", before="f1"), tried("8.3"))
    found = find_restored(path, "8.3", "f1")
    assert found is not None
    assert found.label == "8.2"


# --- whether there is one at all


def test_a_detour_needs_a_planner_iterations_and_a_step_that_was_not_found_before() -> None:
    run = Run(id="run", has_detours=True)
    assert may_detour(run, STEP, "target_not_visible")
    assert may_detour(run, STEP, "out_of_reach")
    assert not may_detour(run, STEP, "busy")
    assert not may_detour(run, STEP, "detour_cancelled")
    assert not may_detour(replace(run, has_detours=False), STEP, "target_not_visible")
    assert not may_detour(run, replace(STEP, found="z1"), "target_not_visible")
    none = replace(run, limits=replace(run.limits, detour_iterations=0))
    assert not may_detour(none, STEP, "target_not_visible")
