"""The robot as a world: what its camera shows as zones, what its arm and gripper do as skills."""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import hypot
from pathlib import Path
from typing import ClassVar, TypeVar

from midcourse.domain.argument import Scalar
from midcourse.domain.observation import Observation, Unseen, Zone
from midcourse.domain.outcome import Outcome
from midcourse.errors import TaskInvalid
from midcourse.files import atomic_write, private_folder
from midcourse.pictures import LatestPictures, When
from midcourse.ports.clock import SystemClock
from midcourse.ports.world import Call
from midcourse.worlds.base import BaseWorld, Scene, failed, probe, skill
from midcourse.worlds.robot.camera import Box, Camera
from midcourse.worlds.robot.cell import TRAY, Cell, Pose
from midcourse.worlds.robot.disturbances import SPECIAL, Disturbances, Faults, Rates
from midcourse.worlds.robot.handling import Handling
from midcourse.worlds.robot.layout import HALF, Place, check_names, read_places
from midcourse.worlds.simulated.drift import NO_DRIFT
from midcourse.worlds.simulated.effects import EffectLog, LoggedEffect
from midcourse.worlds.simulated.faults import Fault, FaultKind, Premises

log = logging.getLogger(__name__)
T = TypeVar("T")

OBJECTS = "red_cube=0.45,0.10 blue_cube=0.40,-0.20 green_cube=0.58,-0.05"
BINS = "red_bin=0.35,0.45 blue_bin=0.10,0.55 green_bin=0.10,-0.55"
NEAR = 0.02
"""Metres within which an object is at a place."""
LIFTED = HALF + 0.02
"""An object higher than this is off the table."""
CLOSED = Unseen(reason="world_lost", detail="the cell is closed")


