"""Complaints of users of other tools, thread by thread. None of them may happen here."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from midcourse.director.decide import decide
from midcourse.domain.budget import Cost
from midcourse.domain.expectation import Expectation, SurfaceMatches
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.domain.task import Task
from midcourse.planners import Playbook, Rule, SamePlan
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.ports.world import Call
from midcourse.store.sqlite import SqliteStore
from midcourse.testing import Approves, Posts, Rejects
from midcourse.worlds.base import BaseWorld, Outcome, Scene, Zone, skill
from midcourse.worlds.simulated import Arm, Desktop, Fault, Shop
from tests.scenarios.stage import (
    AGAIN,
    RUN,
    FunctionPlanner,
    Post,
    Stage,
    click,
    crash,
    endless_stage,
    example,
    keep_session,
    letter,
    pick,
    plan,
    press,
    type_text,
    without_evidence,
)

recovery = pytest.mark.recovery
"""Concerns planning again or approval."""

DEAD_ICON = click("icon_browser", expect=Expectation(checks=(SurfaceMatches(pattern="Browser"),)))
"""A click that nothing comes of."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "runs.db")
    yield store
    store.close()


# --- loops


@recovery
async def test_browser_use_3576_and_1157_a_looping_step_ends_early_and_says_why() -> None:
    """Theirs ran to the step limit, at about three dollars, and logged no error."""
    played = await example("notepad", planner=SamePlan([DEAD_ICON])).play()
    assert played.ended == (False, False, "replan_no_change")
    assert (played.result.executions, played.result.planner_calls) == (4, 3)
    assert "click failed: no_effect — nothing changed" in played.result.final_detail
    assert len(played.result.attempts) == 4


@recovery
async def test_mobilerun_84_the_same_plan_is_not_carried_out_until_the_step_limit() -> None:
    played = await example("unreachable_cube", planner=SamePlan([pick("blue_cup"), pick("red_cube")])).play()
    assert played.ended == (False, False, "replan_no_change")
    assert played.result.executions == 1


@recovery
async def test_loopx_3084_repeating_a_blocker_is_no_successful_replan() -> None:
    """The refused plans never became plans, and count as refused."""
    played = await example("unreachable_cube", structural_stop=False).play()
    assert (played.result.budget.segments, played.final_run.counts.refusals) == (1, 2)
    assert played.ended == (False, False, "replan_no_change")


@recovery
async def test_copilot_cli_3156_plans_without_work_come_to_an_end() -> None:
    """217 cycles of plan, compact, replan, and no work. Looking at the screen does not count as work either."""
    read = Draft(zone=GLOBAL, skill="visit", arguments=(("day", 1),))
    for planner, most in ((SamePlan([AGAIN]), 4), (SamePlan([read, AGAIN]), 6)):
        played = await Stage(world=Post(), planner=planner).play()
        assert played.ended == (False, False, "replan_exhausted")
        assert played.result.planner_calls == most


@recovery
async def test_navigation2_2804_nothing_is_replanned_while_the_plan_holds() -> None:
    """Their robot oscillated between plans that were all fine. Ours are made when a transition is due or a step failed."""
    steps = [press("Win"), *(type_text(letter) for letter in "notepad"), press("Escape")]
    played = await Stage(world=Desktop(), planner=SamePlan(steps, final=True)).play()
    assert played.ended == (True, False, "plan_complete")
    assert (played.result.steps, played.result.planner_calls) == (9, 1)


@recovery
async def test_agent_framework_7595_an_empty_result_is_a_result() -> None:
    """No orders is what there is to find; theirs replanned forever because nothing came back."""
    rules = [
        Rule(on="Your orders", done=True),
        Rule(steps=(Draft(zone=GLOBAL, skill="go", arguments=(("page", "orders"),)), AGAIN)),
    ]
    played = await Stage(world=Shop(), planner=Playbook(rules), task=Task(goal="Are there open orders?")).play()
    assert played.result.success
    assert (played.result.planner_calls, played.result.budget.replans) == (2, 0)


class Archive(BaseWorld):
    """Nothing in it."""

    def look(self) -> Scene:
        return Scene("Archive", Zone(id="box", role="textbox", label="Search"))

    @skill(effect="read")
    def search(self, zone: Zone, text: str) -> dict[str, str]:
        return {}


