"""Seed 000, section 3: the `__replan__` step. A plan ends where nothing is known yet about what follows."""

from dataclasses import replace

from midcourse.domain.commands import Act, MakePlan, Observe
from midcourse.domain.events import Acted
from midcourse.domain.plan import GLOBAL, REPLAN, Draft
from midcourse.perform import Performer
from midcourse.planners import Rule, SamePlan
from midcourse.testing import Scripted
from tests.scenarios.stage import AGAIN, RUN, click, example, plan, press, type_text


def forgetful(rules: tuple[Rule, ...]) -> list[Rule]:
    """The planner leaves `__replan__` out."""
    return [replace(rule, steps=tuple(step for step in rule.steps if step.zone != REPLAN)) for rule in rules]


async def test_a_replan_step_is_never_sent() -> None:
    played = await example("notepad").play()
    sentinels = {(step.version, step.index) for plan in played.plans for step in plan.steps if step.zone == REPLAN}
    assert len(sentinels) == 2
    assert sentinels.isdisjoint((act.version, act.index) for act in played.sent)


async def test_a_replan_step_leads_to_a_look_and_a_new_plan() -> None:
    played = await example("notepad").play()
    commands = [command for turn in played.turns for command in turn.commands]
    (second,) = [n for n, command in enumerate(commands) if isinstance(command, MakePlan) and command.version == 2]
    before, planning, after = commands[second - 1], commands[second], commands[second + 1]
    assert isinstance(before, Observe)
    assert isinstance(planning, MakePlan)
    assert planning.seen == f"o{before.id}"
    assert isinstance(after, Act)
    assert (after.version, after.index) == (2, 0)


async def test_a_missing_replan_step_is_inserted() -> None:
    played = await example("notepad", rules=forgetful).play()
    assert played.ended == (True, True, "goal_reached")
    assert [len(plan.steps) for plan in played.plans] == [4, 4, 5]
    inserted = "__replan__ inserted after step 3, which may change the screen"
    assert [plan.repairs for plan in played.plans] == [(inserted,), (inserted,), ()]


async def test_a_skill_that_usually_changes_the_screen_needs_nobody_to_say_so() -> None:
    """The planner's word counts, then the skill's: keys change nothing unless the planner says so."""
    go = Draft(zone=GLOBAL, skill="go", arguments=(("page", "basket"),))
    silent = await example("order", planner=Scripted(plan(go), plan())).play()
    assert [step.zone for step in silent.plans[0].steps] == [GLOBAL, REPLAN]
    denied = await example("order", planner=Scripted(plan(replace(go, transition=False)), plan())).play()
    assert [step.zone for step in denied.plans[0].steps] == [GLOBAL]
    keys = await example("notepad", planner=Scripted(plan(press("Win")), plan())).play()
    assert [step.zone for step in keys.plans[0].steps] == [GLOBAL]


async def test_the_last_step_of_a_final_plan_needs_none() -> None:
    played = await example("notepad").play()
    last = played.plans[-1]
    assert last.final
    assert last.steps[-1].transition
    assert last.steps[-1].zone != REPLAN


async def test_a_fixed_plan_through_unseen_zones_is_cut_at_the_first_transition() -> None:
    """The stale plan problem of section 1: everything from the start, for screens that are not there yet."""
    whole_task = plan(
        press("Win"),
        type_text("notepad"),
        press("Enter", transition=True),
        click("editor"),
        type_text("Hello"),
        click("btn_save"),
    )
    stage = example("notepad", planner=Scripted(whole_task, plan()))
    played = await stage.play()
    first = played.plans[0]
    assert [step.says for step in first.steps[:-1]] == ["Press Win", "Type notepad", "Press Enter"]
    assert first.steps[-1].zone == REPLAN
    assert first.repairs == (
        "__replan__ inserted after step 3, which may change the screen",
        "3 steps after it dropped: that screen was not observed yet",
    )


async def test_steps_on_zones_that_are_not_there_are_dropped() -> None:
    stage = example("notepad", planner=Scripted(plan(click("btn_save"), press("Win"), AGAIN), plan()))
    played = await stage.play()
    assert [step.zone for step in played.plans[0].steps] == [GLOBAL, REPLAN]
    assert played.plans[0].repairs == ("step 1 (click) dropped: zone 'btn_save' is not visible",)


async def test_steps_behind_a_replan_step_are_dropped() -> None:
    stage = example("notepad", planner=Scripted(plan(press("Win"), AGAIN, press("Escape")), plan()))
    played = await stage.play()
    assert [step.zone for step in played.plans[0].steps] == [GLOBAL, REPLAN]
    assert played.completed == ["Press Win"]


async def test_a_plan_of_a_replan_step_only_is_refused() -> None:
    """Otherwise a planner could look and plan forever without doing anything."""
    stage = example("notepad", planner=SamePlan([AGAIN]))
    played = await stage.play()
    assert played.ended == (False, False, "replan_exhausted")
    assert "nothing is to be done before __replan__" in played.result.final_detail
    assert (played.result.executions, played.result.planner_calls) == (0, 4), (
        "it is asked again three times, told the reason"
    )


async def test_a_replan_step_that_is_performed_does_nothing_and_succeeds() -> None:
    stage = example("notepad", planner=Scripted(plan(press("Win"), AGAIN), plan()))
    played = await stage.play()
    assert played.plans[0].steps[1].zone == REPLAN
    before = await stage.world.observe()
    performer = Performer(stage.agent.build_ports(stage.store, RUN, stage.task))
    answer = await performer.perform(Act(id=99, timeout=1, version=1, index=1, seen=played.sent[0].seen))
    assert answer == Acted(answers=99, status="ok", dispatched=False, looked=False)
    assert await stage.world.observe() == before
