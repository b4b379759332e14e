"""Observations: what the world shows, what models read in its picture and in its words, and the cost.

A picture that cannot be fetched, stored or read does not fail a run: the observation is then used without it.
"""

import asyncio
import logging
from dataclasses import dataclass
from typing import cast

from midcourse.codec import make_encodable
from midcourse.containment import Contained
from midcourse.domain.budget import FREE, Cost, Spent, bill, total, without_call
from midcourse.domain.expectation import Expectation
from midcourse.domain.observation import Observation, ObservationRef, Unseen
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import Step
from midcourse.domain.replace import replace
from midcourse.errors import TaskInvalid
from midcourse.exception_text import describe_exception
from midcourse.perform.ports import Deadline, Ports, describe_error
from midcourse.pictures import read_picture, to_png
from midcourse.policy.evidence.verification import Sight, needs_reader
from midcourse.policy.merging import merge_zones
from midcourse.policy.spending import worst_plan
from midcourse.ports.abilities import offers
from midcourse.ports.blobs import Blob
from midcourse.ports.reader import Picture, Reader, Sighting
from midcourse.ports.verifier import Claim, Verdict
from midcourse.ports.world import Pictured

ROLE = "reader"

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Look:
    """The result of an observation, and what it cost."""

    seen: Observation | Unseen
    spent: tuple[Spent, ...] = ()
    wait: float | None = None
    """Seconds until the reader's model should be asked again, if it could not be reached."""

    @property
    def ref(self) -> ObservationRef | None:
        return self.seen.ref if isinstance(self.seen, Observation) else None

    @property
    def cost(self) -> Cost:
        return total(self.spent)


NO_LOOK = Look(seen=Unseen(reason="failed", detail="not looked at"))


async def look(
    ports: Ports, command: int, seconds: float, *, version: int = 0, free: bool = False, reads: bool = True
) -> Look:
    """Observe the world and save the observation. Unless `reads`, no model reads its picture.

    An empty screen counts as not seen, because it was probably not loaded, unless no skill of the world acts on a zone.
    """
    time = Deadline(ports.clock, seconds)
    flat = FREE if free else ports.look_cost
    seen = await _observe_world(ports, time)
    picture = None
    if isinstance(seen, Observation) and seen.screenshot:
        picture = await _store_picture(ports, seen.screenshot, time)
        seen = seen if picture else replace(seen, screenshot="")
    sighting: Sighting | None = None
    if reads and ports.reader is not None and ports.task.limits.vision and isinstance(seen, Observation):
        sighting = await _read_picture(ports, ports.reader, picture, seen, time)
        seen = _apply_sighting(seen, sighting)
    if isinstance(seen, Observation) and not seen.zones:
        skills = ports.world.catalogue().skills
        if not skills or any(skill.on_zone for skill in skills):
            seen = Unseen(reason="empty", detail=f"'{seen.surface.title}' showed nothing to act on")
    if isinstance(seen, Observation):
        seen = ports.mask_observation(replace(seen, id=f"o{command}"))
        await ports.store.save_observation(ports.run_id, seen)
    cost = flat.plus(sighting.cost) if sighting else flat
    if sighting is None:
        return Look(seen=seen, spent=bill(ROLE, cost, version))
    return Look(seen=seen, spent=bill(ROLE, cost, version, sighting.model), wait=sighting.wait)


async def is_world_lost(ports: Ports, seconds: float) -> bool:
    """Whether the world's session is gone or its host cannot be reached. Nothing is saved or read by a model."""
    seen = await _observe_world(ports, Deadline(ports.clock, seconds))
    return isinstance(seen, Unseen) and seen.reason == "world_lost"


async def _observe_world(ports: Ports, time: Deadline) -> Observation | Unseen:
    seconds = time.left()
    try:
        async with Contained(seconds):
            seen = cast(object, await ports.world.observe())
    except TimeoutError:
        return Unseen(reason="timeout", detail=f"nothing was seen within {seconds:g} s")
    except Exception as error:
        return Unseen(reason="failed", detail=ports.sanitize(describe_exception(error)))
    if isinstance(seen, Unseen):
        return replace(seen, detail=ports.sanitize(seen.detail))
    if not isinstance(seen, Observation):
        return Unseen(reason="failed", detail=f"the world showed {type(seen).__name__}, not an Observation")
    return make_encodable(seen) or Unseen(reason="failed", detail="what the world showed cannot be encoded as JSON")


async def _read_picture(
    ports: Ports, reader: Reader, picture: Blob | None, seen: Observation, time: Deadline
) -> Sighting:
    """Ask the reader. After an error no zones were found, and the full reservation counts as spent."""
    png = await as_png(picture)
    if not png:
        return Sighting(why=f"there is no picture of '{seen.surface.title}'", cost=FREE)
    worst = worst_plan(ports.task.limits)
    shown = Picture(png=png, surface=seen.surface, size=seen.size, worst=worst)
    try:
        async with Contained(time.left()):
            return await reader.read(shown)
    except TimeoutError:
        return Sighting(why="the picture was not read in time", cost=without_call(worst), wait=0.0)
    except Exception as error:
        return Sighting(why=describe_error(error), cost=worst)


