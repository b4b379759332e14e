"""Port of the reader: turns a screenshot into zones, for worlds that have only pictures."""

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
    worst: Cost = ONE_CALL
    """What is set aside for this very call."""


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """No zones: nothing was made out, and `why` says why not."""

    zones: tuple[Zone, ...] = ()
    why: str = ""
    cost: Cost = ONE_CALL
    model: str = ""
    wait: float | None = None
    """No model could be reached: seconds until it is worth asking again, 0 if unknown."""


class Reader(Protocol):
    async def read(self, picture: Picture) -> Sighting: ...


class Pictures(Protocol):
    """Where screenshots are, by the hash that an observation names."""

    async def read(self, digest: str) -> bytes | None: ...
