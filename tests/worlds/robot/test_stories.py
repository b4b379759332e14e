"""The tasks of the robot that ship, run through the agent: a cube out of reach, one that is pushed, and three to sort."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from midcourse.agent.agent import Agent, build_agent
from midcourse.agent.wiring import load_job
from midcourse.domain.result import Result
from midcourse.domain.task import Task
from midcourse.history.journal import result_json
from midcourse.store.memory import MemoryStore
from midcourse.testing import Scripted
from midcourse.worlds import Robot
from midcourse.worlds.simulated import read_effects
from tests.scenarios.stage import pick, plan

pytestmark = pytest.mark.slow

IK = "IK did not converge in 400 iters (pos_err=0.3231m > tol=0.001m)"
PLAIN = {"replan_admission": False, "structural_stop": False, "max_error_replans": 2, "replan_interval_seconds": 0}


async def run(task: str, folder: Path, **settings: object) -> Result:
    job = load_job(task, {"home": str(folder / "home"), "retry_delay_seconds": 0, **settings})
    return await build_agent(job, folder, None).run(job.task, run_id="run")


async def test_a_cube_out_of_reach_ends_the_run_after_one_attempt(tmp_path: Path) -> None:
    result = await run("far_cube", tmp_path)
    assert (result.success, result.final_reason) == (False, "structural_failure")
    assert (result.executions, result.planner_calls) == (1, 2)
    assert (
        result.final_detail
        == f"pick failed: unreachable — {IK}; the planner, asked once for another way, planned it again"
    )


async def test_with_the_settings_of_a_plain_loop_a_cube_out_of_reach_takes_three_cycles(tmp_path: Path) -> None:
    result = await run("far_cube", tmp_path, **PLAIN)
    assert (result.success, result.final_reason) == (False, "replan_exhausted")
    assert (result.executions, result.steps, result.replans, result.planner_calls) == (3, 3, 2, 3)
    written = json.loads(result_json(result))
    assert written["final_detail"] == f"pick failed: unreachable — {IK}"
    assert [attempt["detail"] for attempt in written["attempts"]] == [IK] * 3


async def test_a_cube_that_is_pushed_and_slips_is_put_into_its_bin_all_the_same(tmp_path: Path) -> None:
    result = await run("moved_cube", tmp_path)
    assert (result.success, result.verified) == (True, True)
    assert [attempt.reason for attempt in result.attempts] == ["object_moved", "grasp_slipped"]
    effects = [one.effect for one in read_effects(tmp_path / "effects.jsonl")]
    assert effects == ["pushed", "slipped", "picked", "placed"]


async def test_the_camera_errs_the_grip_slips_and_the_cubes_are_sorted_all_the_same(tmp_path: Path) -> None:
    result = await run("tabletop", tmp_path)
    assert (result.success, result.verified, result.final_reason) == (True, True, "goal_reached")
    assert {attempt.reason for attempt in result.attempts} == {"expectation_unmet", "object_moved", "grasp_slipped"}
    placed = {one.get("object"): one.get("bin") for one in read_effects(tmp_path / "effects.jsonl")}
    assert placed == {"red_cube": "red_bin", "blue_cube": "blue_bin", "green_cube": "green_bin"}


async def test_a_cube_out_of_reach_ends_the_sorting_after_one_try(tmp_path: Path) -> None:
    job = load_job("tabletop", {"home": str(tmp_path / "home")})
    options = {"objects": "red_cube=1.2,0.0 blue_cube=0.4,0.1 green_cube=0.5,-0.1"}
    job = replace(job, file=replace(job.file, world=replace(job.file.world, options=options)))
    result = await build_agent(job, tmp_path, None).run(job.task, run_id="run")
    assert (result.final_reason, result.executions) == ("structural_failure", 1)
    assert (
        result.final_detail
        == f"pick failed: unreachable — {IK}; the planner, asked once for another way, planned it again"
    )


async def test_the_other_cube_that_the_goal_names_is_picked_up_if_the_first_is_out_of_reach() -> None:
    robot = Robot(objects="red_cube=1.2,0.0 blue_cube=0.45,0.1")
    tries = Scripted(*(plan(pick(cube), final=True) for cube in ("red_cube", "blue_cube")))
    agent = Agent(robot, tries, store=MemoryStore())
    result = await agent.run(Task(goal="Pick up the red cube. If it cannot be reached, pick up the blue cube instead"))
    assert (result.final_reason, result.executions, result.planner_calls) == ("plan_complete", 2, 2)
    assert [one.get("object") for one in robot.effects.present(float("inf"))] == ["blue_cube"]
