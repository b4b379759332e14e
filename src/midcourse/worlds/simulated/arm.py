"""A simulated robot arm at a table. The effect log has the real positions; the screen shows what the controller believes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import cos, hypot, sin
from typing import Any, Unpack

from midcourse.domain.argument import Pairs, Scalar
from midcourse.domain.observation import Zone
from midcourse.domain.outcome import Outcome
from midcourse.errors import TaskInvalid
from midcourse.ports.world import Call
from midcourse.worlds.base import Scene, failed, probe, skill, unreachable
from midcourse.worlds.simulated.base import Overlay, SimulatedWorld, Simulation

OBJECTS = "red_cube=0.45,0.10 blue_cube=0.35,-0.20 green_cube=0.55,-0.05"
NEAR = 0.01
"""Maximum distance in metres at which an object counts as being at a place."""


@dataclass(frozen=True, kw_only=True)
class Thing:
    """Something on the table, or in the gripper. Metres from the arm's base."""

    name: str
    x: float
    y: float
    held: bool = False


@dataclass(frozen=True, kw_only=True)
class ArmState:
    believed: Thing | None = None
    """The position of the last moved object as the controller believes it, until the arm moves again."""


class Arm(SimulatedWorld[ArmState]):
    """A simulated robot arm at a table. The effect log has the real positions; the screen shows what the controller believes."""

    name = "arm"
    kind = "robot"
    stores = ("pick", "place")
    popup = Overlay(kind="popup", title="Safety stop", text="Somebody is near the cell. Confirm to go on.", button="OK")
    error = Overlay(
        kind="error", title="Controller error", text="Connection to the arm lost, please try again.", button="OK"
    )
    loading = Overlay(kind="loading", title="Moving", text="The arm is moving")

    def __init__(self, *, objects: str = OBJECTS, **simulation: Unpack[Simulation]) -> None:
        """`objects` says what lies where at first: `red_cube=0.45,0.10 blue_cube=0.35,-0.20`, in metres."""
        super().__init__(ArmState(), **simulation)
        self._laid_out = parse_things(objects)

    @skill(effect="reversible", undo="place")
    def pick(self, object: str) -> Outcome | None:  # noqa: A002
        """Pick up a thing by its name."""
        self.state = ArmState()
        thing = self._list_things().get(object)
        if thing is None:
            return failed("object_not_found", f"perception returned zero matches for '{object}'")
        if held := self._find_held():
            return failed("gripper_full", f"the gripper already holds '{held.name}'")
        reach = solve(thing.x, thing.y)
        if not reach.converged:
            return unreachable(reach.detail)
        self.store("picked", object=object)
        self.state = ArmState(believed=replace(thing, held=True))
        return None

    @skill(effect="reversible", undo="pick")
    def place(self, x: float, y: float) -> Outcome | None:
        """Put down what the gripper holds, so many metres from the base."""
        self.state = ArmState()
        held = self._find_held()
        if held is None:
            return failed("nothing_held", "the gripper is empty")
        reach = solve(x, y)
        if not reach.converged:
            return unreachable(reach.detail)
        self.store("placed", object=held.name, x=x, y=y)
        self.state = ArmState(believed=Thing(name=held.name, x=x, y=y))
        return None

    @probe
    def holding(self, object: str) -> bool:  # noqa: A002
        """Whether the gripper really holds this thing."""
        held = self._find_held()
        return held is not None and held.name == object

    @probe
    def lies_at(self, object: str, x: float, y: float) -> bool:  # noqa: A002
        """Whether this thing really lies there, within a centimetre."""
        thing = self._list_things().get(object)
        return thing is not None and not thing.held and hypot(thing.x - x, thing.y - y) <= NEAR

    async def _do(self, call: Call, arguments: dict[str, Any]) -> Outcome:
        """Report an unknown outcome if the connection is lost, and forget the believed position, so that the sensors are read again."""
        outcome = await super()._do(call, arguments)
        if self._store_fault is None or self._store_fault.kind == "success_not_stored":
            return outcome
        self.state = ArmState()
        return Outcome(status="unknown", reason="connection_lost", detail=self._store_fault.detail or self.error.text)

    def scene(self) -> Scene:
        things = self._list_believed()
        held = next((thing.name for thing in things.values() if thing.held), "")
        gripper = Zone(id="gripper", role="gripper", label="Gripper", state=(("holding", held),))
        return Scene("Robot cell", gripper, *(build_thing_zone(thing) for thing in things.values()))

    def _list_believed(self) -> Mapping[str, Thing]:
        """All objects at the positions that the controller believes."""
        believed = self.state.believed
        return self._list_things() if believed is None else {**self._list_things(), believed.name: believed}

    def _list_things(self) -> Mapping[str, Thing]:
        """All objects at their real positions."""
        things = dict(self._laid_out)
        for entry in self.happened():
            name = entry.get("object")
            if entry.effect == "picked":
                things[name] = replace(things[name], held=True)
            else:
                things[name] = Thing(name=name, x=entry.get("x"), y=entry.get("y"))
        return things

    def _find_held(self) -> Thing | None:
        return next((thing for thing in self._list_things().values() if thing.held), None)


