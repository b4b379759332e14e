"""Reader: a model turns a screenshot into zones."""

import re
import struct
from collections import Counter

from pydantic import BaseModel, ConfigDict, Field

from midcourse.domain.argument import Scalar
from midcourse.domain.budget import Cost
from midcourse.domain.observation import Zone
from midcourse.llm.model_client import ModelRole, Unanswered
from midcourse.llm.prompt.quoting import quote
from midcourse.llm.prompt.template import Prompt, template
from midcourse.ports.reader import Picture, Sighting

ROLE = "reader"

PNG = b"\x89PNG\r\n\x1a\n"
_SIZE = struct.Struct(">II")
_SIZE_AT = 16
"""Offset of width and height in a PNG."""
MOST_ZONES = 2000


class ZoneAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    role: str
    label: str
    place: list[float] = Field(min_length=4, max_length=4, description="left, top, right, bottom")
    state: dict[str, Scalar] = Field(default_factory=dict[str, Scalar])


class ScreenAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    zones: list[ZoneAnswer]


class ModelReader(ModelRole):
    async def read(self, picture: Picture) -> Sighting:
        size = _size(picture.png)
        if size is None:
            return Sighting(why="the picture is not a PNG", cost=Cost())
        prompt = reader_prompt(picture, size)
        reply = await self.client.ask(prompt, ScreenAnswer, worst=picture.worst, images=(picture.png,))
        if isinstance(reply, Unanswered):
            return Sighting(why=reply.detail, cost=reply.cost, model=reply.model, wait=reply.again)
        zones = _zones(reply.answer, size)
        why = "" if zones else "nothing was made out"
        return Sighting(zones=zones, why=why, cost=reply.cost, model=reply.model)


def reader_prompt(picture: Picture, size: tuple[int, int]) -> Prompt:
    width, height = size
    title = quote(picture.surface.title)
    return template(ROLE).filled({"width": str(width), "height": str(height), "title": title})


def _size(png: bytes) -> tuple[int, int] | None:
    if not png.startswith(PNG) or len(png) < _SIZE_AT + _SIZE.size:
        return None
    width, height = _SIZE.unpack_from(png, _SIZE_AT)
    return (width, height) if width and height else None


def _zones(answer: ScreenAnswer, size: tuple[int, int]) -> tuple[Zone, ...]:
    """Zones with ids made from role and label, so that they stay the same. Zones outside the picture are left out."""
    times: Counter[str] = Counter()
    zones: list[Zone] = []
    for found in answer.zones[:MOST_ZONES]:
        bounds = _bounds(found.place, size)
        if bounds is None:
            continue
        name = re.sub(r"[^a-z0-9]+", "-", f"{found.role} {found.label}".lower()).strip("-")[:60] or "zone"
        times[name] += 1
        number = f"-{times[name]}" if times[name] > 1 else ""
        state = tuple((key, value) for key, value in found.state.items())
        zones.append(Zone(id=name + number, role=found.role, label=found.label, bounds=bounds, state=state))
    return tuple(zones)


def _bounds(place: list[float], size: tuple[int, int]) -> tuple[int, int, int, int] | None:
    """On the picture, at least in part; cut at its edges."""
    width, height = size
    left, top, right, bottom = place
    if not (left < right and top < bottom and right > 0 and bottom > 0 and left < width and top < height):
        return None
    return max(0, int(left)), max(0, int(top)), min(width, int(right)), min(height, int(bottom))
