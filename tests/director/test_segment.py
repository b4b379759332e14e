"""Segments: open, look, plan, perform the steps, and look again at the transition."""

from dataclasses import replace

import pytest

from midcourse.domain.argument import OutputValue
from midcourse.domain.budget import Cost
from midcourse.domain.commands import Act, Advise, CheckDone, MakePlan, Observe, OpenWorld
from midcourse.domain.events import Acted, Guided, Observed
from midcourse.domain.phases import Acting, BackingOff, Concluding, Looking, Opening, Planning
from midcourse.domain.run import FORMAT
from tests.harness import REPLAN_STEP, Drill, a_step, ref

ONE, TWO = a_step("one"), a_step("two")


# --- opening and looking


def test_a_run_opens_the_world_looks_for_free_and_plans() -> None:
    drill = Drill(look_calls=1).to_planning()
    assert [command.kind for command in drill.commands] == ["open_world", "observe", "make_plan"]
    assert drill.sent(Observe)[0].free
    assert drill.run.budget.spent.calls == 0
    command = drill.pending(MakePlan)
    assert (command.version, command.cause, command.seen) == (1, "initial", "o-f1")
    assert (command.stale, command.wrap_up) == (False, False)


def test_a_world_that_does_not_open_is_tried_again() -> None:
    drill = Drill(max_step_retries=2).starts().opens(False, detail="busy").waits().opens(False, detail="busy").waits()
    assert isinstance(drill.opens().phase, Looking)


def test_a_world_that_never_opens_ends_the_run() -> None:
    drill = Drill(max_step_retries=1).starts().opens(False, detail="busy").waits()
    assert drill.opens(False, detail="no display").ended == ("world_lost", "no display")


def test_a_world_that_can_never_open_ends_the_run_at_once() -> None:
    drill = Drill().starts().opens(False, invalid=True, detail="no such option")
    assert drill.ended == ("world_lost", "no such option")


def test_a_world_that_does_not_open_is_opened_again_without_a_delay_if_there_is_to_be_none() -> None:
    drill = Drill(retry_delay_seconds=0.0, max_retry_delay_seconds=0.0, max_step_retries=1).starts()
    assert isinstance(drill.opens(False, detail="no display").phase, Opening)
    assert drill.opens(False, detail="no display").ended == ("world_lost", "no display")


def test_a_first_look_is_tried_again_until_something_is_seen() -> None:
    drill = Drill().starts().opens().sees_nothing("empty")
    assert isinstance(drill.phase, BackingOff)
    drill.waits().sees("f1")
    assert isinstance(drill.phase, Planning)


def test_a_world_that_never_shows_anything_is_lost() -> None:
    drill = Drill(max_step_retries=2).starts().opens()
    for _ in range(2):
        drill.sees_nothing("failed", detail="black screen").waits()
    assert drill.sees_nothing("failed", detail="black screen").ended == (
        "world_lost",
        "nothing could be seen: black screen",
    )
    assert len(drill.sent(Observe)) == 3


def test_a_failed_look_keeps_what_was_seen_marked_stale() -> None:
    drill = Drill().to_acting(ONE, REPLAN_STEP).acts().sees_nothing()
    assert drill.run.seen is not None
    assert (drill.run.seen.fingerprint, drill.run.seen.stale) == ("f1", True)
    command = drill.pending(MakePlan)
    assert (command.seen, command.stale) == ("o-f1", True)


def test_a_lost_world_is_opened_again_and_gets_a_new_plan() -> None:
    drill = Drill().to_acting(ONE, REPLAN_STEP).acts().sees_nothing("world_lost")
    assert isinstance(drill.phase, Opening)
    drill.opens().sees("f0")
    assert drill.pending(MakePlan).version == 2
    drill.plans(TWO)
    assert isinstance(drill.phase, Acting)
    assert drill.run.counts.reopenings == 1


def test_a_world_that_is_lost_in_a_segment_gets_a_new_plan_that_says_so() -> None:
    drill = Drill().to_acting(ONE, TWO).acts("unknown", reason="world_lost", fingerprint=None)
    drill.opens().verifies("undecided").waits()
    assert drill.pending(MakePlan).cause == "reopened"
    assert drill.run.counts.replans == 1
    assert drill.run.counts.error_replans == 0