@recovery
async def test_agent_framework_7595_a_search_that_finds_nothing_went_well() -> None:
    search = Draft(zone="box", skill="search", arguments=(("text", "unicorn"),))
    played = await Stage(world=Archive(), planner=SamePlan([search], final=True)).play()
    assert played.ended == (True, False, "plan_complete")
    assert (played.result.data, played.result.executions, played.result.planner_calls) == ((), 1, 1)


@recovery
async def test_openhands_11431_stopping_a_loop_keeps_everything_that_was_done() -> None:
    """Steps that go well before the one that does not do not excuse going round forever, and none of it is lost."""
    stage = example("notepad", planner=SamePlan([press("Win"), press("Escape"), DEAD_ICON]))
    played = await stage.play()
    assert played.ended == (False, False, "replan_no_change")
    assert (played.completed, len(played.result.attempts)) == (["Press Win", "Press Escape"] * 3, 4)
    assert len(await stage.store.journal(RUN)) == len(played.turns)


def stuck_until_guided(context: PlanningContext) -> PlanDraft:
    step = press("Win") if "Use the keyboard" in context.guidance else DEAD_ICON
    return plan(step, final=True)


@recovery
async def test_openhands_5480_a_person_can_show_the_way_out_of_a_loop() -> None:
    stage = example("notepad", planner=FunctionPlanner(stuck_until_guided))
    stage = replace(stage, task=Task(goal="Open the start menu"))
    live = stage.start()
    await stage.reach(live, "backing_off")
    live.guide("Use the keyboard")
    played = await stage.watch_to_end(live)
    assert played.ended == (True, False, "plan_complete")
    assert (played.completed, played.result.replans) == (["Press Win"], 1)


# --- ceilings


async def test_browser_use_230_tokens_money_and_time_have_ceilings() -> None:
    dear = Cost(calls=1, tokens=1000, microusd=30_000)
    costs = {"plan_tokens": 1000, "plan_cost_usd": 0.03}
    for stage in (
        endless_stage(dear, max_tokens=5000, **costs),
        endless_stage(dear, max_cost_usd=0.1, **costs),
        endless_stage(act_seconds=10.0, max_wall_seconds=60.0),
    ):
        played = await stage.play()
        assert played.ended == (False, False, "budget_exhausted")
        assert played.result.planner_calls <= 7


# --- the same effect twice


async def crashed_while_ordering(stage: Stage, *, stored: bool) -> None:
    """The process dies after the order was sent: before the shop has stored it, or right after."""
    live = stage.start()
    await stage.reach_dispatch(live)
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(stage.effects) == stored
    await crash(live)


@recovery
@pytest.mark.parametrize("session", ["kept", "lost"])
@pytest.mark.parametrize("stored", [True, False])
async def test_agent_framework_3938_a_retry_after_a_crash_does_not_send_again(
    disk: SqliteStore, stored: bool, session: str
) -> None:
    late = [Fault(kind="done_but_timeout", skill="place_order", seconds=60.0)] if stored else []
    world = partial(keep_session, Shop) if session == "kept" else Shop
    slow = {} if stored else {"act_seconds": 60.0}
    stage = replace(example("order", world=world, faults=late, options=slow), store=disk)
    await crashed_while_ordering(stage, stored=stored)
    played = await stage.resume()
    assert len(stage.effects) == 1
    assert played.ended == (True, True, "goal_reached")


@recovery
async def test_langgraph_7780_a_question_does_not_repeat_what_was_done_before_it(disk: SqliteStore) -> None:
    """The process dies while a person is asked. The question is put again; the form is not filled in again."""
    person = Posts()
    stage = replace(
        example("order", world=partial(keep_session, Shop), approver=person, approvals="always"), store=disk
    )
    live = stage.start()
    await stage.reach(live, "asking")
    await crash(live)
    stage = replace(stage, approver=Approves())
    played = await stage.resume()
    assert played.ended == (True, True, "goal_reached")
    assert len(stage.effects) == 1
    assert sorted(played.completed) == sorted(set(played.completed))