def build_thing_zone(thing: Thing, **more: Scalar) -> Zone:
    state: Pairs = (("x", thing.x), ("y", thing.y), ("held", thing.held), *more.items())
    return Zone(id=f"object_{thing.name}", role="object", label=thing.name, state=state)


def parse_things(objects: str) -> Mapping[str, Thing]:
    things: dict[str, Thing] = {}
    for part in objects.split():
        name, _, place = part.partition("=")
        try:
            x, y = map(float, place.split(","))
        except ValueError:
            raise TaskInvalid(f"'{part}' says no place of an object; write it like red_cube=0.45,0.10") from None
        things[name] = Thing(name=name, x=x, y=y)
    return things


# --- inverse kinematics of a planar arm with three joints: damped least squares, in plain Python


LINKS = (0.316, 0.384, 0.155)
"""Metres; together 0.855, the reach of a Franka arm."""
REACH = sum(LINKS)
MAX_ITERATIONS = 400
TOLERANCE = 0.001
HOME = (0.4, 0.8, 0.8)


@dataclass(frozen=True, kw_only=True)
class Solution:
    angles: tuple[float, float, float]
    error: float
    """How far the hand stays from the target, in metres."""
    iterations: int

    @property
    def converged(self) -> bool:
        return self.error <= TOLERANCE

    @property
    def detail(self) -> str:
        return f"IK did not converge in {self.iterations} iters (pos_err={self.error:.4f}m > tol={TOLERANCE}m)"


def solve(x: float, y: float) -> Solution:
    """Turn the joints until the hand is at (x, y), or the iterations are used up.

    The damping shrinks after every step that came nearer and grows after every one that did not, so an arm that cannot
    get there ends stretched out towards the target instead of oscillating.
    """
    angles, damping = HOME, 0.1
    hand_x, hand_y = _locate_hand(angles)
    error = hypot(x - hand_x, y - hand_y)
    for iteration in range(MAX_ITERATIONS):
        if error <= TOLERANCE:
            return Solution(angles=angles, error=error, iterations=iteration)
        tried = _compute_step(angles, x - hand_x, y - hand_y, damping)
        tried_x, tried_y = _locate_hand(tried)
        tried_error = hypot(x - tried_x, y - tried_y)
        if tried_error < error:
            angles, hand_x, hand_y, error = tried, tried_x, tried_y, tried_error
            damping = max(damping / 2, 1e-4)
        else:
            damping = min(damping * 4, 1e4)
    return Solution(angles=angles, error=error, iterations=MAX_ITERATIONS)


def _locate_hand(angles: tuple[float, float, float]) -> tuple[float, float]:
    x = y = heading = 0.0
    for length, angle in zip(LINKS, angles, strict=True):
        heading += angle
        x += length * cos(heading)
        y += length * sin(heading)
    return x, y


def _compute_step(
    angles: tuple[float, float, float], off_x: float, off_y: float, damping: float
) -> tuple[float, float, float]:
    """angles + Jᵀ (J Jᵀ + damping² I)⁻¹ off, where J has a column for each joint."""
    columns = _compute_jacobian(angles)
    a = sum(cx * cx for cx, _ in columns) + damping * damping
    b = sum(cx * cy for cx, cy in columns)
    d = sum(cy * cy for _, cy in columns) + damping * damping
    determinant = a * d - b * b
    pull_x = (d * off_x - b * off_y) / determinant
    pull_y = (a * off_y - b * off_x) / determinant
    first, second, third = (angle + cx * pull_x + cy * pull_y for angle, (cx, cy) in zip(angles, columns, strict=True))
    return first, second, third


def _compute_jacobian(angles: tuple[float, float, float]) -> list[tuple[float, float]]:
    """How the hand moves when each joint turns: at right angles to the line from the joint to the hand."""
    hand_x, hand_y = _locate_hand(angles)
    columns: list[tuple[float, float]] = []
    x = y = heading = 0.0
    for length, angle in zip(LINKS, angles, strict=True):
        columns.append((y - hand_y, hand_x - x))
        heading += angle
        x += length * cos(heading)
        y += length * sin(heading)
    return columns