def test_a_world_is_not_opened_for_ever() -> None:
    drill = Drill(max_reopenings=1).to_acting(ONE, REPLAN_STEP).acts()
    drill.sees_nothing("world_lost").opens().sees_nothing("world_lost")
    assert drill.ended == ("world_lost", "the world was lost 2 times")
    assert len(drill.sent(OpenWorld)) == 2


# --- going through the steps


def test_steps_are_done_in_order_and_the_end_of_the_plan_is_the_end_of_the_run() -> None:
    drill = Drill().to_acting(ONE, TWO)
    assert drill.commands[-1].kind == "act"
    drill.acts().acts()
    assert drill.ended[0] == "plan_complete"
    assert not drill.run.verified
    counts = drill.run.counts
    assert (counts.steps, counts.executions, counts.completed, counts.versions) == (2, 2, 2, 1)


def test_replan_is_never_acted_on_but_looked_at_and_planned() -> None:
    drill = Drill().to_acting(ONE, REPLAN_STEP).acts("ok", fingerprint="f2")
    assert isinstance(drill.phase, Looking)
    drill.sees("f3")
    command = drill.pending(MakePlan)
    assert (command.cause, command.version, command.seen) == ("adaptive", 2, "o-f3")
    assert drill.run.counts.executions == 1


def test_a_goal_that_a_screen_shows_is_checked_before_the_planner_is_paid() -> None:
    drill = Drill(has_done_when=True).to_acting(ONE, REPLAN_STEP).acts(fingerprint="f2").sees("f2", meets_goal=True)
    assert isinstance(drill.phase, Concluding)
    assert len(drill.sent(MakePlan)) == 1
    assert drill.checks("met").ended[0] == "goal_reached"


def test_a_goal_that_is_not_met_after_all_leads_to_the_plan_and_is_not_checked_again() -> None:
    drill = Drill(has_done_when=True).to_acting(ONE, REPLAN_STEP).acts(fingerprint="f2").sees("f2", meets_goal=True)
    drill.checks("unmet", detail="a request has not been sent")
    assert drill.pending(MakePlan).cause == "adaptive"
    assert drill.run.counts.error_replans == 0
    assert len(drill.sent(CheckDone)) == 1


def test_a_goal_that_is_seen_after_a_failure_needs_no_other_plan() -> None:
    drill = Drill(has_done_when=True).to_acting(ONE, TWO).acts().acts("not_done", reason="permission", fingerprint=None)
    assert isinstance(drill.sees("f2", meets_goal=True).phase, Concluding)


@pytest.mark.parametrize("why", ["met at the start", "output", "guidance", "an earlier format"])
def test_a_goal_that_tells_too_little_is_left_to_the_planner(why: str) -> None:
    drill = Drill(has_done_when=True).starts().opens().sees("f1", meets_goal=why == "met at the start")
    if why == "output":
        drill.run = replace(drill.run, wants_data=True)
    if why == "an earlier format":
        drill.run = replace(drill.run, format=3)
    drill.plans(ONE, REPLAN_STEP)
    if why == "guidance":
        drill.tell(Guided(text="and another one"))
    drill.acts(fingerprint="f2").sees("f2", meets_goal=True)
    assert isinstance(drill.phase, Planning)


def test_a_transition_that_is_seen_is_an_extension_and_no_replan() -> None:
    drill = Drill().to_acting(ONE, REPLAN_STEP).acts().sees("f2")
    assert (drill.run.counts.extensions, drill.run.counts.replans) == (1, 0)


def test_a_transition_that_did_not_happen_counts_as_a_replan() -> None:
    drill = Drill().to_acting(ONE, REPLAN_STEP).acts().sees("f1")
    assert (drill.run.counts.extensions, drill.run.counts.replans) == (0, 1)
    stale = Drill().to_acting(ONE, REPLAN_STEP).acts("ok", fingerprint=None).sees_nothing()
    assert (stale.run.counts.extensions, stale.run.counts.replans) == (0, 1)


def calls(drill: Drill, *names: str, results: str = "") -> Drill:
    """A plan of one call for each name, in a world that shows nothing."""
    for name in names:
        seen = replace(ref("functions"), zones=0)
        drill.plans(a_step(name, "read"), REPLAN_STEP)
        drill.tell(Acted(answers=drill.pending(Act).id, seen=seen, results=results and f"{results} of {name}"))
        if drill.phase.kind == "looking":
            drill.tell(Observed(answers=drill.pending(Observe).id, seen=seen))
    return drill


