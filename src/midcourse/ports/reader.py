"""Port of the reader: finds zones in a screenshot, for worlds or parts of them that have only pictures."""

from dataclasses import dataclass
from typing import Protocol

from midcourse.domain.budget import Cost
from midcourse.domain.observation import Surface, Zone
from midcourse.ports.planner import ONE_CALL


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A screenshot, as PNG."""

    png: bytes
    surface: Surface
    size: tuple[int, int] | None = None
    """Width and height of the pictured area, in the unit of bounds. None: in pixels of the picture."""
    goal: str = ""
    """What the run is to do."""
    known: tuple[Zone, ...] = ()
    """What the world reports of this screen. Zones that show the same are left out when an answer is merged."""
    worst: Cost = ONE_CALL
    """The cost reserved for this call."""


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """Zones found in a picture. Without any, `why` says why."""

    zones: tuple[Zone, ...] = ()
    why: str = ""
    unread: bool = False
    """Whether the picture was not read at all, rather than read with nothing found. The planner is told why."""
    cost: Cost = ONE_CALL
    model: str = ""
    wait: float | None = None
    """Seconds until a model should be asked again, if none could be reached; 0 if unknown."""


class Reader(Protocol):
    """Finds zones in a screenshot that the world could not find."""

    async def read(self, picture: Picture) -> Sighting: ...
