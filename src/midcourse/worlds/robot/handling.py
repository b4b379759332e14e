"""Handling of objects: sequences of motions, each judged by what the solver and the fingers report."""

from collections.abc import Callable, Mapping
from math import hypot

from midcourse.domain.argument import Scalar
from midcourse.domain.outcome import Outcome
from midcourse.worlds.base import failed, unreachable
from midcourse.worlds.robot.cell import Cell, Pose
from midcourse.worlds.robot.disturbances import Disturbances
from midcourse.worlds.robot.kinematics import HOME, Solution
from midcourse.worlds.robot.layout import HALF

HOVER = 0.15
"""Metres above an object or a place from which the gripper goes straight down."""
DROP = 0.012
"""Metres above the table at which an object is let go."""
OPEN, SHUT = 1.0, 0.0


class Handling:
    """Works in the thread of the cell. `store` logs what really happened, which a robot cannot always know."""

    def __init__(self, cell: Cell, disturbances: Disturbances, store: Callable[..., None]) -> None:
        self._cell, self._disturbances, self._store = cell, disturbances, store

    def pick(self, name: str, at: Pose) -> Outcome | Mapping[str, Scalar]:
        cell = self._cell
        if cell.grip().holds:
            return failed("gripper_full", "the gripper already holds something")
        down = cell.solve(at.x, at.y, at.z, at.yaw)
        above = cell.solve(at.x, at.y, at.z + HOVER, at.yaw) if down.converged else down
        if not above.converged:
            return self._explain(above, at)
        due = self._disturbances.find_due_at_pick()
        cell.grasp(OPEN)
        cell.move(above.joints, self._once(0.6, lambda: self._push(at)) if "object_moved" in due else None)
        cell.move(down.joints)
        cell.grasp(SHUT)
        felt = cell.grip()
        if not felt.holds:
            self._retreat(above)
            where = f"({at.x:.3f}, {at.y:.3f}), where '{name}' was seen"
            return failed(
                "object_moved", f"nothing is between the fingers at {where}: they closed to {felt.millimetres}"
            )
        slips = self._once(0.2 + 0.5 * self._disturbances.draw(), cell.slicken) if "grasp_slipped" in due else None
        cell.move(above.joints, slips)
        cell.dry()
        held = cell.grip()
        if not held.holds:
            self._retreat(above)
            self._store("slipped", object=felt.holds)
            return failed(
                "grasp_slipped", f"both fingers touched '{name}' with {felt.force:.1f} N; none does after the lift"
            )
        self._store("picked", object=held.holds)
        return {"opening_mm": round(1000 * held.opening, 1), "force_n": round(held.force, 1)}

    def place(self, x: float, y: float, bin: str = "") -> Outcome | None:  # noqa: A002
        cell, held = self._cell, self._cell.grip()
        if not held.holds:
            return failed("nothing_held", "the fingers touch nothing")
        at = Pose(x=x, y=y, z=HALF + DROP)
        down = cell.solve(at.x, at.y, at.z)
        above = cell.solve(at.x, at.y, at.z + HOVER) if down.converged else down
        if not above.converged:
            return self._explain(above, at)
        cell.move(above.joints)
        if not cell.grip().holds:
            self._store("dropped", object=held.holds)
            return failed("dropped", f"it was lost on the way to ({x:g}, {y:g})")
        cell.move(down.joints)
        self._retreat(above)
        self._store("placed", object=held.holds, x=x, y=y, **({"bin": bin} if bin else {}))
        return None

    def open(self) -> None:
        held = self._cell.grip().holds
        self._cell.grasp(OPEN)
        self._cell.settle()
        if held:
            self._store("dropped", object=held)

    def close(self) -> Mapping[str, Scalar]:
        self._cell.grasp(SHUT)
        felt = self._cell.grip()
        return {
            "touches": bool(felt.holds),
            "opening_mm": round(1000 * felt.opening, 1),
            "force_n": round(felt.force, 1),
        }

    def home(self) -> None:
        self._cell.move(HOME)

    def _explain(self, solution: Solution, at: Pose) -> Outcome:
        """Return why a place cannot be reached: it is unreachable only if no orientation of the gripper gets there."""
        if self._cell.solve(at.x, at.y, at.z, None).converged:
            return failed(
                "ik_failed", f"{solution.detail}; the place is in reach, but not with the gripper pointing down"
            )
        return unreachable(solution.detail)

    def _retreat(self, above: Solution) -> None:
        """Open, rise, and go home, so that the camera sees the table."""
        self._cell.grasp(OPEN)
        self._cell.move(above.joints)
        self._cell.move(HOME)
        self._cell.settle()

    def _push(self, at: Pose) -> None:
        """Push the object that really is nearest to the place that the arm moves to."""
        poses = {name: self._cell.pose(name) for name in self._cell.objects}
        name = min(poses, key=lambda each: hypot(poses[each].x - at.x, poses[each].y - at.y))
        self._disturbances.push(self._cell, name)
        self._store("pushed", object=name)

    @staticmethod
    def _once(share: float, do: Callable[[], None]) -> Callable[[float], None]:
        """Return a callback for `Cell.move` that calls `do` once, when this share of the way is done."""
        left = [do]

        def check(now: float) -> None:
            if left and now >= share:
                left.pop()()

        return check
