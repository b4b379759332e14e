"""The cell: arm, table, objects and bins as MuJoCo simulates them. All poses and contacts are read from the simulation."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from math import atan2, pi
from pathlib import Path
from typing import Any

import numpy as np

from midcourse.worlds.robot.kinematics import HOME, JOINTS, Solution, Solver, Vector
from midcourse.worlds.robot.layout import HALF, Place

mujoco: Any = import_module("mujoco")  # it has no type information

PANDA = Path(__file__).parent / "panda" / "panda.xml"
STEP = 0.002
"""Seconds that one step of the simulation takes."""
TRAY = 0.075
"""Half the inner width of a bin."""
PADS = ("left_pad", "right_pad")
FIRM = 1.5
"""Friction of the finger pads."""
SLIDING = 0.6
"""Friction of the objects."""
WET = 0.01
GRAVITY = 9.81
RESTING = 1e-3
"""Speed, in m/s, below which an object lies still."""
SPEED = 1.0
"""Average speed of the joint that has the longest way, in rad/s."""
QUICKEST = 0.4
"""Seconds that a motion takes at least."""
WIDTH, HEIGHT = 640, 480


class Stopped(Exception):
    """The motion was stopped from outside."""


@dataclass(frozen=True, kw_only=True)
class Pose:
    """Where an object is. `yaw` is the turn of its nearest face, from -45° to 45°, in radians."""

    x: float
    y: float
    z: float
    yaw: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Grip:
    """What the fingers feel: how far apart they are, and which object touches both."""

    opening: float
    holds: str = ""
    force: float = 0.0
    """Newtons, of the finger that presses less."""

    @property
    def millimetres(self) -> str:
        return f"{1000 * max(0.0, self.opening):.0f} mm"


class Cell:
    """One simulation. It is not thread-safe: all calls come from one thread, except `stop`."""

    def __init__(self, objects: Iterable[Place], bins: Iterable[Place]) -> None:
        self.objects, self.bins = {place.name: place for place in objects}, {place.name: place for place in bins}
        self.model: Any = _build_model(self.objects.values(), self.bins.values())
        self.data: Any = mujoco.MjData(self.model)
        self._solver = Solver(mujoco, self.model)
        self._joints = np.array([self.model.joint(name).qposadr[0] for name in JOINTS])
        self._motors = np.array([self.model.actuator(name).id for name in JOINTS])
        self._gripper = self.model.actuator("gripper").id
        self._pads = tuple(self.model.geom(name).id for name in PADS)
        self._owners = {self.model.geom(name).id: name for name in self.objects}
        self._stopped = False
        self.restart()

    def restart(self) -> None:
        """Put everything where it was at first, the arm at home and the gripper open."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[self._joints] = self.data.ctrl[self._motors] = HOME
        for finger in ("finger_joint1", "finger_joint2"):
            self.data.joint(finger).qpos[0] = 0.04
        self.data.ctrl[self._gripper] = 1.0
        self.dry()
        mujoco.mj_forward(self.model, self.data)

    # --- sensing

    def tray(self, name: str) -> Pose:
        return Pose(x=self.bins[name].x, y=self.bins[name].y, z=0.0)

    def pose(self, name: str) -> Pose:
        body = self.data.body(name)
        x, y, z = map(float, body.xpos)
        turned = np.array(body.xmat).reshape(3, 3)
        flat = turned[:, int(np.argmin(np.abs(turned[2])))]  # an axis that lies in the table's plane
        yaw = (atan2(float(flat[1]), float(flat[0])) + pi / 4) % (pi / 2) - pi / 4
        return Pose(x=x, y=y, z=z, yaw=yaw if self.objects[name].shape == "cube" else 0.0)

    def grip(self) -> Grip:
        pressed: dict[str, dict[int, float]] = {}
        force = np.zeros(6)
        for number in range(self.data.ncon):
            contact = self.data.contact[number]
            for pad, other in ((contact.geom1, contact.geom2), (contact.geom2, contact.geom1)):
                if pad in self._pads and other in self._owners:
                    mujoco.mj_contactForce(self.model, self.data, number, force)
                    by_pad = pressed.setdefault(self._owners[other], {})
                    by_pad[pad] = by_pad.get(pad, 0.0) + abs(float(force[0]))
        opening = float(sum(self.data.joint(finger).qpos[0] for finger in ("finger_joint1", "finger_joint2")))
        for name, by_pad in pressed.items():
            if len(by_pad) == len(PADS):
                return Grip(opening=opening, holds=name, force=min(by_pad.values()))
        return Grip(opening=opening)

    def hand(self) -> Vector:
        return np.array(self.data.site("TCP").xpos)

    # --- moving

    def solve(self, x: float, y: float, z: float, yaw: float | None = 0.0) -> Solution:
        return self._solver.solve(np.array([x, y, z]), yaw)

    def move(self, joints: Iterable[float], during: Callable[[float], None] | None = None) -> None:
        """Move all joints smoothly. `during` is called before each step with the share of the way that is done."""
        goal, start = np.array(tuple(joints)), np.array(self.data.ctrl[self._motors])
        seconds = max(QUICKEST, float(np.abs(goal - start).max()) / SPEED)
        steps = round(seconds / STEP)
        for step in range(1, steps + 1):
            share = step / steps
            if during is not None:
                during(share)
            self.data.ctrl[self._motors] = start + (goal - start) * (3 * share**2 - 2 * share**3)
            self._advance()
        self.wait(0.2)

    def grasp(self, opening: float) -> None:
        """Open (1) or close (0) the gripper."""
        self.data.ctrl[self._gripper] = opening
        self.wait(0.4)

    def wait(self, seconds: float) -> None:
        for _ in range(round(seconds / STEP)):
            self._advance()

    def settle(self, seconds: float = 2.0) -> None:
        """Wait until every object lies still, at most this many seconds."""
        for _ in range(round(seconds / 0.05)):
            if all(float(np.linalg.norm(self.data.joint(name).qvel[:3])) < RESTING for name in self.objects):
                return
            self.wait(0.05)

    def stop(self) -> None:
        """Stop the motion under way, from another thread."""
        self._stopped = True

    def resume(self) -> None:
        """Allow motions again."""
        self._stopped = False

    def _advance(self) -> None:
        if self._stopped:
            self.data.ctrl[self._motors] = self.data.qpos[self._joints]
            raise Stopped
        mujoco.mj_step(self.model, self.data)

    # --- disturbances

    def push(self, name: str, distance: float, direction: float) -> None:
        """Push an object: one that slides comes to rest after this distance, a ball rolls on."""
        speed = np.sqrt(2 * SLIDING * GRAVITY * distance) if self.objects[name].shape != "ball" else 2 * distance
        self.data.joint(name).qvel[:2] = speed * np.cos(direction), speed * np.sin(direction)

    def slicken(self) -> None:
        """Remove the friction of pads and objects, so that a grip slips. The friction of the table is unchanged."""
        self._set_friction(WET, WET)

    def dry(self) -> None:
        self._set_friction(FIRM, SLIDING)

    def _set_friction(self, pads: float, objects: float) -> None:
        self.model.geom_friction[list(self._pads), 0] = pads
        self.model.geom_friction[list(self._owners), 0] = objects

    # --- saving

    def state(self) -> Mapping[str, list[float]]:
        """Return the state of the simulation as numbers."""
        data = self.data
        parts = {"qpos": data.qpos, "qvel": data.qvel, "ctrl": data.ctrl, "warm": data.qacc_warmstart}
        return {**{name: list(map(float, values)) for name, values in parts.items()}, "time": [float(data.time)]}

    def restore(self, state: Mapping[str, list[float]]) -> None:
        """Set the simulation to this state. Raises `ValueError` for the state of another layout."""
        self.data.qpos[:], self.data.qvel[:] = state["qpos"], state["qvel"]
        self.data.ctrl[:], self.data.qacc_warmstart[:] = state["ctrl"], state["warm"]
        self.data.time = state["time"][0]
        mujoco.mj_forward(self.model, self.data)


