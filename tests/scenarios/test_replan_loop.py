"""Seed 004: the replan loop. A skill fails, the planner is told why, and plans again, where that can help."""

import json
import re

import pytest

from midcourse.domain.expectation import Expectation, TextContains
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.history.journal import result_json
from midcourse.planners import Playbook, Rule, SamePlan
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import FakeClock, Scripted
from midcourse.worlds.base import BaseWorld, Scene, Zone, failed, skill
from midcourse.worlds.simulated import Arm, Fault
from tests.scenarios.stage import FunctionPlanner, Played, Stage, example, pick, plan

IN_REACH = {"objects": "red_cube=0.45,0.10"}
IK = r"IK did not converge in 400 iters \(pos_err=0\.3450m > tol=0\.001m\)"


async def the_demo() -> Played:
    """As in the seed: nothing tells a structural failure apart, and nothing refuses the same plan."""
    return await example("unreachable_cube", replan_admission=False, structural_stop=False, max_error_replans=2).play()


# --- Run the demo


async def test_three_plan_execute_cycles_then_replan_exhausted() -> None:
    played = await the_demo()
    assert [phase for phase in played.phases if phase in ("planning", "acting")] == ["planning", "acting"] * 3
    assert played.ended == (False, False, "replan_exhausted")
    assert (played.result.replans, played.result.steps, played.result.executions) == (2, 3, 3)


async def test_the_verdict_has_the_arms_own_words() -> None:
    played = await the_demo()
    assert re.fullmatch(f"pick failed: unreachable — {IK}", played.result.final_detail)
    written = json.loads(result_json(played.result))
    assert (written["replans"], written["final_reason"]) == (2, "replan_exhausted")
    assert written["final_detail"] == played.result.final_detail
    assert written["attempts"][0]["arguments"] == {"object": "red_cube"}


async def test_under_the_defaults_it_ends_after_one_execution() -> None:
    """A cube out of reach stays out of reach: told apart, and stopped early."""
    played = await example("unreachable_cube").play()
    assert played.ended == (False, False, "structural_failure")
    assert (played.result.executions, played.result.replans, played.result.planner_calls) == (1, 1, 2)
    assert re.fullmatch(
        f"pick failed: unreachable — {IK}; the planner, asked once for another way, planned it again",
        played.result.final_detail,
    )


async def test_a_way_that_the_goal_names_is_taken_after_a_structural_failure() -> None:
    """'Pick up the red cube. If it cannot be reached, pick up the blue cube.'"""
    answers = Scripted(plan(pick("red_cube"), final=True), plan(pick("blue_cube"), final=True))
    far = {"objects": "red_cube=1.20,0.00 blue_cube=0.45,0.10"}
    stage = example("unreachable_cube", planner=answers, options=far)
    played = await stage.play()
    assert [one.values for one in stage.effects] == [{"object": "blue_cube"}]
    assert [attempt.arguments for attempt in played.contexts[1].attempts] == [(("object", "red_cube"),)]
    recovery = played.contexts[1].recovery
    assert recovery is not None
    assert recovery.fix.message.startswith("Plan another way that the task itself names or allows, without this step")
    assert recovery.failed is not None
    assert re.fullmatch(IK, recovery.failed.detail)


async def test_even_without_the_structural_stop_the_same_plan_is_not_executed_twice() -> None:
    played = await example("unreachable_cube", structural_stop=False).play()
    assert played.ended == (False, False, "replan_no_change")
    assert (played.result.executions, played.result.planner_calls) == (1, 3)
    assert "pick" in played.result.final_detail
    assert "unreachable" in played.result.final_detail


@pytest.mark.parametrize("most", [0, 1, 3])
async def test_the_number_of_replans_is_a_setting(most: int) -> None:
    stage = example("unreachable_cube", replan_admission=False, structural_stop=False, max_error_replans=most)
    played = await stage.play()
    assert (played.result.replans, played.result.steps) == (most, most + 1)


# --- What the planner sees on replan


async def test_all_prior_attempts_are_given_to_the_planner_on_every_later_call() -> None:
    played = await the_demo()
    assert [len(context.attempts) for context in played.contexts] == [0, 1, 2]
    for attempt in played.contexts[-1].attempts:
        assert (attempt.skill, attempt.arguments, attempt.reason) == ("pick", (("object", "red_cube"),), "unreachable")
        assert re.fullmatch(IK, attempt.detail)


