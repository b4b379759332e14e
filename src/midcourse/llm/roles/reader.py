"""Reader: a model turns a screenshot into zones."""

import re
from collections import Counter
from typing import Annotated

from pydantic import Field, WithJsonSchema

from midcourse.domain.argument import Scalar
from midcourse.domain.budget import Cost
from midcourse.domain.observation import Bounds, Zone
from midcourse.llm.answer_parser import Answer
from midcourse.llm.image import Image, fit_image
from midcourse.llm.model_client import ModelRole, Unanswered
from midcourse.llm.prompt.quoting import quote
from midcourse.llm.prompt.template import Prompt, load_template
from midcourse.ports.reader import Picture, Sighting

ROLE = "reader"

MOST_ZONES = 2000

STATES = {
    "text": "string",
    "checked": "boolean",
    "enabled": "boolean",
    "expanded": "boolean",
    "selected": "boolean",
}
"""The states that a model is asked for, with their types: no provider enforces an object whose names are not known in advance."""
_STATE_SCHEMA = {"type": "object", "properties": {name: {"type": kind} for name, kind in STATES.items()}}


class ZoneAnswer(Answer):
    role: str
    label: str
    place: list[float] = Field(min_length=4, max_length=4, description="left, top, right, bottom")
    state: Annotated[dict[str, Scalar], WithJsonSchema(_STATE_SCHEMA)] = Field(default_factory=dict[str, Scalar])


class ScreenAnswer(Answer):
    zones: list[ZoneAnswer]


class ModelReader(ModelRole):
    async def read(self, picture: Picture) -> Sighting:
        image = fit_image(picture.png)
        if image is None:
            return Sighting(why="the picture is not a PNG", cost=Cost())
        prompt = build_reader_prompt(picture, image)
        reply = await self.client.ask(prompt, ScreenAnswer, worst=picture.worst, images=(image.png,))
        if isinstance(reply, Unanswered):
            return Sighting(why=reply.detail, cost=reply.cost, model=reply.model, wait=reply.seconds_until_retry)
        zones = _build_zones(reply.answer, image, picture.size or image.original)
        why = "" if zones else "nothing could be recognised"
        return Sighting(zones=zones, why=why, cost=reply.cost, model=reply.model)


def build_reader_prompt(picture: Picture, image: Image) -> Prompt:
    shown = picture.size or image.original
    scale = image.width / shown[0]
    return load_template(ROLE).fill(
        {
            "width": str(image.width),
            "height": str(image.height),
            "scale": "" if scale == 1 else f"{scale:.3g}",
            "title": quote(picture.surface.title),
        }
    )


def _build_zones(answer: ScreenAnswer, image: Image, shown: tuple[int, int]) -> tuple[Zone, ...]:
    """Build the zones in reading order, with ids made from role and label, so that they stay the same from look to look.

    Places are converted from pixels of the image to the unit of what is shown. Zones outside the image are left out.
    """
    placed = [(found, _convert_bounds(found.place, image, shown)) for found in answer.zones[:MOST_ZONES]]
    inside = [(found, bounds) for found, bounds in placed if bounds]
    times: Counter[str] = Counter()
    zones: list[Zone] = []
    for found, bounds in sorted(inside, key=lambda pair: (pair[1][1], pair[1][0])):
        name = re.sub(r"[^a-z0-9]+", "-", f"{found.role} {found.label}".lower()).strip("-")[:60] or "zone"
        times[name] += 1
        number = f"-{times[name]}" if times[name] > 1 else ""
        state = tuple((key, value) for key, value in found.state.items())
        zones.append(Zone(id=name + number, role=found.role, label=found.label, bounds=bounds, state=state))
    return tuple(zones)


def _convert_bounds(place: list[float], image: Image, shown: tuple[int, int]) -> Bounds | None:
    """Convert a place to the unit of what is shown, cut at the edges. Return None if no part of it is on the image."""
    left, top, right, bottom = place
    if not (left < right and top < bottom and right > 0 and bottom > 0 and left < image.width and top < image.height):
        return None
    across, down = shown[0] / image.width, shown[1] / image.height
    left, right = (round(across * min(max(side, 0), image.width)) for side in (left, right))
    top, bottom = (round(down * min(max(side, 0), image.height)) for side in (top, bottom))
    return left, top, max(right - left, 1), max(bottom - top, 1)
