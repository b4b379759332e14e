"""Observations: what the world reports, or what a reader recognizes in its picture, and the cost."""

import asyncio
from dataclasses import dataclass
from typing import cast

from midcourse.blame import explained
from midcourse.codec import encodable
from midcourse.domain.budget import FREE, Cost, Spent, bill, total, uncounted
from midcourse.domain.observation import Observation, ObservationRef, Unseen, fingerprint_of
from midcourse.domain.replace import replace
from midcourse.perform.ports import Allowance, Ports, say
from midcourse.policy.spending import worst_plan
from midcourse.ports.reader import Picture, Pictures, Reader, Sighting

ROLE = "reader"


@dataclass(frozen=True, kw_only=True)
class Looked:
    seen: Observation | Unseen
    spent: tuple[Spent, ...] = ()
    wait: float | None = None
    """The model that reads the picture could not be reached: seconds until it is worth asking again."""

    @property
    def ref(self) -> ObservationRef | None:
        return self.seen.ref if isinstance(self.seen, Observation) else None

    @property
    def cost(self) -> Cost:
        return total(self.spent)


NO_LOOK = Looked(seen=Unseen(reason="failed", detail="not looked at"))


async def look(ports: Ports, command: int, seconds: float, *, version: int = 0, free: bool = False) -> Looked:
    """See the world and keep what was seen.

    An empty screen counts as not seen, because most likely it was not read; but not if no skill of the world acts on a zone.
    """
    time = Allowance(ports.clock, seconds)
    flat = FREE if free else ports.look_cost
    seen = await _observed(ports, time)
    sighting: Sighting | None = None
    if ports.reader is not None and ports.task.limits.vision and isinstance(seen, Observation):
        sighting = await _read(ports, ports.reader, ports.pictures, seen, time)
        seen = _as_read(seen, sighting)
    if isinstance(seen, Observation) and not seen.zones and _has_zones(ports):
        seen = Unseen(reason="empty", detail=f"'{seen.surface.title}' showed nothing to act on")
    if isinstance(seen, Observation):
        seen = ports.masked(replace(seen, id=f"o{command}"))
        await ports.store.save_observation(ports.run_id, seen)
    cost = flat.plus(sighting.cost) if sighting else flat
    if sighting is None:
        return Looked(seen=seen, spent=bill(ROLE, cost, version))
    return Looked(seen=seen, spent=bill(ROLE, cost, version, sighting.model), wait=sighting.wait)


def _has_zones(ports: Ports) -> bool:
    skills = ports.world.catalogue().skills
    return not skills or any(skill.on_zone for skill in skills)


async def _observed(ports: Ports, time: Allowance) -> Observation | Unseen:
    seconds = time.left()
    try:
        seen = cast(object, await asyncio.wait_for(ports.world.observe(), seconds))
    except TimeoutError:
        return Unseen(reason="timeout", detail=f"nothing was seen within {seconds:g} s")
    except Exception as error:
        return Unseen(reason="failed", detail=ports.plain(explained(error)))
    if isinstance(seen, Unseen):
        return replace(seen, detail=ports.plain(seen.detail))
    if not isinstance(seen, Observation):
        return Unseen(reason="failed", detail=f"the world showed {type(seen).__name__}, not an Observation")
    return encodable(seen) or Unseen(reason="failed", detail="what the world showed cannot be written down")


async def _read(
    ports: Ports, reader: Reader, pictures: Pictures | None, seen: Observation, time: Allowance
) -> Sighting:
    """Ask the reader. After an error nothing was recognized, and the full reservation counts as spent."""
    png = await pictures.read(seen.screenshot) if pictures and seen.screenshot else None
    if png is None:
        return Sighting(why=f"there is no picture of '{seen.surface.title}'", cost=FREE)
    worst = worst_plan(ports.task.limits)
    try:
        return await asyncio.wait_for(reader.read(Picture(png=png, surface=seen.surface, worst=worst)), time.left())
    except TimeoutError:
        return Sighting(why="the picture was not read in time", cost=uncounted(worst), wait=0.0)
    except Exception as error:
        return Sighting(why=say(error), cost=worst)


def _as_read(seen: Observation, sighting: Sighting) -> Observation | Unseen:
    """What was made out takes the place of what the world said; if nothing was, the last observation stays."""
    if not sighting.zones:
        return Unseen(reason="failed", detail=f"the picture could not be read: {sighting.why}")
    return replace(seen, zones=sighting.zones, fingerprint=fingerprint_of(seen.surface, sighting.zones))
