"""A robot that sorts cubes into bins by what its camera tells it. Where things really are is in the log."""

from collections.abc import Mapping
from dataclasses import replace
from math import cos, hypot, sin, tau
from typing import ClassVar, Unpack

from midcourse.domain.observation import Observation, Unseen, Zone
from midcourse.domain.outcome import Outcome
from midcourse.worlds.base import Scene, failed, probe, skill, unreachable
from midcourse.worlds.simulated.arm import NEAR, OBJECTS, Arm, ArmState, Thing, build_thing_zone, parse_things, solve
from midcourse.worlds.simulated.base import Simulation
from midcourse.worlds.simulated.effects import LoggedEffect
from midcourse.worlds.simulated.faults import Special

BINS = "red_bin=0.30,0.45 blue_bin=0.45,0.40 green_bin=0.15,0.50"
SHIFT = 0.05
"""Metres by which somebody pushes a thing aside."""


class Tabletop(Arm):
    """Perception is as good as the last look: what the camera got wrong, the gripper gets wrong."""

    name = "tabletop"
    stores = ("pick", "place", "place_in")
    special: ClassVar[Special] = {"grasp_slipped": ("pick",), "object_moved": ("pick",), "misnamed": (), "unseen": ()}

    def __init__(self, *, objects: str = OBJECTS, bins: str = BINS, **simulation: Unpack[Simulation]) -> None:
        """`objects` and `bins` say what is where at first: `red_cube=0.45,0.10 blue_cube=0.35,-0.20`, in metres."""
        super().__init__(objects=objects, **simulation)
        self._bins = parse_things(bins)

    @skill(effect="reversible", undo="place")
    def pick(self, object: str) -> Outcome | None:  # noqa: A002
        """Pick up a thing by its name, where the last look saw it."""
        seen = self._perceived().get(object)
        self.state = ArmState()
        if seen is None:
            return failed("object_not_found", f"perception returned zero matches for '{object}'")
        if held := self._find_held():
            return failed("gripper_full", f"the gripper already holds '{held.name}'")
        if "object_moved" in self._due:
            self._push_aside(seen)
        reach = solve(seen.x, seen.y)
        if not reach.converged:
            return unreachable(reach.detail)
        thing = self._at(seen)
        if thing is None:
            return failed("object_moved", f"'{object}' is no longer at ({seen.x:g}, {seen.y:g}), where it was seen")
        if "grasp_slipped" in self._due:
            return failed("grasp_slipped", f"the gripper closed on '{object}' and came up empty")
        self.store("picked", object=thing.name)
        self.state = ArmState(believed=replace(thing, held=True))
        return None

    @skill(effect="reversible", undo="pick")
    def place_in(self, bin: str) -> Outcome | None:  # noqa: A002
        """Put what the gripper holds into a bin, by the bin's name."""
        self.state = ArmState()
        where, held = self._bins.get(bin), self._find_held()
        if where is None:
            return failed("unknown_bin", f"there is no bin called '{bin}'")
        if held is None:
            return failed("nothing_held", "the gripper is empty")
        reach = solve(where.x, where.y)
        if not reach.converged:
            return unreachable(reach.detail)
        self.store("placed", object=held.name, x=where.x, y=where.y, bin=bin)
        self.state = ArmState(believed=Thing(name=held.name, x=where.x, y=where.y))
        return None

    @probe
    def in_bin(self, object: str, bin: str) -> bool:  # noqa: A002
        """Whether this thing really lies in this bin."""
        thing = self._list_things().get(object)
        return thing is not None and self._bin_of(thing) == bin

    @probe
    def all_sorted(self) -> bool:
        """Whether every thing really lies in the bin of its colour."""
        return all(self._bin_of(thing) == f"{_colour(thing.name)}_bin" for thing in self._list_things().values())

    async def observe(self) -> Observation | Unseen:
        self._looks += 1
        return await super().observe()

    def scene(self) -> Scene:
        things = self._perceived()
        held = next((thing.name for thing in things.values() if thing.held), "")
        return Scene(
            "Tabletop",
            Zone(id="gripper", role="gripper", label="Gripper", state=(("holding", held),)),
            *(Zone(id=f"bin_{one.name}", role="bin", label=one.name) for one in self._bins.values()),
            *(build_thing_zone(thing, bin=self._bin_of(thing)) for thing in things.values()),
        )

    def _begin(self) -> None:
        super()._begin()
        self._looks = 0

    def _perceived(self) -> Mapping[str, Thing]:
        """What the last look made of the table. What is in the gripper is felt, and never mistaken."""
        things = dict(self._list_believed())
        loose = sorted(name for name, thing in things.items() if not thing.held)
        if loose and "unseen" in self._seeing:
            del things[loose.pop(self._which("unseen", len(loose)))]
        if len(loose) > 1 and "misnamed" in self._seeing:
            one = loose.pop(self._which("misnamed", len(loose)))
            other = loose[self._which("for", len(loose))]
            things[one], things[other] = (
                replace(things[other], name=one),
                replace(things[one], name=other),
            )
        return things

    def _which(self, what: str, among: int) -> int:
        """The same until the next look."""
        return int(self.draw_hex(what, self._looks), 16) % among

    def _at(self, place: Thing) -> Thing | None:
        """What really is there."""
        return next(
            (
                thing
                for thing in self._list_things().values()
                if not thing.held and hypot(thing.x - place.x, thing.y - place.y) <= NEAR
            ),
            None,
        )

    def _bin_of(self, thing: Thing) -> str:
        if thing.held:
            return ""
        near = (one.name for one in self._bins.values() if hypot(thing.x - one.x, thing.y - one.y) <= NEAR)
        return next(near, "")

    def _push_aside(self, seen: Thing) -> None:
        """A person pushes a cube, towards the arm or across. It is not an act of the run, and still a fact of the table."""
        thing = self._at(seen)
        if thing is None:
            return
        turn = tau * int(self.draw_hex("push", self._looks, len(self.effects)), 16) / 16**8
        x, y = round(thing.x + SHIFT * cos(turn), 4), round(thing.y + SHIFT * sin(turn), 4)
        where = {"object": thing.name, "x": x, "y": y}
        self.effects.append(LoggedEffect(effect="moved", at=self._clock.now(), values=where))


def _colour(name: str) -> str:
    return name.partition("_")[0]