@recovery
async def test_gsd_2_4378_what_was_used_up_stays_used_up_after_a_restart(disk: SqliteStore) -> None:
    """Their stuck counter was reset by every restart: 292 dispatches in four days."""
    settings = {"replan_admission": False, "structural_stop": False, "max_error_replans": 2}
    stage = replace(example("unreachable_cube", world=partial(keep_session, Arm), **settings), store=disk)
    live = stage.start()
    for _ in range(3):
        await stage.reach(live, "planning")
        await crash(live)
        live = stage.agent.pick_up(RUN)
        await stage.reach(live, "acting")
    played = await stage.watch_to_end(live)
    assert played.ended == (False, False, "replan_exhausted")
    assert (played.result.executions, played.result.replans) == (3, 2)
    assert len(played.result.attempts) == 3


@recovery
async def test_qpilot_8_a_save_that_reports_a_time_out_is_not_made_again() -> None:
    """Theirs made four records of one."""
    faults = [Fault(kind="done_but_timeout", skill="place_order", times=4, seconds=30.0)]
    stage = example("order", faults=faults)
    assert (await stage.play()).ended == (True, True, "goal_reached")
    assert len(stage.effects) == 1


class HangingShop(Shop):
    """Stores the order and never answers."""

    name = "shop"

    async def act(self, call: Call) -> Outcome:
        outcome = await super().act(call)
        if call.skill == "place_order":
            await asyncio.Event().wait()
        return outcome


@recovery
async def test_qpilot_8_a_save_that_never_answers_is_not_made_again() -> None:
    stage = example("order", world=HangingShop, act_timeout_seconds=0.05)
    assert (await stage.play()).ended == (True, True, "goal_reached")
    assert len(stage.effects) == 1


# --- approvals, success and history


def every_day(context: PlanningContext) -> PlanDraft:
    """Goes to the post office, which is closed at first, and has a letter to send."""
    day = len(context.attempts)
    return plan(Draft(zone=GLOBAL, skill="visit", arguments=(("day", day),)), letter("Ada"), final=True)


@recovery
async def test_multi_agent_custom_automation_engine_1062_a_replan_does_not_ask_for_the_same_approval_again() -> None:
    post, person = Post(closed=3), Approves(doubt="happened")
    played = await Stage(world=post, planner=FunctionPlanner(every_day), approver=person).play()
    assert (played.result.replans, post.letters) == (3, ["Ada"])
    assert [question.about for question in person.questions] == ["approve", "happened"]


def forgets_the_address(rule: Rule) -> Rule:
    return replace(rule, steps=tuple(step for step in rule.steps if step.says != "Fill in the address"))


@recovery
@pytest.mark.parametrize("done_when", [True, False])
@pytest.mark.parametrize("lacking", [(), ("probe",), ("absent_when",), ("probe", "absent_when")], ids="-".join)
async def test_ai_manus_254_a_form_that_was_turned_down_is_no_success(
    lacking: tuple[str, ...], done_when: bool
) -> None:
    """The shop wants an address. Whatever there is to tell by, and if there is nothing at all, this is not success."""
    stage = example(
        "order", rules=lambda rules: map(forgets_the_address, without_evidence(rules, *lacking)), approver=Rejects()
    )
    if not done_when:
        stage = replace(stage, task=replace(stage.task, done_when=None))
    played = await stage.play()
    assert stage.effects == ()
    assert not played.result.success


async def test_browser_use_3044_the_history_is_complete(disk: SqliteStore) -> None:
    """From its first state and its journal alone, the run comes out the same: nothing happened that is not in there."""
    faults = [Fault(kind="stored_but_error"), Fault(kind="look_fails", nth=3), Fault(kind="zone_moves", skill="fill")]
    stage = replace(example("order", faults=faults), store=disk)
    await stage.play()
    run = await disk.initial_state(RUN)
    for row in await disk.journal(RUN):
        run, commands = decide(run, row.event)
        assert commands == row.commands
    assert run == (await disk.load(RUN))[0]


@recovery
@pytest.mark.parametrize("skill", ["set_quantity", "fill", "place_order", "read_order"])
async def test_browser_use_218_a_page_that_changes_is_planned_for_again(skill: str) -> None:
    stage = example("order", faults=[Fault(kind="zone_moves", skill=skill)])
    assert (await stage.play()).ended == (True, True, "goal_reached")
    assert len(stage.effects) == 1
