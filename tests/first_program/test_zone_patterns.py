"""Zone patterns in task files and playbooks: an ambiguous one is refused, and a container tells zones apart."""

from collections.abc import Iterable
from typing import Any

import pytest

from midcourse import Agent, BaseWorld, Draft, Expectation, Scene, Zone, skill
from midcourse.domain.expectation import ZoneAppears
from midcourse.domain.observation import Observation, Surface
from midcourse.planners import Playbook, Rule, ZonePattern
from midcourse.policy.evidence.verification import holds
from midcourse.testing import MemoryStore


class Assets(BaseWorld):
    """A table with the same button in every row."""

    def __init__(self, *zones: Zone) -> None:
        super().__init__()
        rows = (Zone(id=f"add-{n}", role="button", label="Add note", state={"within": f"A-{n}"}) for n in (1, 2, 3))
        self.zones = zones or tuple(rows)
        self.pressed: list[str] = []

    def look(self) -> Scene:
        return Scene("Assets", *self.zones)

    @skill
    def press(self, zone: Zone) -> None:
        self.pressed.append(zone.id)


def pressed(zone: str, zones: Iterable[Zone] = ()) -> tuple[list[str], str]:
    """What was pressed, and what was said if nothing was."""
    world = Assets(*zones)
    planner = Playbook([Rule(on="Assets", steps=[Draft(zone=zone, skill="press")])])
    result = Agent(world, planner, store=MemoryStore()).run_sync("Press it")
    return world.pressed, "" if result.success else f"{result.final_reason}: {result.final_detail}"


def test_an_ambiguous_pattern_lists_what_it_may_mean() -> None:
    done, said = pressed("button:Add note")
    assert done == []
    assert said == (
        "structural_failure: the planner found it impossible: 'button:Add note' may be any of 3 zones on 'Assets': "
        "button:Add note@A-1, button:Add note@A-2, button:Add note@A-3"
    )


@pytest.mark.parametrize("zone", ["button:Add note@A-2", "Add note@A-2", "Add*@*2"])
def test_a_container_in_the_pattern_tells_zones_apart(zone: str) -> None:
    assert pressed(zone) == (["add-2"], "")


def test_a_container_that_is_not_there_is_not_guessed() -> None:
    done, said = pressed("button:Add note@A-9")
    assert (done, "empty_plan" in said or "no rule has anything left" in said) == ([], True)


def test_a_pattern_for_any_button_names_the_first() -> None:
    assert pressed("button:*") == (["add-1"], "")


def test_zones_that_nothing_tells_apart_are_one() -> None:
    twice = [Zone(id=place, role="link", label="Help", state={"href": "/help"}) for place in ("top", "bottom")]
    assert pressed("link:Help", twice) == (["top"], "")


def test_a_label_with_an_at_sign_comes_before_a_container() -> None:
    zones = [
        Zone(id="row", role="link", label="ada", state={"within": "x.test"}),
        Zone(id="mail", role="link", label="ada@x.test"),
    ]
    assert pressed("link:ada@x.test", zones) == (["mail"], "")
    assert pressed("link:ada@x.test", zones[:1]) == (["row"], "")
    assert not ZonePattern.parse("link:ada[@]x.test").fits(zones[0]), "as an input's value is written"
    assert ZonePattern.parse("link:ada[@]x.test").fits(zones[1])


@pytest.mark.parametrize(("label", "there"), [("Add note@A-2", True), ("Add note@A-9", False), ("Add note", True)])
def test_checks_may_name_containers(label: str, there: bool) -> None:
    seen = Observation(id="o", surface=Surface(title="Assets"), zones=Assets().zones, fingerprint="f")
    check: Any = Expectation(checks=[ZoneAppears(role="button", label=label)])
    assert holds(check, seen, None) is there
