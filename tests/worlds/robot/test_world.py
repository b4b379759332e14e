"""Skills of the robot, what its gripper senses, and faults."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from midcourse.domain.observation import Unseen
from midcourse.domain.outcome import Outcome
from midcourse.errors import SkillInvalid, TaskInvalid
from midcourse.worlds.robot import Robot
from midcourse.worlds.simulated import read_effects
from tests.worlds.robot.cells import ONE, TWO, logged_effects, open_robot
from tests.worlds.support import Hand, ok

RED = (("object", "red_cube"),)


async def place_of(hand: Hand, label: str) -> tuple[float, float]:
    zone = await hand.zone(label)
    return float(zone.get("x") or 0), float(zone.get("y") or 0)


def failure(outcome: Outcome) -> tuple[str, str]:
    return outcome.status, outcome.reason


@pytest.mark.parametrize("thing", ["red_cube", "red_ball", "red_can"])
async def test_an_object_of_any_shape_is_picked_up_and_put_into_a_bin(tmp_path: Path, thing: str) -> None:
    log = tmp_path / "effects.jsonl"
    async with open_robot(f"{thing}=0.45,0.10", effects=str(log)) as (hand, world):
        assert (await hand.zone("Gripper")).get("holding") == ""
        picked = await hand.do("pick", object=thing)
        ok(picked)
        felt = dict(picked.data)
        assert 20 < float(felt["opening_mm"] or 0) < 41
        assert float(felt["force_n"] or 0) > 5
        assert (await hand.zone("Gripper")).get("holding") == thing
        assert await world.probe("holding", (("object", thing),)) == "present"
        ok(await hand.do("place_in", bin="red_bin"))
        assert (await hand.zone(thing)).get("bin") == "red_bin"
        assert await world.probe("in_bin", (("object", thing), ("bin", "red_bin"))) == "present"
        assert await world.probe("all_sorted", ()) == "present"
        assert await world.probe("holding", (("object", thing),)) == "absent"
    assert [(one.effect, one.get("object")) for one in read_effects(log)] == [("picked", thing), ("placed", thing)]


async def test_an_object_is_placed_on_the_table() -> None:
    async with open_robot() as (hand, world):
        ok(await hand.do("pick", object="red_cube"))
        ok(await hand.do("home"))
        ok(await hand.do("place", x=0.5, y=-0.2))
        assert await place_of(hand, "red_cube") == pytest.approx((0.5, -0.2), abs=0.02)
        assert await world.probe("lies_at", (*RED, ("x", 0.5), ("y", -0.2))) == "present"
        assert await world.probe("lies_at", (*RED, ("x", 0.6), ("y", -0.2))) == "absent"


async def test_the_solver_says_by_how_much_a_cube_is_out_of_reach() -> None:
    async with open_robot("red_cube=1.2,0.0") as (hand, world):
        outcome = await hand.do("pick", object="red_cube")
        assert failure(outcome) == ("unreachable", "unreachable")
        assert outcome.detail == "IK did not converge in 400 iters (pos_err=0.3231m > tol=0.001m)"
        assert logged_effects(world) == []


async def test_a_place_that_only_another_orientation_reaches_is_another_failure() -> None:
    async with open_robot("red_cube=0.85,0.0") as (hand, _):
        outcome = await hand.do("pick", object="red_cube")
        assert failure(outcome) == ("failed", "ik_failed")
        assert "pos_err=" in outcome.detail
        assert outcome.detail.endswith("the place is in reach, but not with the gripper pointing down")


@pytest.mark.slow
async def test_each_way_to_fail_has_its_own_reason() -> None:
    async with open_robot(TWO) as (hand, _):
        assert failure(await hand.do("pick", object="cup")) == ("failed", "object_not_found")
        assert failure(await hand.do("place", x=0.5, y=0.0)) == ("failed", "nothing_held")
        assert failure(await hand.do("place_in", bin="attic")) == ("failed", "unknown_bin")
        assert failure(await hand.do("wait", seconds=-1.0)) == ("failed", "bad_arguments")
        ok(await hand.do("pick", object="red_cube"))
        assert failure(await hand.do("pick", object="blue_cube")) == ("failed", "gripper_full")
        assert failure(await hand.do("place", x=2.0, y=0.0)) == ("unreachable", "unreachable")


@pytest.mark.slow
async def test_a_cube_that_is_pushed_is_missed_and_found_by_the_next_look() -> None:
    async with open_robot(faults=[{"kind": "object_moved"}]) as (hand, world):
        before = await place_of(hand, "red_cube")
        missed = await hand.do("pick", object="red_cube")
        assert failure(missed) == ("failed", "object_moved")
        assert "nothing is between the fingers at (0.450, 0.100), where 'red_cube' was seen" in missed.detail
        assert failure(await hand.do("pick", object="red_cube")) == ("failed", "object_moved"), "it has not looked"
        after = await place_of(hand, "red_cube")
        assert max(abs(a - b) for a, b in zip(before, after, strict=True)) > 0.03
        ok(await hand.do("pick", object="red_cube"))
        assert logged_effects(world) == ["pushed", "picked"]


async def test_a_ball_that_is_pushed_rolls_until_it_stops() -> None:
    async with open_robot("red_ball=0.5,0.0", faults=[{"kind": "object_moved"}]) as (hand, _):
        before = here = await place_of(hand, "red_ball")
        assert failure(await hand.do("pick", object="red_ball")) == ("failed", "object_moved")
        for _ in range(10):
            here = await place_of(hand, "red_ball")
            ok(await hand.do("wait", seconds=1.0))
            if here == await place_of(hand, "red_ball"):
                break
        assert max(abs(a - b) for a, b in zip(before, here, strict=True)) > 0.03
        ok(await hand.do("pick", object="red_ball"))


async def test_a_grip_that_slips_is_felt() -> None:
    async with open_robot(faults=[{"kind": "grasp_slipped"}]) as (hand, world):
        slipped = await hand.do("pick", object="red_cube")
        assert failure(slipped) == ("failed", "grasp_slipped")
        assert "both fingers touched 'red_cube'" in slipped.detail
        assert await world.probe("holding", RED) == "absent"
        await hand.see()
        ok(await hand.do("pick", object="red_cube"))
        assert logged_effects(world) == ["slipped", "picked"]


async def test_a_cube_taken_for_another_is_picked_up_instead_of_it() -> None:
    async with open_robot(TWO, faults=[{"kind": "misnamed"}]) as (hand, world):
        ok(await hand.do("pick", object="red_cube"))
        assert await world.probe("holding", RED) == "absent"
        assert (await hand.zone("Gripper")).get("holding") == "blue_cube"


async def test_overlooked_object_is_there_at_the_next_look() -> None:
    async with open_robot(faults=[{"kind": "unseen"}, {"kind": "look_fails", "nth": 2}]) as (hand, world):
        assert failure(await hand.do("pick", object="red_cube")) == ("failed", "object_not_found")
        assert isinstance(await world.observe(), Unseen)
        assert await place_of(hand, "red_cube") == (0.45, 0.1)


async def test_perceive_says_where_everything_is() -> None:
    async with open_robot(TWO) as (hand, _):
        seen = dict((await hand.do("perceive")).data)
        assert (seen["red_cube"], seen["blue_cube"]) == ("0.450,0.100,0.020", "0.450,-0.150,0.020")


async def test_the_gripper_feels_whether_something_is_there() -> None:
    async with open_robot() as (hand, world):
        felt = await hand.do("close_gripper")
        assert dict(felt.data)["touches"] is False
        ok(await hand.do("open_gripper"))
        ok(await hand.do("pick", object="red_cube"))
        assert dict((await hand.do("close_gripper")).data)["touches"] is True
        ok(await hand.do("open_gripper"))
        assert await world.probe("holding", RED) == "absent"
        assert logged_effects(world) == ["picked", "dropped"]


async def test_reset_puts_everything_back() -> None:
    async with open_robot() as (hand, world):
        before = (await hand.see()).fingerprint
        ok(await hand.do("pick", object="red_cube"))
        assert (await hand.see()).fingerprint != before
        ok(await hand.do("reset"))
        assert (await hand.see()).fingerprint == before
        assert logged_effects(world) == ["picked", "reset"]


@pytest.mark.slow
async def test_a_failed_act_leaves_no_trace_if_the_task_asks_for_that() -> None:
    faults = [{"kind": "object_moved", "nth": 2}]
    async with open_robot(TWO, faults=faults, reset_after_failure=True) as (hand, world):
        ok(await hand.do("pick", object="blue_cube"))
        ok(await hand.do("place_in", bin="blue_bin"))
        before = (await hand.see()).fingerprint
        assert failure(await hand.do("pick", object="red_cube")) == ("failed", "object_moved")
        assert (await hand.see()).fingerprint == before, "the push and the try are undone, the first cube stays"
        ok(await hand.do("pick", object="red_cube"))
        assert logged_effects(world) == ["picked", "placed", "pushed", "reset", "picked"]


@pytest.mark.slow
async def test_the_same_seed_leads_to_the_same_cell_and_another_does_not() -> None:
    async def end(seed: int) -> tuple[str, ...]:
        drift = {"object_moved": 0.5, "grasp_slipped": 0.5}
        async with open_robot(TWO, seed=seed, drift=drift) as (hand, _):
            fingerprints: list[str] = []
            for name in ("red_cube", "blue_cube"):
                await hand.do("pick", object=name)
                await hand.do("place", x=0.5, y=0.2)
                fingerprints.append((await hand.see()).fingerprint)
            return tuple(fingerprints)

    ends = [await end(seed) for seed in (1, 1, 2, 3)]
    assert ends[0] == ends[1]
    assert len(set(ends)) > 1


async def test_the_cell_outlives_its_process(tmp_path: Path) -> None:
    state = str(tmp_path / "cell.json")
    async with open_robot(state=state) as (hand, _):
        ok(await hand.do("pick", object="red_cube"))
        before = (await hand.see()).fingerprint
    async with open_robot(state=state) as (hand, world):
        assert (await hand.see()).fingerprint == before
        assert await world.probe("holding", RED) == "present"
        ok(await hand.do("place_in", bin="red_bin"))
    with pytest.raises(TaskInvalid, match="another layout"):
        async with open_robot(TWO, state=state):
            pass


async def test_cancelled_act_of_the_arm_stops_before_the_next_one() -> None:
    async with open_robot() as (hand, world):
        act = asyncio.create_task(hand.do("wait", seconds=60.0))
        while world._cell is None or world._cell.data.time < 0.1:
            await asyncio.sleep(0.001)
        act.cancel()
        with pytest.raises(asyncio.CancelledError):
            await act
        assert world._cell.data.time < 60
        await hand.see()
        ok(await hand.do("pick", object="red_cube"))


async def test_a_closed_cell_is_lost_and_can_be_opened_again() -> None:
    async with open_robot() as (hand, world):
        await world.close()
        assert await world.observe() == Unseen(reason="world_lost", detail="the cell is closed")
        await world.open()
        assert await place_of(hand, "red_cube") == (0.45, 0.1)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"objects": "red_cube:1,2"}, "write it like red_cube=0.45,0.10"),
        ({"objects": f"{ONE} {ONE}"}, "a name that no other has"),
        ({"bins": "red_bin"}, "write it like red_bin=0.35,0.45"),
        ({"objects": "red_bin=0.5,0.0"}, "a name that no other has"),
        ({"screenshots": "sometimes"}, "never, on_change, on_failure or all"),
        ({"faults": [{"kind": "popup"}]}, "'popup' makes no sense here"),
        ({"faults": [{"kind": "object_moved", "skill": "place"}]}, "place cannot meet it"),
        ({"drift": {"popup": 0.1}}, "'popup' makes no sense here"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises((TaskInvalid, SkillInvalid), match=says):
        Robot(**options)
