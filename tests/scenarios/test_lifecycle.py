"""Seed 000, section 6: the states of a plan segment. What the seed calls EXECUTING is `acting` here, RECAPTURE `looking`,
PLANNING and REPLANNING are both `planning`, and COMPLETE is `ended`.
"""

from itertools import groupby

from midcourse.planners import SamePlan
from midcourse.worlds.simulated import Fault
from tests.scenarios.stage import Played, example, pick

BEGINNING = ["opening", "looking"]
SEGMENT = ["planning", "acting"]
END = ["concluding", "ended"]


def states(played: Played) -> list[str]:
    """Each state once for as long as it lasts."""
    return [phase for phase, _ in groupby(played.phases)]


async def test_three_segments_plan_execute_recapture_replan_until_complete() -> None:
    played = await example("notepad").play()
    assert states(played) == [*BEGINNING, *SEGMENT, "looking", *SEGMENT, "looking", *SEGMENT, *END]
    assert played.phases.count("acting") == 3 + 3 + 5


async def test_a_failed_step_leads_to_error_handling_and_a_new_plan() -> None:
    """A pop-up takes the editor away: look once more, then replan; the pop-up goes, and the segment is planned again."""
    played = await example("notepad", faults=[Fault(kind="popup", skill="click")]).play()
    assert played.ended == (True, True, "goal_reached")
    first = [*BEGINNING, *SEGMENT]
    failing = ["looking", "planning", "acting", "looking", "acting"]
    dismissing = ["planning", "acting", "looking"]
    assert states(played) == [*first, *failing, *dismissing, *SEGMENT, "looking", *SEGMENT, *END]
    assert [plan.cause for plan in played.plans] == ["initial", "adaptive", "error", "adaptive", "adaptive"]


async def test_error_recovery_recaptures_what_could_not_be_seen_after_the_failure() -> None:
    """The look after the failing step fails, too: no plan is made before there is something to see."""
    faults = [Fault(kind="look_fails", nth=2)]
    planner = SamePlan([pick("blue_cup")])
    played = await example("unreachable_cube", planner=planner, faults=faults, max_error_replans=1).play()
    assert states(played)[:6] == [*BEGINNING, *SEGMENT, "looking", "planning"]
    assert [command.stale for command in played.asked_planner] == [False] * len(played.asked_planner)


async def test_a_transient_failure_waits_and_executes_again_without_a_plan() -> None:
    played = await example("notepad", faults=[Fault(kind="transient", skill="click")]).play()
    segment_2 = ["planning", "acting", "backing_off", "acting"]
    assert states(played) == [*BEGINNING, *SEGMENT, "looking", *segment_2, "looking", *SEGMENT, *END]
    assert played.result.replans == 2


async def test_a_run_that_fails_is_over_as_well() -> None:
    played = await example("unreachable_cube").play()
    assert states(played) == [*BEGINNING, *SEGMENT, "planning", "concluding", "ended"]