def choosy(context: PlanningContext) -> PlanDraft:
    """Tries the names it knows, in order, and none that failed."""
    tried = [dict(attempt.arguments)["object"] for attempt in context.attempts]
    names = [name for name in ("crimson_cube", "red_block", "red_cube") if name not in tried]
    return plan(pick(names[0]), final=True)


async def test_object_not_found_leads_to_another_object() -> None:
    stage = example("unreachable_cube", planner=FunctionPlanner(choosy), options=IN_REACH)
    played = await stage.play()
    assert played.ended == (True, True, "goal_reached")
    assert [one.values for one in stage.effects] == [{"object": "red_cube"}]
    assert [(a.reason, a.detail) for a in played.contexts[2].attempts] == [
        ("object_not_found", "perception returned zero matches for 'crimson_cube'"),
        ("object_not_found", "perception returned zero matches for 'red_block'"),
    ]
    assert played.result.replans == 2


async def test_a_planner_that_repeats_itself_is_told_so_once_for_each_failure() -> None:
    names = ("crimson_cube", "crimson_cube", "red_block", "red_block", "red_cube")
    answers = Scripted(*(plan(pick(name), final=True) for name in names))
    played = await example("unreachable_cube", planner=answers, options=IN_REACH).play()
    assert played.ended == (True, True, "goal_reached")
    refusal = "step 1 (pick) failed before, and nothing has changed since"
    assert [context.refused for context in played.contexts] == ["", "", refusal, "", refusal]
    assert played.result.executions == 3


async def test_a_planner_may_give_up_instead() -> None:
    answers = Scripted(plan(pick("crimson_cube")), PlanDraft(verdict="gave_up", detail="there is no other red thing"))
    played = await example("unreachable_cube", planner=answers, options=IN_REACH).play()
    assert played.ended == (False, False, "empty_plan")
    assert played.result.final_detail == "there is no other red thing"


async def test_a_planner_may_find_the_task_impossible() -> None:
    rules = [Rule(on="Robot cell", impossible="the cube is 1.2 m away and the arm reaches 0.855 m")]
    played = await example("unreachable_cube", planner=Playbook(rules)).play()
    assert played.ended == (False, False, "structural_failure")
    assert "1.2 m away" in played.result.final_detail
    assert played.result.executions == 0


# --- When the loop helps and when it does not


class SlipperyArm(Arm):
    """Its gripper loses what it grasped, `slips` times."""

    name = "arm"
    slips = 1

    @skill(effect="reversible", undo="place")
    def pick(self, object: str) -> Outcome | None:  # noqa: A002
        """Pick up a thing by its name."""
        if self.slips:
            self.slips -= 1
            return failed("grasp_slipped", f"'{object}' slid out of the gripper")
        return super().pick(object)


async def test_a_grasp_that_slips_is_transient_and_recovers() -> None:
    stage = example("unreachable_cube", world=SlipperyArm, options=IN_REACH)
    played = await stage.play()
    assert played.ended == (True, True, "goal_reached")
    assert (played.result.executions, played.result.steps) == (2, 1)
    assert [attempt.reason for attempt in played.result.attempts] == ["grasp_slipped"]


async def test_bad_arguments_from_a_planner_that_always_emits_the_same_are_not_tried_again() -> None:
    minus_one = Draft(zone="product_chair", skill="set_quantity", arguments=(("quantity", -1),))
    played = await example("order", planner=SamePlan([minus_one])).play()
    assert played.ended == (False, False, "replan_no_change")
    assert (played.result.executions, played.result.planner_calls) == (1, 3)
    assert "bad_arguments" in played.result.final_detail


def learns_what_is_missing(context: PlanningContext) -> PlanDraft:
    arguments = (("object", "red_cube"),) if "missing argument: 'object'" in context.why else ()
    return plan(Draft(zone=GLOBAL, skill="pick", arguments=arguments), final=True)


async def test_arguments_that_do_not_fit_never_reach_the_arm_and_the_planner_is_told() -> None:
    stage = example("unreachable_cube", planner=FunctionPlanner(learns_what_is_missing), options=IN_REACH)
    played = await stage.play()
    assert played.ended == (True, True, "goal_reached")
    assert (played.result.executions, played.result.replans) == (1, 1)


def unreachable_api(_: PlanningContext) -> PlanDraft:
    raise ConnectionError("429 Too Many Requests")


