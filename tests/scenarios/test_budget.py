"""Seed 000, section 7: budgets. What a command can cost at worst is set aside first, so no run ends above a ceiling."""

import pytest

from midcourse.domain.budget import Cost
from midcourse.domain.commands import Act, MakePlan, Observe
from midcourse.planners import SamePlan
from midcourse.worlds.simulated import Desktop
from tests.scenarios.stage import (
    AGAIN,
    FunctionPlanner,
    Played,
    Stage,
    endless_stage,
    example,
    notepad_of_the_seed,
    plan,
    press,
)

GOING_NOWHERE = SamePlan([press("F5", transition=True), AGAIN])
"""A key that does nothing: the transition that was due never comes."""


@pytest.mark.parametrize("ceiling", range(1, 13))
async def test_the_ceiling_on_calls_is_hard_wherever_it_falls(ceiling: int) -> None:
    played = await notepad_of_the_seed(max_calls=ceiling).play()
    assert played.result.budget.calls <= ceiling
    assert played.most_committed.calls <= ceiling
    assert played.result.final_reason == ("budget_exhausted" if ceiling < 12 else "goal_reached")


async def test_thirty_calls_are_never_exceeded_by_a_task_without_end() -> None:
    played = await endless_stage(look_calls=1, max_segments=1000).play()
    assert played.ended == (False, False, "budget_exhausted")
    assert (played.result.budget.calls, played.most_committed.calls) == (30, 30)


async def test_every_paid_command_is_reserved_before_it_goes_out() -> None:
    played = await notepad_of_the_seed().play()
    for turn in played.turns:
        free = [command for command in turn.commands if isinstance(command, Observe) and command.free]
        paid = [command for command in turn.commands if isinstance(command, MakePlan | Act | Observe)]
        if paid and not free:
            assert turn.run.budget.reserved == Cost(calls=1)
    assert played.final_run.budget.reserved == Cost()


async def test_at_the_ceiling_a_partial_result_says_what_was_done() -> None:
    stage = notepad_of_the_seed(max_calls=8)
    played = await stage.play()
    assert played.ended == (False, False, "budget_exhausted")
    assert (
        played.result.final_detail
        == "8 of 8 calls are used, and the next command may take 1; more was not granted (testing)"
    )
    assert played.completed == [
        "Press the Windows key",
        "Type 'notepad' to find the program",
        "Press Enter to start Notepad",
        "Click into the editor",
        "Type the text",
    ]
    assert stage.effects == ()


async def test_a_replan_costs_a_recapture_and_a_plan() -> None:
    once = FunctionPlanner(lambda context: plan(press("Win"), AGAIN) if context.cause == "initial" else plan())
    played = await example("notepad", planner=once, look_calls=1).play()
    assert played.calls == [("planned", 1), ("acted", 1), ("observed", 1), ("planned", 1)]


async def test_five_replans_end_a_run_that_gets_nowhere() -> None:
    played = await example("notepad", planner=GOING_NOWHERE, replan_admission=False).play()
    assert played.ended == (False, False, "replan_exhausted")
    assert (played.result.replans, played.result.extensions, played.result.executions) == (5, 0, 6)


async def test_the_shared_counter_of_the_seed_stops_progress_too() -> None:
    played = await endless_stage(count_extensions=True).play()
    assert played.ended == (False, False, "replan_exhausted")
    assert (played.result.replans, played.result.extensions) == (5, 5)


async def test_extensions_are_bounded_by_segments_instead() -> None:
    played = await endless_stage().play()
    assert played.ended == (False, False, "budget_exhausted")
    assert (len(played.plans), played.result.extensions, played.result.budget.replans) == (20, 19, 0)


async def test_at_most_three_replans_follow_errors() -> None:
    played = await example("unreachable_cube", replan_admission=False, structural_stop=False).play()
    assert played.ended == (False, False, "replan_exhausted")
    assert (played.result.replans, played.result.budget.error_replans) == (3, 3)


# --- near the ceiling


def told_to_wrap_up(played: Played) -> list[bool]:
    return [context.wrap_up for context in played.contexts]


async def test_the_planner_is_told_to_wrap_up_near_the_ceiling() -> None:
    """A cycle of act, recapture and plan costs 3 of 10 calls; the fourth plan comes when 9 are used."""
    played = await endless_stage(look_calls=1, max_calls=10).play()
    assert told_to_wrap_up(played) == [False, False, False, True]
    assert [context.left.calls for context in played.contexts] == [10, 7, 4, 1]


async def test_a_planner_that_wraps_up_comes_to_a_good_end() -> None:
    """Notepad's plans, and a last one as soon as the planner is told: the run ends by itself, not at the ceiling."""
    toggle = press("Win", transition=True)
    planner = FunctionPlanner(lambda context: plan(toggle, final=True) if context.wrap_up else plan(toggle, AGAIN))
    played = await Stage(world=Desktop(), planner=planner, settings={"max_segments": 5}).play()
    assert told_to_wrap_up(played) == [False, False, False, False, True]
    assert played.ended == (True, False, "plan_complete")


# --- the other ceilings


async def test_tokens_and_money_are_ceilings_as_well() -> None:
    tokens = await endless_stage(Cost(calls=1, tokens=900), max_tokens=5000, plan_tokens=1000).play()
    assert tokens.ended == (False, False, "budget_exhausted")
    assert tokens.result.final_detail == (
        "4500 of 5000 tokens are used, and the next command may take 1000; more was not granted (no approver)"
    )
    assert tokens.most_committed.tokens <= 5000
    money = await endless_stage(Cost(calls=1, microusd=90_000), max_cost_usd=0.5, plan_cost_usd=0.1).play()
    assert money.ended == (False, False, "budget_exhausted")
    assert money.result.budget.cost_usd == 0.45
    assert money.most_committed.microusd <= 500_000


async def test_a_planner_that_takes_more_than_it_may_is_found_out_and_stopped() -> None:
    played = await endless_stage(Cost(calls=1, tokens=5001), max_tokens=5000, plan_tokens=1000).play()
    assert played.ended == (False, False, "budget_exhausted")
    assert (played.result.budget.overrun.tokens, played.result.executions) == (4001, 0)


async def test_working_time_has_a_ceiling() -> None:
    played = await endless_stage(act_seconds=20.0, max_wall_seconds=60.0).play()
    assert played.ended == (False, False, "budget_exhausted")
    assert played.result.final_detail == "60 s of work are used up"
    assert (played.result.executions, played.result.budget.wall_seconds) == (3, 60.0)
