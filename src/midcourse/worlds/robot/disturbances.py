"""Disturbances of the cell, scheduled or random: all of them are physical, or errors of the camera."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from math import cos, hypot, pi, sin, tau
from typing import TypeAlias

from midcourse.errors import SkillInvalid
from midcourse.worlds.robot.cell import Cell
from midcourse.worlds.simulated.drift import Chance, Drift, parse_drift
from midcourse.worlds.simulated.faults import Fault, FaultKind, Premises, Schedule, Special, check_faults, parse_faults

PICK_KINDS: tuple[FaultKind, ...] = ("object_moved", "grasp_slipped")
LOOK_KINDS: tuple[FaultKind, ...] = ("look_fails", "misnamed", "unseen")
SPECIAL: Special = {"object_moved": ("pick",), "grasp_slipped": ("pick",), "misnamed": (), "unseen": ()}
Faults: TypeAlias = Sequence[Fault | Mapping[str, object]]
Rates: TypeAlias = Drift | str | Mapping[str, object]

NEAREST, FARTHEST = 0.32, 0.70
"""A pushed object comes to rest at such a distance from the base, in metres."""
APART = 0.09
"""Metres that it keeps from other objects."""


class Disturbances:
    """Says what is due at each look and each pick of a session. The same seed and acts meet the same disturbances."""

    def __init__(self, faults: Faults, drift: Rates, seed: int, premises: Premises) -> None:
        self._ordered = parse_faults(faults)
        for kind in (*(fault.kind for fault in self._ordered), *(drift if isinstance(drift, Mapping) else ())):
            if kind not in (*PICK_KINDS, *LOOK_KINDS):
                raise SkillInvalid(f"'{kind}' makes no sense here: nothing in {premises.world} can have it")
        check_faults(self._ordered, premises)
        self._rates = parse_drift(drift, premises)
        self._seed = seed
        self.restart()

    def restart(self) -> None:
        self._schedule, self._chance = Schedule(self._ordered), Chance(self._rates, self._seed)
        self._draws = 0

    def find_due_at_look(self) -> Mapping[FaultKind, Fault]:
        return {**self._chance.due(LOOK_KINDS), **self._schedule.due(LOOK_KINDS, "")}

    def find_due_at_pick(self) -> Mapping[FaultKind, Fault]:
        return {**self._chance.due(PICK_KINDS), **self._schedule.due(PICK_KINDS, "pick")}

    def draw(self) -> float:
        """The next number from 0 to 1 of this session."""
        self._draws += 1
        digest = blake2b(repr((self._seed, self._draws)).encode(), digest_size=8).digest()
        return int.from_bytes(digest) / (1 << 64)

    def push(self, cell: Cell, name: str) -> None:
        """Push an object aside by 5 to 12 cm, within reach and clear of everything else if there is such a direction."""
        distance, first = 0.05 + 0.07 * self.draw(), tau * self.draw()
        at = cell.pose(name)
        others = [cell.pose(other) for other in cell.objects if other != name]
        others += [cell.tray(name) for name in cell.bins]

        def is_clear(direction: float) -> bool:
            x, y = at.x + distance * cos(direction), at.y + distance * sin(direction)
            return NEAREST <= hypot(x, y) <= FARTHEST and all(hypot(x - o.x, y - o.y) > APART for o in others)

        ways = [first + turn * pi / 4 for turn in range(8)]
        cell.push(name, distance, next(filter(is_clear, ways), first))