async def test_a_planner_that_cannot_be_reached_is_no_reason_to_replan() -> None:
    """Asked again after a wait, for as long as an outage may last. That the model is away says nothing about the plan."""
    stage = example("unreachable_cube", planner=FunctionPlanner(unreachable_api), max_outage_seconds=14)
    played = await stage.play()
    assert played.ended == (False, False, "outage")
    assert "429 Too Many Requests" in played.result.final_detail
    assert (played.result.replans, played.result.planner_calls, played.result.budget.calls) == (0, 4, 0)
    assert played.result.wall_seconds == 2 + 4 + 8


async def test_a_planner_that_comes_back_costs_no_replan() -> None:
    answers = Scripted(PlanDraft(verdict="transport", detail="429"), plan(pick("red_cube"), final=True))
    played = await example("unreachable_cube", planner=answers, options=IN_REACH).play()
    assert played.ended == (True, True, "goal_reached")
    assert (played.result.replans, played.result.planner_calls) == (0, 2)


# --- Skill-side contract


class VagueArm(Arm):
    """Says no more than that something went wrong."""

    name = "arm"

    @skill(effect="reversible", undo="place")
    def pick(self, object: str) -> Outcome | None:  # noqa: A002
        """Pick up a thing by its name."""
        return Outcome(status="failed", reason="error")


async def test_reason_and_detail_reach_planner_and_result_as_the_skill_gave_them() -> None:
    answers = Scripted(plan(pick("blue_cup")), plan())
    good = await example("unreachable_cube", planner=answers).play()
    (attempt,) = good.result.attempts
    assert (attempt.reason, attempt.detail) == ("object_not_found", "perception returned zero matches for 'blue_cup'")
    bad = await example("unreachable_cube", world=VagueArm, planner=Scripted(plan(pick("blue_cup")), plan())).play()
    (attempt,) = bad.contexts[1].attempts
    assert (attempt.reason, attempt.detail) == ("error", "")


@pytest.mark.parametrize(
    ("thing", "fault", "executions", "ends"),
    [
        ("far_cube", [], 1, "structural_failure"),
        ("blue_cup", [], 1, "empty_plan"),
        ("red_cube", [Fault(kind="transient")], 2, "plan_complete"),
    ],
    ids=["unreachable stops", "object_not_found is planned around", "busy is waited for"],
)
async def test_failure_modes_are_told_apart_by_their_reason(
    thing: str, fault: list[Fault], executions: int, ends: str
) -> None:
    clock = FakeClock()
    arm = Arm(objects="far_cube=1.2,0.0 red_cube=0.45,0.10", faults=fault, clock=clock)
    played = await Stage(world=arm, planner=Scripted(plan(pick(thing), final=True), plan()), clock=clock).play()
    assert (played.result.executions, played.result.final_reason) == (executions, ends)


# --- another control of the same name


OFFLINE = "A network error occurred"


class Editor(BaseWorld):
    """Its button 'Publish' only opens a dialog, which has a button 'Publish' of its own."""

    def __init__(self, *, works: bool = True) -> None:
        super().__init__()
        self.clicked: list[str] = []
        self._works = works

    def look(self) -> Scene:
        if self._works and "own" in self.clicked:
            return Scene("Editor", Zone(id="t", role="text", label="The page was published"))
        publish = Zone(id="menu", role="button", label="Publish")
        if not self.clicked:
            return Scene("Editor", publish)
        own = Zone(id="own", role="button", label="Publish", state={"within": OFFLINE})
        return Scene("Editor", publish, Zone(id="dialog", role="dialog", label=OFFLINE), own)

    @skill(transition=True)
    def click(self, zone: Zone) -> None:
        self.clicked.append(zone.id)


def publish(zone: str) -> PlanDraft:
    published = Expectation(checks=(TextContains(text="was published"),))
    return PlanDraft(steps=(Draft(zone=zone, skill="click", expect=published),), final=True)


async def test_a_button_of_a_dialog_that_a_failed_step_opened_may_be_clicked() -> None:
    world = Editor()
    played = await Stage(world=world, planner=Scripted(publish("menu"), publish("own"))).play()
    assert played.result.success
    assert world.clicked == ["menu", "own"]
    assert played.result.planner_calls == 2


async def test_neither_of_two_buttons_of_one_name_is_clicked_twice_if_it_failed() -> None:
    world = Editor(works=False)
    again = (publish("menu"), publish("own"), publish("own"), publish("menu"))
    played = await Stage(world=world, planner=Scripted(*again), settings={"max_step_retries": 0}).play()
    assert not played.result.success
    assert world.clicked == ["menu", "own"]