def _apply_sighting(seen: Observation, sighting: Sighting) -> Observation | Unseen:
    """The observation with the zones found in the picture.

    Returns `Unseen`, so that the last observation stays, if neither the reader nor the world found zones on the screen, or if the
    reader must be asked again.
    """
    if not sighting.zones and (sighting.wait is not None or not any(zone.bounds for zone in seen.zones)):
        return Unseen(reason="failed", detail=f"the picture could not be read: {sighting.why}")
    return merge_zones(seen, sighting.zones)


# --- the screen after an act


async def observe_after(ports: Ports, command: int, step: Step, time: Deadline, *, free: bool = False) -> Look:
    """Look at the world. A `free` look is not charged, and no model reads its picture."""
    seconds = time.left(ports.task.limits.look_timeout_seconds)
    return await look(ports, command, seconds, version=step.version, free=free, reads=not free)


async def read_sight(
    ports: Ports,
    step: Step,
    before: Observation,
    found: Look,
    time: Deadline,
    report: Outcome | None = None,
    *,
    free: bool = False,
) -> tuple[Sight, tuple[Spent, ...]]:
    """The screen after an act, with its verbal expectation checked by the verifier, and the cost.

    Nothing is read after a failure, or for a `free` look.
    """
    after = found.seen if isinstance(found.seen, Observation) else None
    sight = Sight(before=before, after=after, expect=step.expect, absent_when=step.absent_when)
    if after is None or free or (report is not None and report.status not in ("ok", "unknown")):
        return sight, ()
    read = await read_words(ports, step.expect, after, time, before=before, version=step.version)
    if read.verdict is None:
        return sight, ()
    return replace(sight, read=read.verdict.holds, read_before=read.verdict.held_before), read.spent


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The verifier's verdict, None if it was not asked, and what it cost."""

    verdict: Verdict | None = None
    spent: tuple[Spent, ...] = ()


async def read_words(
    ports: Ports,
    condition: Expectation | None,
    now: Observation,
    time: Deadline,
    *,
    before: Observation | None = None,
    version: int = 0,
    turn: int = 0,
) -> Reading:
    """Have the verifier read a condition that is only words, if there is one and the settings allow it."""
    if condition is None or not needs_reader(condition) or ports.verifier is None or not ports.task.limits.reads_words:
        return Reading()
    worst, seconds = worst_plan(ports.task.limits), time.left(ports.task.limits.plan_timeout_seconds)
    says, task = ports.sanitize(condition.says), ports.public_task
    claim = Claim(says=says, task=task, now=now, before=before, worst=worst, turn=turn)
    try:
        async with Contained(seconds):
            verdict = await ports.verifier.verify(claim)
    except TimeoutError:
        verdict = Verdict(why="it was not read in time", cost=without_call(worst), wait=0.0)
    except Exception as error:
        verdict = Verdict(why=describe_error(error), cost=worst)
    return Reading(verdict=verdict, spent=bill("verifier", verdict.cost, version, verdict.model))


# --- pictures


async def _store_picture(ports: Ports, digest: str, time: Deadline) -> Blob | None:
    """Fetch the screenshot that the world's latest observation names, and store it with the run.

    None: it is not available, it is not a picture, or it could not be stored in time.
    """
    if ports.blobs is None or not offers(ports.world, Pictured):
        return None
    try:
        async with Contained(time.left()):
            data = await ports.world.read_screenshot(digest)
            picture = read_picture(data) if data is not None else None
            if picture is None or picture.digest != digest:
                return None
            await ports.blobs.put(ports.run_id, picture)
    except Exception as error:  # a world of the user may raise anything
        log.warning("a screenshot of run %s was not stored: %s: %s", ports.run_id, type(error).__name__, error)
        return None
    return picture


async def read_stored(ports: Ports, digest: str) -> Blob | None:
    """A screenshot of this run."""
    try:
        return await ports.blobs.read(ports.run_id, digest) if ports.blobs else None
    except OSError as error:
        log.warning("a screenshot of run %s was not read: %s", ports.run_id, error)
        return None


async def as_png(picture: Blob | None) -> bytes:
    """The picture as PNG; empty if there is none."""
    if picture is None or not picture.media_type.startswith("image/"):
        return b""
    try:
        return await asyncio.to_thread(to_png, picture)
    except (OSError, TaskInvalid) as error:  # Pillow raises OSError for data that it cannot read
        log.warning("a picture cannot be shown to a model: %s", error)
        return b""