# --- the model


def _build_model(objects: Iterable[Place], bins: Iterable[Place]) -> Any:
    spec = mujoco.MjSpec.from_file(str(PANDA))
    spec.option.timestep = STEP
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.visual.global_.offwidth, spec.visual.global_.offheight = WIDTH, HEIGHT
    spec.visual.quality.shadowsize = 2048
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = [0.45] * 3, [0.25] * 3
    sky = spec.add_texture(type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT)
    sky.rgb1, sky.rgb2, sky.width, sky.height = [0.80, 0.85, 0.90], [0.55, 0.60, 0.67], 64, 384
    world = spec.worldbody
    world.add_light(pos=[0.8, -0.8, 2.2], dir=[-0.2, 0.45, -1], diffuse=[0.6] * 3, castshadow=True)
    box = mujoco.mjtGeom.mjGEOM_BOX
    table = {"friction": [0.4, 0.005, 0.0001], "contype": 1, "conaffinity": 3}
    world.add_geom(
        name="table", type=box, pos=[0.45, 0, -0.025], size=[1.0, 0.85, 0.025], rgba=[0.80, 0.76, 0.70, 1], **table
    )
    world.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, pos=[0, 0, -0.7], size=[6, 6, 0.1], rgba=[0.36, 0.40, 0.46, 1], **table
    )
    world.add_camera(
        name="camera",
        pos=[1.75, -1.25, 1.15],
        xyaxes=_compute_camera_axes([1.75, -1.25, 1.15], [0.4, 0.03, 0.18]),
        fovy=37,
    )
    for tray in bins:
        _add_tray(world, tray, table)
    for thing in objects:
        _add_object(world, thing)
    return spec.compile()


