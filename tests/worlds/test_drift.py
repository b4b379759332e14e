"""Faults by chance: at their stated rates, and the same for the same seed and acts."""

import asyncio
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from typing import Any, get_args

import pytest

from midcourse.errors import SkillInvalid
from midcourse.worlds.simulated import PROFILES, Arm, Desktop, Drift, Fault, Quest, Shop, Web
from midcourse.worlds.simulated.base import SimulatedWorld
from midcourse.worlds.simulated.drift import Chance
from midcourse.worlds.simulated.faults import FAULT_KINDS, STORE_KINDS, ActKind, FaultKind
from tests.worlds.support import FakeClock, Hand

COMMITTED = {"calm": "23ba190ebd28de8e", "moderate": "7d72990c52e4f552", "stormy": "6fe8a02ea6fa9dbc"}
"""Figures are measured under these. After a change of one, measure again."""


def test_there_is_a_rate_for_every_kind_of_fault() -> None:
    rates = {field.name for field in fields(Drift)}
    assert rates == {*FAULT_KINDS, "load_seconds", "timeout_seconds", "late_seconds"}


@pytest.mark.slow
def test_the_profiles_are_the_committed_ones_and_the_module_prints_them() -> None:
    assert {name: drift.digest for name, drift in PROFILES.items()} == COMMITTED
    module = "midcourse.worlds.simulated.drift"
    done = subprocess.run([sys.executable, "-W", "error", "-m", module], capture_output=True, text=True, check=True)
    printed = [line.split(" ", 2) for line in done.stdout.splitlines()]
    assert {name: digest for name, digest, _ in printed} == COMMITTED
    assert [json.loads(rates) for _, _, rates in printed] == [asdict(drift) for drift in PROFILES.values()]


def test_a_digest_tells_any_two_drifts_apart() -> None:
    moderate = PROFILES["moderate"]
    others = [replace(moderate, **{field.name: 0.123}) for field in fields(Drift)]
    assert len({drift.digest for drift in (moderate, *others)}) == len(others) + 1
    assert replace(moderate).digest == moderate.digest


def test_the_profiles_are_one_mix_in_three_strengths() -> None:
    calm, moderate, stormy = PROFILES.values()
    for kind in FAULT_KINDS:
        assert calm.rate(kind) == pytest.approx(moderate.rate(kind) * 0.2)
        assert stormy.rate(kind) == pytest.approx(moderate.rate(kind) * 2.5)
        assert (moderate.rate(kind) > 0) == (kind != "structural")


# --- how much


async def count_troubled_acts(world: SimulatedWorld[Any], acts: int) -> int:
    """Act this often, and count the acts that met a fault themselves or at the look after them."""
    hand, troubled = Hand(world), 0
    for _ in range(acts):
        await hand.do("click", world.look().zones[0])
        await world.observe()
        troubled += bool({**world._due, **world._seeing})
    return troubled


@pytest.mark.slow
@pytest.mark.parametrize(("name", "share"), [("calm", 0.02), ("moderate", 0.10), ("stormy", 0.25)])
async def test_the_share_of_troubled_acts_is_that_of_the_profile(name: str, share: float) -> None:
    """Clicks in a shop, without a login, and without storing anything."""
    acts = 2000
    troubled = await count_troubled_acts(Shop(drift=name, clock=FakeClock()), acts)
    assert troubled / acts == pytest.approx(share, rel=0.25)


@pytest.mark.slow
def test_each_kind_comes_at_its_own_rate() -> None:
    drift = PROFILES["stormy"]
    chance, met = Chance(drift, seed=1), Counter[FaultKind]()
    for _ in range(10_000):
        met.update(list(chance.due(FAULT_KINDS)))
    for kind in FAULT_KINDS:
        assert met[kind] / 10_000 == pytest.approx(drift.rate(kind), rel=0.15, abs=0.004)


def test_faults_take_as_long_as_the_drift_says() -> None:
    drift = Drift(load_seconds=3.0, timeout_seconds=4.0, late_seconds=5.0)
    assert [drift.fault(kind).seconds for kind in ("slow_load", "done_but_timeout", "stored_late", "popup")] == [
        3.0,
        4.0,
        5.0,
        0.0,
    ]


# --- always the same


Make = Callable[..., SimulatedWorld[Any]]


