"""Observations: what the world reports, what a reader finds in its picture, and the cost."""

from dataclasses import dataclass
from typing import cast

from midcourse.blame import describe_exception
from midcourse.codec import make_encodable
from midcourse.containment import Contained
from midcourse.domain.budget import FREE, Cost, Spent, bill, total, without_call
from midcourse.domain.observation import Observation, ObservationRef, Unseen
from midcourse.domain.replace import replace
from midcourse.perform.picturing import as_png, store_picture
from midcourse.perform.ports import Deadline, Ports, describe_error
from midcourse.policy.merging import merge_zones
from midcourse.policy.spending import worst_plan
from midcourse.ports.blobs import Blob
from midcourse.ports.reader import Picture, Reader, Sighting

ROLE = "reader"


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
        picture = await store_picture(ports, seen.screenshot, time)
        seen = seen if picture else replace(seen, screenshot="")
    sighting: Sighting | None = None
    if reads and ports.reader is not None and ports.task.limits.vision and isinstance(seen, Observation):
        sighting = await _read_picture(ports, ports.reader, picture, seen, time)
        seen = _apply_sighting(seen, sighting)
    if isinstance(seen, Observation) and not seen.zones and _has_zones(ports):
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


def _has_zones(ports: Ports) -> bool:
    skills = ports.world.catalogue().skills
    return not skills or any(skill.on_zone for skill in skills)


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
