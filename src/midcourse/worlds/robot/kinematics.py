"""Inverse kinematics of the arm: Levenberg-Marquardt over all seven joints, within their limits."""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float64]

MAX_ITERATIONS = 400
TOLERANCE = 0.001
"""Metres."""
MAX_TILT = 0.01
"""Radians between the gripper's orientation and the one asked for."""
HOME = (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785)
STARTS = (HOME, (0.0, 0.3, 0.0, -1.6, 0.0, 1.9, 0.785))
"""Postures to search from, turned towards the target: folded, and leaning forward."""
JOINTS = tuple(f"joint{number}" for number in range(1, 8))
_WEIGHT = 0.3
"""How many metres of position one radian of orientation is worth."""


@dataclass(frozen=True, kw_only=True)
class Solution:
    """The posture that came nearest, and how near it is."""

    joints: tuple[float, ...]
    position_error: float
    """Metres that the point between the finger tips stays away from the target."""
    tilt: float
    iterations: int

    @property
    def converged(self) -> bool:
        return self.position_error <= TOLERANCE and self.tilt <= MAX_TILT

    @property
    def detail(self) -> str:
        if self.position_error > TOLERANCE:
            why = f"pos_err={self.position_error:.4f}m > tol={TOLERANCE}m"
        else:
            why = f"rot_err={self.tilt:.4f}rad > tol={MAX_TILT}rad"
        return f"IK did not converge in {self.iterations} iters ({why})"


class Solver:
    """Computes in its own copy of the state, so the arm does not move."""

    def __init__(self, mujoco: Any, model: Any) -> None:
        self._mujoco, self._model, self._data = mujoco, model, mujoco.MjData(model)
        joints = [model.joint(name) for name in JOINTS]
        self._positions = np.array([joint.qposadr[0] for joint in joints])
        self._columns = np.array([joint.dofadr[0] for joint in joints])
        self._low, self._high = np.array([joint.range for joint in joints]).T
        self._site = model.site("TCP").id

    def solve(self, target: Vector, yaw: float | None) -> Solution:
        """Find a posture with the fingers at `target`, pointing down and turned by `yaw`; None: pointing anywhere."""
        bearing = float(np.arctan2(target[1], target[0]))
        found: list[Solution] = []
        for start in STARTS:
            found.append(self._solve(target, yaw, np.array([bearing, *start[1:]])))
            if found[-1].converged:
                break
        return min(found, key=lambda solution: (not solution.converged, solution.position_error))

    def _solve(self, target: Vector, yaw: float | None, joints: Vector) -> Solution:
        wanted = None if yaw is None else _compute_orientation_down(yaw)
        error, damping = self._compute_error(joints, target, wanted), 1e-2
        for iteration in range(MAX_ITERATIONS):
            if _is_near(error):
                return _build_solution(joints, error, iteration)
            jacobian = self._compute_jacobian(joints, turning=wanted is not None)
            square = jacobian @ jacobian.T + damping * np.eye(len(error))
            tried = np.clip(joints + jacobian.T @ np.linalg.solve(square, error), self._low, self._high)
            left = self._compute_error(tried, target, wanted)
            if left @ left < error @ error:
                joints, error, damping = tried, left, max(damping / 2, 1e-6)
            else:
                damping = min(damping * 3, 1e3)
        return _build_solution(joints, error, MAX_ITERATIONS)

    def _compute_error(self, joints: Vector, target: Vector, wanted: Vector | None) -> Vector:
        self._move_to(joints)
        off: Vector = target - self._data.site_xpos[self._site]
        if wanted is None:
            return off
        return np.concatenate([off, _WEIGHT * _compute_turn(self._data.site_xmat[self._site].reshape(3, 3), wanted)])

    def _compute_jacobian(self, joints: Vector, *, turning: bool) -> Vector:
        self._move_to(joints)
        moving, rotating = np.zeros((3, self._model.nv)), np.zeros((3, self._model.nv))
        self._mujoco.mj_jacSite(self._model, self._data, moving, rotating, self._site)
        rows = [moving[:, self._columns], *([_WEIGHT * rotating[:, self._columns]] if turning else [])]
        return np.vstack(rows)

    def _move_to(self, joints: Vector) -> None:
        self._data.qpos[self._positions] = joints
        self._mujoco.mj_kinematics(self._model, self._data)
        self._mujoco.mj_comPos(self._model, self._data)


def _is_near(error: Vector) -> bool:
    return bool(np.linalg.norm(error[:3]) <= TOLERANCE and np.linalg.norm(error[3:]) <= _WEIGHT * MAX_TILT)


def _build_solution(joints: Vector, error: Vector, iterations: int) -> Solution:
    return Solution(
        joints=tuple(map(float, joints)),
        position_error=float(np.linalg.norm(error[:3])),
        tilt=float(np.linalg.norm(error[3:])) / _WEIGHT,
        iterations=iterations,
    )


def _compute_orientation_down(yaw: float) -> Vector:
    """Return the orientation of a hand whose fingers point to the table and open along the direction of `yaw` + 90°."""
    cosine, sine = np.cos(yaw), np.sin(yaw)
    return np.array([[cosine, sine, 0.0], [sine, -cosine, 0.0], [0.0, 0.0, -1.0]])


def _compute_turn(current: Vector, wanted: Vector) -> Vector:
    """Return the rotation vector that turns one orientation into the other, in world coordinates."""
    off = wanted @ current.T
    axis = np.array([off[2, 1] - off[1, 2], off[0, 2] - off[2, 0], off[1, 0] - off[0, 1]])
    sine, cosine = float(np.linalg.norm(axis)) / 2, (float(np.trace(off)) - 1) / 2
    if sine < 1e-9:
        return np.zeros(3) if cosine > 0 else np.array([np.pi, 0.0, 0.0])
    return axis / (2 * sine) * float(np.arctan2(sine, cosine))
