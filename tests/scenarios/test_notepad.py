"""Seed 000, sections 2, 4, 6 and 7: open Notepad, type a text, save it. Three screens, so three plans."""

from collections import Counter

import pytest

from midcourse.domain.events import Observed
from midcourse.domain.plan import GLOBAL, REPLAN, PlanVersion
from tests.scenarios.stage import example, notepad_of_the_seed

SEGMENT_1 = ["Press the Windows key", "Type 'notepad' to find the program", "Press Enter to start Notepad"]
SEGMENT_2 = ["Click into the editor", "Type the text", "Press Ctrl+S to open the Save dialog"]
SEGMENT_3 = [
    "Click the folder Documents",
    "Click the file name",
    "Select all of it",
    "Type the name of the file",
    "Click Save",
]


async def test_the_file_is_saved_once_and_the_run_says_so_with_evidence() -> None:
    stage = notepad_of_the_seed()
    played = await stage.play()
    assert played.ended == (True, True, "goal_reached")
    (saved,) = stage.effects
    assert saved.values == {"folder": "Documents", "name": "note.txt", "text": "Plan as far as you can see."}


async def test_three_segments_of_four_four_and_five_steps() -> None:
    played = await notepad_of_the_seed().play()
    assert [len(plan.steps) for plan in played.plans] == [4, 4, 5]
    assert [plan.steps[-1].zone == REPLAN for plan in played.plans] == [True, True, False]
    assert [plan.repairs for plan in played.plans] == [(), (), ()]
    assert [places(plan) for plan in played.plans] == [
        {"global": 3, "replan": 1},
        {"visual": 1, "global": 2, "replan": 1},
        {"visual": 3, "global": 2},
    ]


def places(plan: PlanVersion) -> Counter[str]:
    names = {GLOBAL: "global", REPLAN: "replan"}
    return Counter(names.get(step.zone, "visual") for step in plan.steps)


@pytest.mark.parametrize("count_extensions", [False, True])
async def test_two_adaptive_replans_whichever_counter_they_are_charged_to(count_extensions: bool) -> None:
    played = await example("notepad", count_extensions=count_extensions).play()
    assert [plan.cause for plan in played.plans] == ["initial", "adaptive", "adaptive"]
    assert [plan.parent for plan in played.plans] == [None, 1, 2]
    assert (played.result.replans, played.result.extensions) == (2, 2)
    assert (played.result.budget.replans, played.result.budget.error_replans) == (0, 0)


async def test_no_finished_step_is_repeated() -> None:
    played = await notepad_of_the_seed().play()
    assert played.completed == [*SEGMENT_1, *SEGMENT_2, *SEGMENT_3]
    assert played.result.steps == played.result.executions == 11
    assert played.result.attempts == ()


async def test_the_recaptures_find_50_and_35_zones() -> None:
    played = await notepad_of_the_seed().play()
    looks = [turn.event.seen for turn in played.turns if isinstance(turn.event, Observed)]
    assert [(seen.surface, seen.zones) for seen in looks if seen] == [("Desktop", 22), ("Notepad", 50), ("Save As", 35)]


async def test_each_plan_is_made_from_what_is_visible_then() -> None:
    played = await notepad_of_the_seed().play()
    for context, plan in zip(played.contexts, played.plans, strict=True):
        visible = {zone.id for zone in context.observation.zones}
        assert {step.zone for step in plan.steps} <= {GLOBAL, REPLAN, *visible}


async def test_completed_steps_are_passed_to_every_planner_call() -> None:
    played = await notepad_of_the_seed().play()
    completed = [[step.says for step in context.completed] for context in played.contexts]
    assert completed == [[], SEGMENT_1, [*SEGMENT_1, *SEGMENT_2]]


async def test_the_example_of_the_seed_uses_12_of_30_calls() -> None:
    """Initial plan 1, three looks 3, replan 2, three looks 3, replan 2, one look 1; 18 remain for errors and retries."""
    played = await notepad_of_the_seed().play()
    plan, look, recapture = ("planned", 1), ("acted", 1), ("observed", 1)
    assert played.calls == [
        plan,
        *[look] * 3,
        *[recapture, plan],
        *[look] * 3,
        *[recapture, plan],
        look,
    ]
    used = played.result.budget
    assert (used.calls, used.max_calls) == (1 + 3 + 2 + 3 + 2 + 1, 30)
