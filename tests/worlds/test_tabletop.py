"""The tabletop robot, worked by hand: what its camera gets wrong, its gripper gets wrong."""

from collections import Counter
from pathlib import Path

import pytest

from midcourse.worlds.simulated import Fault, Tabletop, read_effects
from tests.worlds.support import Hand, ok

CUBES = ("red_cube", "blue_cube", "green_cube")


async def sort_by_hand(hand: Hand) -> None:
    for cube in CUBES:
        ok(await hand.do("pick", object=cube))
        ok(await hand.do("place_in", bin=cube.replace("cube", "bin")))


async def test_three_cubes_are_sorted_and_logged(tmp_path: Path) -> None:
    log = tmp_path / "effects.jsonl"
    hand = Hand(Tabletop(effects=str(log)))
    assert [zone.label for zone in (await hand.see()).zones if zone.role == "object"] == list(CUBES)
    assert await hand.world.probe("all_sorted", ()) == "absent"
    await sort_by_hand(hand)
    assert await hand.world.probe("all_sorted", ()) == "present"
    placed = [(one.get("object"), one.get("bin")) for one in read_effects(log) if one.effect == "placed"]
    assert placed == [("red_cube", "red_bin"), ("blue_cube", "blue_bin"), ("green_cube", "green_bin")]
    assert (await hand.zone("red_cube")).get("bin") == "red_bin"
    where = (("object", "red_cube"), ("bin", "blue_bin"))
    assert await hand.world.probe("in_bin", where) == "absent"


async def test_a_grasp_that_slips_leaves_the_cube_where_it_is() -> None:
    world = Tabletop(faults=[Fault(kind="grasp_slipped")])
    hand = Hand(world)
    before = await hand.zone("red_cube")
    outcome = await hand.do("pick", object="red_cube")
    assert (outcome.status, outcome.reason) == ("failed", "grasp_slipped")
    assert await hand.zone("red_cube") == before
    assert world.happened() == ()
    ok(await hand.do("pick", object="red_cube"))


async def test_an_object_that_moved_is_found_by_the_next_look() -> None:
    world = Tabletop(faults=[Fault(kind="object_moved")])
    hand = Hand(world)
    before = await hand.zone("red_cube")
    outcome = await hand.do("pick", object="red_cube")
    assert (outcome.status, outcome.reason) == ("failed", "object_moved")
    assert outcome.detail == "'red_cube' is no longer at (0.45, 0.1), where it was seen"
    after = await hand.zone("red_cube")
    assert (before.get("x"), before.get("y")) != (after.get("x"), after.get("y"))
    ok(await hand.do("pick", object="red_cube"))
    assert Counter(one.effect for one in world.happened()) == {"moved": 1, "picked": 1}


async def test_a_cube_taken_for_another_is_picked_up_instead_of_it() -> None:
    hand = Hand(Tabletop(objects="red_cube=0.4,0.1 blue_cube=0.4,-0.1", faults=[Fault(kind="misnamed")]))
    seen = {zone.label: zone.get("y") for zone in (await hand.see()).zones if zone.role == "object"}
    assert seen == {"red_cube": -0.1, "blue_cube": 0.1}
    ok(await hand.do("pick", object="red_cube"))
    assert (await hand.zone("Gripper")).get("holding") == "blue_cube"
    assert await hand.world.probe("holding", (("object", "blue_cube"),)) == "present"


async def test_a_fresh_look_sees_right() -> None:
    hand = Hand(Tabletop(faults=[Fault(kind="misnamed"), Fault(kind="unseen", nth=2)]))
    first, second, third, fourth = [await hand.see() for _ in range(4)]
    assert first.fingerprint != third.fingerprint == fourth.fingerprint
    assert len(second.zones) == len(third.zones) - 1


async def test_a_cube_that_was_overlooked_is_not_found() -> None:
    hand = Hand(Tabletop(objects="red_cube=0.4,0.1", faults=[Fault(kind="unseen")]))
    await hand.see()
    outcome = await hand.do("pick", object="red_cube")
    assert (outcome.reason, outcome.detail) == (
        "object_not_found",
        "perception returned zero matches for 'red_cube'",
    )
    await hand.see()
    ok(await hand.do("pick", object="red_cube"))


async def test_both_errors_in_one_look_of_two_cubes_overlook_one() -> None:
    faults = [Fault(kind="misnamed"), Fault(kind="unseen")]
    hand = Hand(Tabletop(objects="red_cube=0.4,0.1 blue_cube=0.4,-0.1", faults=faults))
    assert len([zone for zone in (await hand.see()).zones if zone.role == "object"]) == 1


async def test_which_cube_is_concerned_depends_on_the_seed() -> None:
    def overlooked(seed: int) -> Tabletop:
        return Tabletop(seed=seed, faults=[Fault(kind="unseen")])

    seen = [tuple(zone.label for zone in (await Hand(overlooked(seed)).see()).zones) for seed in range(12)]
    assert len(set(seen)) == 3
    assert seen == [tuple(zone.label for zone in (await Hand(overlooked(seed)).see()).zones) for seed in range(12)]


async def test_what_is_in_the_gripper_is_felt_and_never_mistaken() -> None:
    faults = [Fault(kind="misnamed", times=20), Fault(kind="unseen", times=20)]
    hand = Hand(Tabletop(objects="red_cube=0.4,0.1"))
    ok(await hand.do("pick", object="red_cube"))
    other = Hand(Tabletop(objects="red_cube=0.4,0.1 blue_cube=0.4,-0.1", faults=faults))
    ok(await other.do("pick", object="blue_cube"))
    for _ in range(10):
        assert (await other.zone("Gripper")).get("holding") == "blue_cube"


async def test_reach_has_a_limit_for_cubes_and_for_bins() -> None:
    hand = Hand(Tabletop(objects="red_cube=1.2,0.0 blue_cube=0.4,0.1", bins="red_bin=0.3,0.4 blue_bin=0.9,0.9"))
    outcome = await hand.do("pick", object="red_cube")
    assert (outcome.status, outcome.reason) == ("unreachable", "unreachable")
    assert "pos_err=0.3450m" in outcome.detail
    ok(await hand.do("pick", object="blue_cube"))
    assert (await hand.do("place_in", bin="blue_bin")).reason == "unreachable"
    assert (await hand.zone("Gripper")).get("holding") == "blue_cube"


async def test_what_cannot_be_done_has_a_reason_of_its_own() -> None:
    hand = Hand(Tabletop())
    assert (await hand.do("place_in", bin="red_bin")).reason == "nothing_held"
    ok(await hand.do("pick", object="red_cube"))
    assert (await hand.do("pick", object="blue_cube")).reason == "gripper_full"
    assert (await hand.do("place_in", bin="green")).reason == "unknown_bin"
    ok(await hand.do("place", x=0.3, y=0.2))
    assert (await hand.zone("red_cube")).get("bin") == ""


@pytest.mark.parametrize("seed", range(5))
async def test_rates_are_met_as_a_drift(seed: int) -> None:
    """A hundred picks, one in five of which slips and one in ten is at a cube that somebody pushed."""
    world = Tabletop(objects="red_cube=0.4,0.1", seed=seed, drift={"grasp_slipped": 0.2, "object_moved": 0.1})
    hand = Hand(world)
    reasons: Counter[str] = Counter()
    for _ in range(100):
        outcome = await hand.do("pick", object="red_cube")
        reasons[outcome.reason] += 1
        if outcome.status == "ok":
            ok(await hand.do("place", x=0.4, y=0.1))
    assert 8 <= reasons["grasp_slipped"] <= 35
    assert 2 <= reasons["object_moved"] <= 22