def of_functions(number: int = FORMAT) -> Drill:
    drill = Drill(has_outliner=True, outline="auto", max_replans=2)
    drill.run = replace(drill.run, format=number)
    return drill.to_planning("functions")


def test_new_calls_of_functions_are_no_replans_although_nothing_is_shown() -> None:
    drill = calls(of_functions(), *(f"look up {number}" for number in range(7)))
    assert isinstance(drill.phase, Planning)
    assert (drill.run.counts.extensions, drill.run.counts.replans) == (7, 0)
    assert not drill.sent(Advise)


def test_the_same_call_again_is_a_replan_unless_its_result_is_new() -> None:
    polled = calls(of_functions(), "poll", "poll", results="a")
    assert (polled.run.counts.extensions, polled.run.counts.replans) == (1, 1)
    assert calls(polled, "poll", results="b").run.counts.extensions == 2
    assert calls(polled, "poll", "poll", results="b").ended[0] in ("replan_exhausted", "replan_no_change")


def test_runs_of_earlier_formats_count_as_they_did() -> None:
    assert calls(of_functions(3), "a", "b").run.counts.replans == 2


def seven_pages(drill: Drill) -> Drill:
    drill.to_planning("page0")
    for page in range(1, 7):
        drill.plans(ONE, REPLAN_STEP).acts("ok", fingerprint=f"page{page}")
        if drill.phase.kind == "looking":
            drill.sees(f"page{page}")
        if drill.phase.kind == "ended":
            return drill
    return drill.plans(ONE).acts()


def test_a_perfect_task_of_seven_pages_succeeds() -> None:
    drill = seven_pages(Drill())
    assert drill.ended[0] == "plan_complete"
    assert (drill.run.counts.versions, drill.run.counts.extensions, drill.run.counts.replans) == (7, 6, 0)


def test_seed_000_counts_extensions_and_stops_at_the_sixth() -> None:
    drill = seven_pages(Drill(count_extensions=True))
    assert drill.ended[0] == "replan_exhausted"
    assert drill.run.counts.extensions == 5


def test_segments_have_a_ceiling() -> None:
    drill = seven_pages(Drill(max_segments=3))
    assert drill.ended == ("budget_exhausted", "all 3 segments are used up")
    assert drill.run.counts.versions == 3


def test_looks_after_the_steps_of_a_final_plan_can_be_saved() -> None:
    steps = (ONE, a_step("order", "irreversible"), TWO, a_step("three"))
    drill = Drill(final_looks="last", approvals="never").to_acting(*steps)
    looks: list[bool] = []
    for step in steps:
        looks.append(drill.sent(type(drill.commands[-1]))[-1].look)  # pyrefly: ignore[missing-attribute]
        drill.acts(evidence="expectation" if step.effect == "irreversible" else "")
    assert looks == [False, True, False, True]


# --- what the planner answers


def test_the_planner_may_say_that_it_is_done() -> None:
    drill = Drill(approvals="never").to_acting(a_step("order", "irreversible"), REPLAN_STEP)
    drill.acts(evidence="expectation").sees("f2")
    assert drill.plans(verdict="done", detail="it is there").ended == ("plan_complete", "it is there")
    checked = Drill(has_done_when=True).to_planning().plans(verdict="done")
    assert isinstance(checked.phase, Concluding)


def test_a_planner_that_says_done_before_anything_was_done_is_asked_once_more() -> None:
    """Models say so too early, and a task that was done before the run can be told apart only by asking."""
    drill = Drill().to_planning().plans(verdict="done", detail="nothing to do")
    assert "nothing has been done in this run" in drill.pending(MakePlan).refused
    again = Drill().to_planning().plans(verdict="done").plans(verdict="done", detail="it is in the list")
    assert again.ended == ("plan_complete", "it is in the list")
    assert isinstance(drill.plans(a_step("open")).phase, Acting)
    garbled = Drill().to_planning().plans(verdict="garbage").plans(verdict="done")
    assert "nothing has been done in this run" in garbled.pending(MakePlan).refused


def test_a_planner_that_cannot_be_asked_again_is_believed() -> None:
    drill = Drill(max_calls=1).to_planning().plans(verdict="done", detail="nothing to do")
    assert drill.ended == ("plan_complete", "nothing to do")


def test_an_empty_first_plan_gets_one_error_replan_and_an_empty_replan_ends() -> None:
    drill = Drill().to_planning().plans()
    command = drill.pending(MakePlan)
    assert (command.cause, command.version) == ("error", 1)
    assert drill.run.counts.error_replans == 1
    assert drill.plans(detail="nothing fits").ended == ("empty_plan", "nothing fits")