async def play_session(make: Make, seed: int) -> list[object]:
    """Outcome and fingerprint of each of sixty acts."""
    world = make(drift="stormy", seed=seed, clock=FakeClock())
    hand, seen = Hand(world), list[object]()
    for _ in range(60):
        outcome = await hand.do("click", world.look().zones[0])
        looked = await world.observe()
        seen.append((outcome.status, outcome.reason, getattr(looked, "fingerprint", looked)))
    return seen


@pytest.mark.parametrize("make", [Arm, Desktop, Quest, Shop, Web])
async def test_the_same_seed_and_the_same_acts_meet_the_same_trouble(make: Make) -> None:
    first = await play_session(make, 7)
    assert await play_session(make, 7) == first
    assert await play_session(make, 8) != first


async def test_trouble_does_not_depend_on_the_time() -> None:
    met: list[list[str]] = []
    for hurry in (0.0, 0.1, 1000.0):
        clock = FakeClock()
        world, outcomes = Desktop(drift="stormy", clock=clock), list[str]()
        for _ in range(100):
            clock.time += hurry
            await Hand(world).do("wait", seconds=hurry)
            outcomes += sorted(world._due)
        met.append(outcomes)
    assert met[0] == met[1] == met[2] != []


async def test_new_session_meets_the_same_trouble_again() -> None:
    world = Shop(drift="stormy", seed=3, clock=FakeClock())
    first = await count_troubled_acts(world, 80)
    await world.open()
    assert await count_troubled_acts(world, 80) == first


def test_another_rate_changes_that_kind_only() -> None:
    """Two arms of a benchmark that differ in one kind of trouble meet the same trouble otherwise."""
    drift = PROFILES["stormy"]
    more = replace(drift, popup=0.5)
    one, other = (Chance(each, seed=5) for each in (drift, more))
    kinds: tuple[ActKind, ...] = get_args(ActKind)
    for _ in range(500):
        a, b = one.due(kinds), other.due(kinds)
        assert {k: f for k, f in a.items() if k != "popup"} == {k: f for k, f in b.items() if k != "popup"}


async def test_ordered_faults_come_before_those_by_chance() -> None:
    world = Shop(drift={"transient": 1.0}, faults=[Fault(kind="transient", detail="to order")], clock=FakeClock())
    hand = Hand(world)
    assert (await hand.do("go", page="basket")).detail == "to order"
    assert (await hand.do("go", page="basket")).detail == "busy with something else; try again later"


async def test_storing_has_rates_of_its_own() -> None:
    """Only acts that would store something draw for these faults, and at most one of the faults occurs."""
    for kind in STORE_KINDS:
        world = Quest(drift={kind: 1.0}, clock=FakeClock())
        hand = Hand(world)
        await hand.on("Elder Mara", "walk")
        await hand.on("Accept quest", "accept_quest")
        assert len(world.effects) == (kind in ("stored_but_error", "stored_late"))


# --- given in a task file


def test_a_drift_is_a_profile_or_a_table_of_rates() -> None:
    assert Shop(drift="calm")._drift == PROFILES["calm"]
    assert Shop(drift={"popup": 1})._drift == Drift(popup=1)
    assert Shop(drift=PROFILES["calm"])._drift == PROFILES["calm"]


@pytest.mark.parametrize(
    ("drift", "says"),
    [
        ("windy", "there is no drift called 'windy'; there are calm, moderate, stormy"),
        ({"pop_up": 0.1}, "a drift has no 'pop_up'"),
        ({"popup": "often"}, "'popup' is a number, not 'often'"),
        ({"popup": True}, "'popup' is a number, not True"),
        ({"popup": 1.5}, "the rate of 'popup' is a share of 1, not 1.5"),
        ({"popup": -0.1}, "the rate of 'popup' is a share of 1"),
        ({"late_seconds": 0}, "more than none"),
        ({"expired": 0.1}, "drift 'expired' makes no sense here: nothing in shop can have it"),
        ({"grasp_slipped": 0.1}, "nothing in shop can have it"),
    ],
)
def test_a_drift_that_makes_no_sense_is_refused(drift: Any, says: str) -> None:
    with pytest.raises(SkillInvalid, match=says):
        Shop(drift=drift)


def test_a_quiet_world_is_as_quick_as_one_without_a_drift() -> None:
    world = Shop(clock=FakeClock())
    assert asyncio.run(count_troubled_acts(world, 100)) == 0
    assert world._chance._counts == {}