def _add_tray(world: Any, tray: Place, surface: Mapping[str, Any]) -> None:
    box, colour = mujoco.mjtGeom.mjGEOM_BOX, [*tray.colour, 1.0]
    body, wall = world.add_body(name=tray.name, pos=[tray.x, tray.y, 0]), 0.004
    body.add_geom(
        type=box,
        pos=[0, 0, 0.001],
        size=[TRAY, TRAY, 0.001],
        rgba=[*((1 + share) / 2 for share in tray.colour), 1.0],
        **surface,
    )
    for side in (-1, 1):
        off = side * (TRAY + wall)
        body.add_geom(type=box, pos=[off, 0, 0.012], size=[wall, TRAY + 2 * wall, 0.012], rgba=colour, **surface)
        body.add_geom(type=box, pos=[0, off, 0.012], size=[TRAY, wall, 0.012], rgba=colour, **surface)


def _add_object(world: Any, thing: Place) -> None:
    kinds = mujoco.mjtGeom
    shapes = {"cube": kinds.mjGEOM_BOX, "ball": kinds.mjGEOM_SPHERE, "can": kinds.mjGEOM_CYLINDER}
    body = world.add_body(name=thing.name, pos=[thing.x, thing.y, HALF])
    body.add_freejoint(name=thing.name)
    body.add_geom(
        name=thing.name,
        type=shapes[thing.shape],
        size=[HALF] * 3,
        mass=0.06,
        friction=[SLIDING, 0.02, 0.0008],
        condim=6,
        rgba=[*thing.colour, 1.0],
        contype=1,
        conaffinity=3,
    )


def _compute_camera_axes(position: list[float], target: list[float]) -> list[float]:
    """The x and y axes of a camera that looks from one point to another, upright."""
    back = np.array(position) - np.array(target)
    back /= np.linalg.norm(back)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    return [*map(float, right), *map(float, np.cross(back, right))]