@pytest.mark.parametrize("verdict", ["steps", "gave_up"])
def test_a_replan_without_steps_ends(verdict: str) -> None:
    drill = Drill().to_acting(ONE, REPLAN_STEP).acts().sees("f2").plans(verdict=verdict)
    assert drill.ended[0] == "empty_plan"
    assert drill.ended[1]


@pytest.mark.parametrize("verdict", ["refused", "garbage"])
@pytest.mark.parametrize(("allowed", "calls"), [(1, 2), (2, 3), (3, 4)])
def test_an_answer_that_is_no_plan_counts_as_an_error(verdict: str, allowed: int, calls: int) -> None:
    drill = Drill(max_error_replans=allowed).to_planning()
    for _ in range(calls):
        drill.plans(verdict=verdict, detail="no")
    reason, detail = drill.ended
    assert reason == "replan_exhausted"
    said = "cannot be used" if verdict == "garbage" else f"was {verdict}"
    assert detail == f"the planner's answer {said}: no"
    assert drill.run.counts.planner_calls == calls
    assert drill.run.counts.error_replans == allowed


def test_an_answer_that_is_put_right_when_asked_once_more_costs_no_error_replan() -> None:
    drill = Drill(max_error_replans=1).to_planning()
    drill.plans(verdict="garbage", detail="no").plans(ONE)
    assert (drill.run.counts.planner_calls, drill.run.counts.error_replans) == (2, 0)


def test_what_is_no_plan_is_asked_for_once_more_with_the_reason_and_a_reservation_of_its_own() -> None:
    drill = Drill(plan_tokens=100).to_planning().plans(verdict="garbage", detail="step 1 names no skill")
    again = drill.pending(MakePlan)
    assert (again.refused, again.version) == ("it could not be used: step 1 names no skill", 1)
    assert drill.run.budget.reserved == Cost(calls=1, tokens=100)
    assert (drill.run.counts.error_replans, drill.run.counts.refusals) == (0, 0)


def test_a_run_of_an_earlier_format_keeps_its_words_for_an_answer_that_is_no_plan() -> None:
    drill = Drill(max_error_replans=1)
    drill.run = replace(drill.run, format=2)
    drill.to_planning().plans(verdict="garbage", detail="no")
    assert drill.pending(MakePlan).refused == "it was not a plan: no"
    assert drill.plans(verdict="garbage", detail="no").run.counts.error_replans == 1


def test_impossible_stops_at_once_unless_told_not_to() -> None:
    drill = Drill().to_planning().plans(verdict="impossible", detail="no door")
    assert drill.ended == ("structural_failure", "the planner found it impossible: no door")
    patient = Drill(structural_stop=False).to_planning().plans(verdict="impossible")
    assert patient.pending(MakePlan).cause == "error"


def test_an_unreachable_planner_is_asked_again_and_never_counts_as_a_replan() -> None:
    drill = Drill(max_outage_seconds=10.0).to_planning()
    for wait in (2.0, 4.0, 2.0):
        drill.plans(verdict="transport", detail="503")
        assert isinstance(drill.phase, BackingOff)
        before = drill.now
        drill.waits()
        assert drill.now - before == wait
    ended = drill.plans(verdict="transport", detail="503").ended
    assert ended == ("outage", "the planner could not be reached for 11 s: 503")
    counts = drill.run.counts
    assert (counts.replans, counts.error_replans, counts.versions, counts.planner_calls) == (0, 0, 0, 4)


def test_a_planner_that_comes_back_is_asked_the_same_question() -> None:
    drill = Drill().to_acting(ONE).acts("failed", reason="rejected", detail="no").plans(verdict="transport").waits()
    first, second, third = drill.sent(MakePlan)
    assert (second.cause, second.why, second.version) == (third.cause, third.why, third.version)
    assert first.cause == "initial"


def test_advice_goes_to_every_plan_to_come_and_forces_none() -> None:
    drill = Drill().to_acting(ONE, REPLAN_STEP).tell(Guided(text="  use the menu "))
    assert isinstance(drill.phase, Acting)
    drill.acts().sees("f2")
    assert drill.pending(MakePlan).guidance == ("use the menu",)


