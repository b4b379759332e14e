"""Inverse kinematics of a planar arm with three joints: damped least squares, in plain Python."""

from dataclasses import dataclass
from math import cos, hypot, sin

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
