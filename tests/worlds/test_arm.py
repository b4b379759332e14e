"""The arm, worked by hand, and the kinematics it really computes."""

from math import cos, hypot, sin, tau
from pathlib import Path
from random import Random

import pytest

from midcourse.errors import TaskInvalid
from midcourse.worlds.simulated import Arm, read_effects
from midcourse.worlds.simulated.arm import LINKS, REACH, TOLERANCE, solve
from tests.worlds.support import Hand, ok


async def test_a_cube_is_picked_up_and_put_elsewhere(tmp_path: Path) -> None:
    log = tmp_path / "effects.jsonl"
    hand = Hand(Arm(effects=str(log)))
    seen = await hand.see()
    assert [zone.label for zone in seen.zones] == ["Gripper", "red_cube", "blue_cube", "green_cube"]

    ok(await hand.do("pick", object="red_cube"))
    assert (await hand.zone("Gripper")).get("holding") == "red_cube"
    assert await hand.world.probe("holding", (("object", "red_cube"),)) == "present"
    assert (await hand.do("pick", object="blue_cube")).reason == "gripper_full"

    ok(await hand.do("place", x=0.3, y=0.3))
    where = (("object", "red_cube"), ("x", 0.3), ("y", 0.3))
    assert (await hand.zone("Gripper")).get("holding") == ""
    assert (await hand.zone("red_cube")).get("x") == 0.3
    assert [event.effect for event in read_effects(log)] == ["picked", "placed"]
    for world in (hand.world, Arm(effects=str(log))):
        assert await world.probe("lies_at", where) == "present"
        assert await world.probe("holding", (("object", "red_cube"),)) == "absent"


async def test_a_cube_out_of_reach_is_unreachable_by_the_computed_error() -> None:
    world = Arm(objects="red_cube=1.2,0.0")
    hand = Hand(world)
    outcome = await hand.do("pick", object="red_cube")
    assert (outcome.status, outcome.reason) == ("unreachable", "unreachable")
    assert outcome.detail == "IK did not converge in 400 iters (pos_err=0.3450m > tol=0.001m)"
    assert world.happened() == ()


async def test_an_unknown_thing_and_an_empty_gripper_have_reasons_of_their_own() -> None:
    hand = Hand(Arm())
    outcome = await hand.do("pick", object="purple_cube")
    assert (outcome.status, outcome.reason) == ("failed", "object_not_found")
    assert outcome.detail == "perception returned zero matches for 'purple_cube'"
    assert (await hand.do("place", x=0.2, y=0.2)).reason == "nothing_held"
    ok(await hand.do("pick", object="red_cube"))
    assert (await hand.do("place", x=2, y=0)).reason == "unreachable"


@pytest.mark.slow
def test_the_solver_reaches_all_that_is_within_reach_and_nothing_else() -> None:
    assert pytest.approx(0.855) == REACH
    chance = Random(7)
    for _ in range(300):
        distance, direction = chance.uniform(0.02, 1.5), chance.uniform(0, tau)
        x, y = distance * cos(direction), distance * sin(direction)
        solution = solve(x, y)
        hand_x = hand_y = heading = 0.0
        for length, angle in zip(LINKS, solution.angles, strict=True):
            heading += angle
            hand_x, hand_y = hand_x + length * cos(heading), hand_y + length * sin(heading)
        assert solution.error == pytest.approx(hypot(x - hand_x, y - hand_y))
        if distance < REACH - 0.001:
            assert solution.converged
            assert solution.error <= TOLERANCE
        if distance > REACH + 0.002:
            assert not solution.converged
            assert solution.error == pytest.approx(distance - REACH, abs=1e-3)


def test_objects_are_given_as_text() -> None:
    with pytest.raises(TaskInvalid, match=r"red_cube=0\.45,0\.10"):
        Arm(objects="red_cube:1,2")