def test_advice_is_kept_short() -> None:
    drill = Drill().starts()
    for n in range(12):
        drill.tell(Guided(text=f"{n} " + "x" * 900))
    drill.tell(Guided(text="   "))
    assert len(drill.run.guidance) == 10
    assert drill.run.guidance[-1].startswith("11 ")
    assert all(len(text) == 500 for text in drill.run.guidance)


def test_only_so_many_first_plans_keep_to_what_is_visible() -> None:
    drill = Drill(visible_plans=1).to_acting(ONE, REPLAN_STEP).acts().sees("f2")
    assert [command.beyond for command in drill.sent(MakePlan)] == [False, True]


# --- errors, replans and their ceilings


def fails_and_replans(drill: Drill, times: int) -> Drill:
    for n in range(times):
        if drill.phase.kind != "ended":
            drill.plans(a_step(f"try{n}")).acts("failed", reason="rejected", detail=f"no {n}")
    return drill


def test_error_replans_have_a_ceiling_of_their_own() -> None:
    drill = fails_and_replans(Drill().to_planning(), 9)
    assert drill.ended == ("replan_exhausted", "try3 failed: rejected — no 3")
    assert (drill.run.counts.error_replans, drill.run.counts.replans) == (3, 3)


def test_all_replans_share_one_ceiling() -> None:
    drill = fails_and_replans(Drill(max_replans=2, max_error_replans=9).to_planning(), 9)
    assert drill.ended[0] == "replan_exhausted"
    assert drill.run.counts.replans == 2


def test_every_replan_says_why() -> None:
    drill = fails_and_replans(Drill().to_planning(), 2)
    assert [command.why for command in drill.sent(MakePlan)] == [
        "",
        "try0 failed: rejected — no 0",
        "try1 failed: rejected — no 1",
    ]


# --- what a plan tells the user and the next plan

GIVEN = OutputValue(name="total", value=7)


def test_an_answer_that_does_not_fit_is_asked_for_once_more_and_then_taken() -> None:
    drill = Drill().to_planning().plans(ONE, mismatch="'data' lacks total")
    assert drill.pending(MakePlan).refused == "'data' lacks total"
    assert drill.plans(ONE, answer="7", mismatch="'data' lacks total").acts().ended


def test_without_a_call_for_another_answer_the_first_is_taken() -> None:
    drill = Drill(max_calls=1).to_planning().plans(ONE, mismatch="'data' lacks total")
    assert drill.pending(Act)


def test_a_planner_that_returns_data_before_anything_was_done_is_believed() -> None:
    drill = Drill().to_planning().plans(verdict="done", answer="It is 7.", data=(GIVEN,))
    assert drill.ended
    assert (drill.run.answer, drill.run.given) == ("It is 7.", (GIVEN,))


def test_a_note_goes_to_the_next_call_and_values_stay() -> None:
    drill = Drill().to_planning().plans(ONE, REPLAN_STEP, note="page 2 is next", data=(GIVEN,), answer="so far")
    drill = drill.acts().sees("f2")
    assert drill.pending(MakePlan).note == "page 2 is next"
    drill = drill.plans(verdict="garbage")
    assert drill.pending(MakePlan).note == "page 2 is next"
    drill = drill.plans(TWO, REPLAN_STEP).acts().sees("f3")
    assert (drill.pending(MakePlan).note, drill.run.given) == ("", (GIVEN,))


# --- steps for a screen that was not seen when they were planned


def test_a_step_for_the_next_screen_is_tried_twice_and_then_planned_again_without_a_failure() -> None:
    held = replace(a_step("save"), on="Rename *")
    drill = Drill(final_looks="last").to_acting(a_step("go", transition=True), held)
    assert drill.pending(Act).look, "it is held until the screen was seen"
    drill.acts(fingerprint="next")
    other = {"reason": "other_screen", "detail": "save (elsewhere)", "dispatched": False, "looked": False}
    drill.acts("unreachable", **other)
    assert drill.pending(Observe).settle, "the screen may still be loading"
    drill.sees("next").acts("unreachable", **other)
    made = drill.pending(MakePlan)
    assert (made.cause, made.why, made.failure) == ("adaptive", "not done: save (elsewhere)", None)
    assert (drill.run.attempts, drill.run.counts.error_replans, drill.run.counts.extensions) == ((), 0, 1)


def test_no_other_step_can_claim_that_its_screen_did_not_come() -> None:
    drill = Drill().to_acting(a_step("one")).acts("unreachable", reason="other_screen")
    assert drill.pending(MakePlan).cause == "error"