class Robot(BaseWorld):
    """A Panda arm at a table, simulated by MuJoCo. All options can be written in a task file.

    `objects` and `bins` set the first layout, in metres from the base: `red_cube=0.45,0.10 green_ball=0.5,-0.2`. The last word of a
    name is the shape (cube, ball, can), the first one the colour.

    `faults` and `drift` disturb it, scheduled or at random by `seed`: `object_moved`, `grasp_slipped`, `misnamed`, `unseen`,
    `look_fails`. With `reset_after_failure`, an act that failed leaves the cell as it was before.

    `screenshots` sets which looks have a picture (never, on_change, on_failure, all). `effects` is the log of what really happened.
    `state` is a file that keeps the state of the cell when its process ends.
    """

    name = "robot"
    kind = "robot"
    rebuilds = True
    keeps: ClassVar[Mapping[str, str]] = {"effects": "effects.jsonl", "state": "cell.json"}

    def __init__(
        self,
        *,
        objects: str = OBJECTS,
        bins: str = BINS,
        seed: int = 0,
        faults: Faults = (),
        drift: Rates = NO_DRIFT,
        reset_after_failure: bool = False,
        screenshots: When = "never",
        effects: str = "",
        state: str = "",
    ) -> None:
        super().__init__()
        self._objects = read_places(objects, "red_cube=0.45,0.10")
        self._bins = read_places(bins, "red_bin=0.35,0.45")
        check_names(*self._objects, *self._bins)
        premises = Premises(world=self.name, catalogue=self.catalogue(), stores=(), special=SPECIAL)
        self._disturbances = Disturbances(faults, drift, seed, premises)
        self._resets = reset_after_failure
        self._pictures = LatestPictures(screenshots)
        self._state = Path(state) if state else None
        self.effects = EffectLog(effects)
        self._clock = SystemClock()
        self._thread: ThreadPoolExecutor | None = None
        self._cell: Cell | None = None
        self._camera: Camera | None = None
        self._seen: Mapping[str, Pose] = {}
        self._holding = ""

    # --- skills

    @skill(effect="read")
    async def perceive(self) -> Mapping[str, Scalar] | Outcome:
        """Look through the camera again, and say where every object is, in metres from the base."""
        seen = await self.observe()
        if isinstance(seen, Unseen):
            return failed("look_failed", seen.detail)
        if seen.screenshot:
            self._pictures.repeat()
        where = {name: f"{pose.x:.3f},{pose.y:.3f},{pose.z:.3f}" for name, pose in self._seen.items()}
        return {**where, "picture": seen.screenshot or (self._camera.missing if self._camera else "")}

    @skill(effect="reversible", undo="place")
    async def pick(self, object: str) -> Outcome | Mapping[str, Scalar]:  # noqa: A002
        """Pick up an object by its name, where the last look saw it."""
        at = self._seen.get(object)
        if at is None:
            return failed("object_not_found", f"perception returned zero matches for '{object}'")
        return await self._handle(lambda hand: hand.pick(object, at))

    @skill(effect="reversible", undo="pick")
    async def place(self, x: float, y: float) -> Outcome | None:
        """Put down what the gripper holds, so many metres from the base."""
        return await self._handle(lambda hand: hand.place(x, y))

    @skill(effect="reversible", undo="pick")
    async def place_in(self, bin: str) -> Outcome | None:  # noqa: A002
        """Put what the gripper holds into a bin, by the bin's name."""
        where = next((place for place in self._bins if place.name == bin), None)
        if where is None:
            return failed("unknown_bin", f"there is no bin called '{bin}'")
        return await self._handle(lambda hand: hand.place(where.x, where.y, bin))

    @skill
    async def open_gripper(self) -> Outcome | None:
        """Open the gripper; what it holds falls."""
        return await self._handle(lambda hand: hand.open())

    @skill
    async def close_gripper(self) -> Mapping[str, Scalar]:
        """Close the gripper until it meets something, and say what it feels."""
        return await self._handle(lambda hand: hand.close())

    @skill
    async def home(self) -> Outcome | None:
        """Move the arm back over its base, out of the camera's way. It keeps what it holds."""
        return await self._handle(lambda hand: hand.home())

    @skill
    async def reset(self) -> None:
        """Put the whole cell back to how it was at first."""

        def restart(cell: Cell) -> None:
            cell.restart()
            self._store("reset")

        await self._run_in_cell(restart)

    @skill(effect="read")
    async def wait(self, seconds: float) -> Outcome | None:
        """Wait, for example until something stops rolling. Time in the cell passes only while it does something."""
        if not 0 <= seconds <= 60:
            return failed("bad_arguments", f"seconds is from 0 to 60, not {seconds:g}")
        return await self._run_in_cell(lambda cell: cell.wait(seconds))

    # --- probes, which know where everything really is

    @probe
    async def holding(self, object: str) -> bool:  # noqa: A002
        """Whether both fingers touch this object, and it is off the table."""
        return await self._run_in_cell(lambda cell: _find_held(cell) == object)

    @probe
    async def lies_at(self, object: str, x: float, y: float) -> bool:  # noqa: A002
        """Whether this object lies there, within two centimetres."""

        def lies(cell: Cell) -> bool:
            if object not in cell.objects or object == _find_held(cell):
                return False
            pose = cell.pose(object)
            return hypot(pose.x - x, pose.y - y) <= NEAR

        return await self._run_in_cell(lies)

    @probe
    async def in_bin(self, object: str, bin: str) -> bool:  # noqa: A002
        """Whether this object lies in this bin."""
        return await self._run_in_cell(lambda cell: _find_bin_of(cell, object) == bin)

    @probe
    async def all_sorted(self) -> bool:
        """Whether every object lies in the bin of its colour."""

        def are_sorted(cell: Cell) -> bool:
            wanted = {name: f"{name.partition('_')[0]}_bin" for name in cell.objects}
            return all(_find_bin_of(cell, name) == where for name, where in wanted.items())

        return await self._run_in_cell(are_sorted)

    # --- the port

    async def open(self) -> str:
        """Open the cell in the state that was saved to the file, or with the first layout."""
        await self.close()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="robot")
        self._disturbances.restart()
        self._pictures.restart()
        loop = asyncio.get_running_loop()
        cell = await loop.run_in_executor(self._thread, self._begin)
        self._cell, self._camera = cell, Camera(cell)
        return await super().open()

    async def close(self) -> None:
        thread, camera = self._thread, self._camera
        self._thread = self._cell = self._camera = None
        if thread is not None:
            if camera is not None:
                await asyncio.get_running_loop().run_in_executor(thread, camera.close)
            thread.shutdown(wait=True)

    async def observe(self) -> Observation | Unseen:
        if self._cell is None or self._camera is None:
            return CLOSED
        due = self._disturbances.find_due_at_look()
        if fault := due.get("look_fails"):
            return Unseen(reason="failed", detail=fault.detail or "the camera gave no picture")
        self._holding, self._seen = await self._run_in_cell(self._perceive)
        self._add_camera_errors(due)
        seen = await super().observe()
        if isinstance(seen, Unseen) or not self._pictures.is_wanted(seen.fingerprint):
            return seen
        png = await self._run_in_cell(lambda _: self._camera.picture() if self._camera else b"")
        if not png:
            log.warning("%s", self._camera.missing)
            self._pictures.take_none()
            return seen
        return replace(seen, screenshot=await self._pictures.keep(png, seen.fingerprint))

    def picture_looks(self) -> None:
        """Take a picture at every look from now on."""
        self._pictures.take_all()

    async def read_screenshot(self, digest: str) -> bytes | None:
        return self._pictures.read(digest)

    async def look(self) -> Scene:
        """Return what the last look through the camera showed."""
        camera, seen = self._camera, self._seen

        def locate(_: Cell) -> Mapping[str, Box | None]:
            return {name: camera.bounds(pose) if camera else None for name, pose in seen.items()}

        boxes = await self._run_in_cell(locate)
        gripper = Zone(id="gripper", role="gripper", label="Gripper", state=(("holding", self._holding),))
        bins = (
            Zone(id=f"bin_{place.name}", role="bin", label=place.name, state=(("x", place.x), ("y", place.y)))
            for place in self._bins
        )
        objects: list[Zone] = []
        for name, pose in seen.items():
            held = name == self._holding
            state: dict[str, Scalar] = {"x": pose.x, "y": pose.y, "z": pose.z, "yaw": pose.yaw}
            state |= {"held": held, "bin": "" if held else _find_bin_at(self._bins, pose)}
            objects.append(Zone(id=f"object_{name}", role="object", label=name, bounds=boxes[name], state=state))
        return Scene("Robot cell", gripper, *bins, *objects)

    async def act(self, call: Call) -> Outcome:
        before = await self._run_in_cell(lambda cell: cell.state()) if self._resets else None
        outcome = await super().act(call)
        self._pictures.failed = outcome.status != "ok"
        if before is not None and self._pictures.failed:
            await self._run_in_cell(lambda cell: cell.restore(before))
            self._store("reset")
        if self._state is not None and self._cell is not None:
            await self._run_in_cell(self._save)
        return outcome

    # --- the cell and its thread

    async def _run_in_cell(self, do: Callable[[Cell], T]) -> T:
        """Run a function in the thread of the cell. If this is cancelled, the arm stops before anything else is done."""
        if self._thread is None or self._cell is None:
            raise ConnectionError(CLOSED.detail)
        cell = self._cell
        work = asyncio.get_running_loop().run_in_executor(self._thread, do, cell)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            cell.stop()
            await asyncio.wait([work])
            _ = work.exception()  # `Stopped`, if it was moving
            cell.resume()
            raise

    async def _handle(self, do: Callable[[Handling], T]) -> T:
        return await self._run_in_cell(lambda cell: do(Handling(cell, self._disturbances, self._store)))

    def _store(self, effect: str, **values: Scalar) -> None:
        self.effects.append(LoggedEffect(effect=effect, at=self._clock.now(), values=values))

    def _begin(self) -> Cell:
        cell = Cell(self._objects, self._bins)
        if self._state is not None and self._state.exists():
            try:
                cell.restore(json.loads(self._state.read_text(encoding="utf-8")))
            except ValueError:
                raise TaskInvalid(f"{self._state} is the state of a cell with another layout") from None
        return cell

    def _save(self, cell: Cell) -> None:
        assert self._state is not None
        private_folder(self._state.parent)
        atomic_write(self._state, json.dumps(cell.state()))

    def _perceive(self, cell: Cell) -> tuple[str, Mapping[str, Pose]]:
        return cell.grip().holds, {name: _round_pose(cell.pose(name)) for name in cell.objects}

    def _add_camera_errors(self, due: Mapping[FaultKind, Fault]) -> None:
        """Falsify what was seen by the errors of the camera that are due. An object in the gripper is always recognised."""
        seen = dict(self._seen)
        loose = sorted(name for name in seen if name != self._holding)
        if loose and "unseen" in due:
            del seen[loose.pop(int(self._disturbances.draw() * len(loose)))]
        if len(loose) > 1 and "misnamed" in due:
            first = loose.pop(int(self._disturbances.draw() * len(loose)))
            other = loose[int(self._disturbances.draw() * len(loose))]
            seen[first], seen[other] = seen[other], seen[first]
        self._seen = seen


def _find_held(cell: Cell) -> str:
    """The object that both fingers touch, if it is off the table."""
    name = cell.grip().holds
    return name if name and cell.pose(name).z > LIFTED else ""


def _find_bin_of(cell: Cell, name: str) -> str:
    if name not in cell.objects or name == _find_held(cell):
        return ""
    return _find_bin_at(cell.bins.values(), cell.pose(name))


def _find_bin_at(bins: Iterable[Place], pose: Pose) -> str:
    """Return the bin that this pose is in, or an empty string."""
    return next((place.name for place in bins if max(abs(pose.x - place.x), abs(pose.y - place.y)) <= TRAY), "")


def _round_pose(pose: Pose) -> Pose:
    """Round to millimetres, the resolution of the camera."""
    x, y, z = (round(value, 3) + 0.0 for value in (pose.x, pose.y, pose.z))
    return Pose(x=x, y=y, z=z, yaw=round(pose.yaw, 2) + 0.0)
