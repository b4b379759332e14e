"""The monitor without a model finds loops of one to four steps, repeated looks, and steps without progress."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.budget import Limits
from midcourse.domain.monitor import Advice, Monitors, ProposedStep, TakenStep
from midcourse.domain.run import Counts, Run
from midcourse.domain.skill import Effect
from midcourse.policy.advice.monitor import (
    ADVICE_LASTS,
    IDLE_STEPS,
    LONGEST_ADVICE,
    LONGEST_LOOP,
    MOST_PROBES,
    current_advice,
    find_loop,
    find_objection,
    find_problem,
    record_objection,
    record_review,
    wants_objection,
)


def walked(*screens: str, calls: str = "") -> list[TakenStep]:
    """A path through these screens; what is done on each is named after it, or as `calls` has it."""
    names = calls or "".join(screens)
    return [
        TakenStep(call=call, before=screen, skill="click", says=f"Click {call}")
        for call, screen in zip(names, screens, strict=True)
    ]


def look(screen: str, call: str = "?") -> TakenStep:
    return TakenStep(call=call, before=screen, skill="peek", effect="read", says=f"Peek {call}")


# --- loops


@pytest.mark.parametrize("period", range(1, LONGEST_LOOP + 1))
def test_two_rounds_that_end_where_they_began_are_a_loop(period: int) -> None:
    path = walked(*"abcd"[:period] * 2)
    assert find_loop(path, "a") == period
    found = find_problem(path, "a")
    assert found is not None
    assert found.problem == "repetition"
    assert "Click a" in found.says
    assert find_loop(walked("x", "y") + path, "a") == period, "whatever came before"


def test_single_rounds_waiting_and_new_calls_are_not_a_loop() -> None:
    assert not find_loop([], "a")
    assert not find_loop(walked(*"a"), "a"), "once"
    assert not find_loop(walked(*"aba"), "b"), "once and a half"
    assert not find_loop(walked(*"abab"), "c"), "it led on"
    assert not find_loop(walked(*"aaaa", calls="wxyz"), "a"), "something else each time"
    assert not find_loop(walked(*"abcdeabcde"), "a"), "longer than anybody looks for"
    assert not find_loop([look("a"), look("a")], "a"), "waiting"


def test_a_loop_may_contain_a_look() -> None:
    assert find_loop([*walked("a"), look("b")] * 2, "a") == 2


def test_an_effect_that_happens_only_once_is_progress() -> None:
    path = walked(*"abab")
    sent = replace(path[1], effect="irreversible")
    assert find_problem([path[0], sent, path[0], sent], "a") is None
    assert find_problem([path[0], replace(sent, status="failed")] * 2, "a") is not None, "it did not happen"


# --- looks


def test_the_same_look_repeated_is_a_repetition() -> None:
    assert find_problem([look("a")] * (MOST_PROBES - 1), "a") is None
    found = find_problem([look("a")] * MOST_PROBES, "a")
    assert found is not None
    assert (found.problem, "Peek ?" in found.says) == ("repetition", True)
    assert find_problem([look(screen) for screen in "abcd"], "d") is None, "something else was to be seen each time"
    assert find_problem([*[look("a")] * MOST_PROBES, *walked("a")], "b") is None, "and now it acts"


# --- no progress


def test_steps_between_known_screens_are_no_progress() -> None:
    known = walked(*"abcde")
    wandering = [known[place] for place in (2, 0, 4, 1, 3, 2)]
    assert len(wandering) == IDLE_STEPS
    found = find_problem(known + wandering, "x")
    assert found is not None
    assert found.problem == "no_progress"
    assert find_problem([*known, *wandering[:-1], *walked("f")], "x") is None, "the last one was new"


def test_one_failure_after_another_is_no_progress() -> None:
    failing = [replace(one, status="failed", reason="broken") for one in walked(*"aaaaaa", calls="uvwxyz")]
    found = find_problem(failing, "a")
    assert found is not None
    assert (found.problem, "6 failed" in found.says) == ("no_progress", True)


def test_a_long_form_is_progress() -> None:
    assert find_problem(walked(*"a" * 12, calls="abcdefghijkl"), "a") is None


# --- a plan from here


def proposed(*calls: str, effect: Effect = "set_state") -> list[ProposedStep]:
    return [ProposedStep(call=call, skill="click", says=f"Click {call}", effect=effect) for call in calls]


def failed(screen: str, call: str, reason: str = "broken") -> TakenStep:
    return TakenStep(call=call, before=screen, skill="click", status="failed", reason=reason, says=f"Click {call}")


@pytest.mark.parametrize("period", range(1, LONGEST_LOOP + 1))
def test_the_last_step_of_a_second_round_is_objected_to(period: int) -> None:
    path = walked(*("abcd"[:period] * 2)[:-1])
    here = "abcd"[period - 1]
    found = find_objection(proposed(here), path, here)
    assert found is not None
    assert (found.problem, f"Click {here}" in found.says) == ("repetition", True)
    assert find_objection(proposed("x"), path, here) is None, "something else"
    assert find_objection(proposed(here), path, "y") is None, "on another screen"
    assert find_objection(proposed(here), path[1:], here) is None, "less than a round and the step of it"


def test_what_failed_on_this_screen_is_objected_to_until_something_worked() -> None:
    path = [failed("a", "go")]
    found = find_objection(proposed("go"), path, "a")
    assert found is not None
    assert (found.problem, "broken" in found.says) == ("repetition", True)
    assert find_objection(proposed("go"), path, "b") is None, "on another screen"
    assert find_objection(proposed("other"), path, "a") is None
    assert find_objection(proposed("go"), [*path, *walked("c")], "a") is None, "something has worked since"
    assert find_objection(proposed("go"), [*path, look("a")], "a") is not None, "a look changes nothing"


@pytest.mark.parametrize("reason", ["busy", "stale_target"])
def test_what_may_pass_is_objected_to_from_the_second_time_on(reason: str) -> None:
    once = [failed("a", "go", reason)]
    assert find_objection(proposed("go"), once, "a") is None
    assert find_objection(proposed("go"), once * 2, "a") is not None


def test_only_what_acts_on_this_screen_for_sure_is_looked_at() -> None:
    path = [failed("a", "go")]
    assert find_objection([*proposed("peek", effect="read"), *proposed("go")], path, "a") is not None
    assert find_objection(proposed("first", "go"), path, "a") is None, "the first may change it"


def test_the_same_look_for_the_fourth_time_is_objected_to() -> None:
    again = proposed("?", effect="read")
    assert find_objection(again, [look("a")] * (MOST_PROBES - 2), "a") is None
    assert find_objection(again, [look("a")] * (MOST_PROBES - 1), "a") is not None
    assert find_objection(again, [look("b")] * (MOST_PROBES - 1), "a") is None, "something else is to be seen"


def test_an_effect_that_happens_only_once_makes_the_next_round_another() -> None:
    first, sent, third = walked(*"aba")
    assert find_objection(proposed("b"), [first, sent, third], "b") is not None
    assert find_objection(proposed("b"), [first, replace(sent, effect="irreversible"), third], "b") is None


def test_it_is_silent_on_an_empty_path_and_on_an_empty_plan() -> None:
    assert find_objection(proposed("a", "b", "a", "b"), [], "a") is None
    assert find_objection([], walked(*"abab"), "a") is None


# --- whatever was done

steps = st.builds(
    TakenStep,
    call=st.sampled_from("uvw"),
    before=st.sampled_from("ab"),
    skill=st.just("click"),
    says=st.sampled_from(["", "Click", "x" * 400]),
    effect=st.sampled_from(["read", "set_state", "reversible", "irreversible"]),
    status=st.sampled_from(["ok", "failed", "no_effect", "unreachable", "unknown"]),
)
paths = st.lists(steps, max_size=16)


@given(paths, st.sampled_from("ab"))
def test_advice_is_short_and_reproducible(path: list[TakenStep], here: str) -> None:
    found = find_problem(path, here)
    assert found == find_problem(tuple(path), here)
    if found is not None:
        assert found.problem in ("repetition", "no_progress")
        assert 0 < len(found.says) <= LONGEST_ADVICE


@given(paths, st.lists(steps, min_size=1, max_size=LONGEST_LOOP))
def test_every_loop_is_found_whatever_came_before(before: list[TakenStep], turn: list[TakenStep]) -> None:
    turn = [replace(one, effect="set_state", status="ok") for one in turn]
    assert 0 < find_loop([*before, *turn, *turn], turn[0].before) <= len(turn)
    assert find_problem([*before, *turn, *turn], turn[0].before) is not None


@given(paths, st.sampled_from("ab"))
def test_a_reported_loop_repeats_its_last_steps(path: list[TakenStep], here: str) -> None:
    period = find_loop(path, here)
    if period:
        did = [(one.call, one.before) for one in path]
        assert did[-period:] == did[-2 * period : -period]
        assert path[-period].before == here
        assert any(one.effect != "read" for one in path[-period:])


@given(st.lists(steps, unique_by=lambda one: (one.call, one.before), max_size=6), st.sampled_from("abc"))
def test_it_is_silent_while_everything_is_new_and_works(path: list[TakenStep], here: str) -> None:
    assert find_problem([replace(one, status="ok") for one in path], here) is None


plans = st.lists(
    st.builds(
        ProposedStep,
        call=st.sampled_from("uvw"),
        skill=st.just("click"),
        says=st.sampled_from(["", "Click", "x" * 400]),
        effect=st.sampled_from(["read", "set_state", "irreversible"]),
    ),
    max_size=4,
)


@given(plans, paths, st.sampled_from("ab"))
def test_it_objects_only_to_what_is_done_again_on_this_screen(
    plan: list[ProposedStep], path: list[TakenStep], here: str
) -> None:
    found = find_objection(plan, path, here)
    assert found == find_objection(tuple(plan), tuple(path), here)
    if found is not None:
        assert found.problem == "repetition"
        assert 0 < len(found.says) <= LONGEST_ADVICE
        did = [one.call for one in path if one.before == here]
        assert len({*did, *(one.call for one in plan)}) < len(did) + len(plan), "something is there twice"


# --- what a run keeps of it


def run(**more: Any) -> Run:
    return replace(Run(id="r", counts=Counts(versions=3), next_id=20), **more)


def test_advice_is_for_the_next_plans_and_for_no_later_ones() -> None:
    advised = run(watch=record_review(run(), Advice(problem="error", says=" The wrong window ")))
    assert current_advice(advised) == Advice(problem="error", says="The wrong window")
    assert (advised.watch.since, advised.watch.spoken) == (20, 1)
    assert current_advice(replace(advised, counts=Counts(versions=2 + ADVICE_LASTS))) is not None
    assert current_advice(replace(advised, counts=Counts(versions=3 + ADVICE_LASTS))) is None


def test_an_objection_is_said_as_of_before_the_plan_and_leaves_the_path_to_be_reviewed() -> None:
    said = record_objection(run(), Advice(problem="error", says="No"))
    assert (said.version, said.said_at, said.since, said.spoken) == (0, 2, 20, 1)
    assert record_objection(run(), None) == run().watch


@pytest.mark.parametrize("setting", ["off", "path", "proposals"])
def test_plans_are_objected_to_only_where_that_is_wanted_and_nothing_new_was_said(setting: Monitors) -> None:
    watched = run(limits=Limits(monitor=setting))
    assert wants_objection(watched) is (setting == "proposals")
    assert not wants_objection(replace(watched, watch=record_objection(watched, Advice(problem="error", says="No"))))


def test_silence_changes_nothing_but_what_was_reviewed() -> None:
    assert record_review(run(), None) == replace(run().watch, version=4)
    assert record_review(run(), Advice(problem="error", says="  ")) == replace(run().watch, version=4)


def test_long_advice_is_cut() -> None:
    advice = record_review(run(), Advice(problem="error", says="x" * 5000)).advice
    assert advice is not None
    assert len(advice.says) == LONGEST_ADVICE
