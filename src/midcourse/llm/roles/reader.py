"""Reader: a model turns what a screenshot shows, and the world does not report, into zones."""

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
from midcourse.llm.prompt.quoting import quote, quote_block, quote_name
from midcourse.llm.prompt.template import Prompt, load_template
from midcourse.ports.reader import Picture, Sighting

ROLE = "reader"

MOST_ZONES = 2000
MOST_KNOWN = 200
"""Known zones that it is told of, so that it lists the others: those first that can be acted on."""

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
            return Sighting(why="it is not a PNG", unread=True, cost=Cost())
        prompt = build_reader_prompt(picture, image)
        reply = await self.client.ask(prompt, ScreenAnswer, worst=picture.worst, images=(image.png,))
        if isinstance(reply, Unanswered):
            wait = reply.seconds_until_retry
            return Sighting(why=reply.detail, unread=True, cost=reply.cost, model=reply.model, wait=wait)
        zones = _build_zones(reply.answer, image, picture.size or image.original)
        misplaced = bool(reply.answer.zones) and not zones
        why = (
            "every place in the answer is outside of it"
            if misplaced
            else ""
            if zones
            else "nothing could be recognised"
        )
        return Sighting(zones=zones, why=why, unread=misplaced, cost=reply.cost, model=reply.model)


def build_reader_prompt(picture: Picture, image: Image) -> Prompt:
    shown = picture.size or image.original
    scale = image.width / shown[0]
    return load_template(ROLE).fill(
        {
            "width": str(image.width),
            "height": str(image.height),
            "scale": "" if scale == 1 else f"{scale:.3g}",
            "title": quote(picture.surface.title),
            "goal": quote(picture.goal, longest=1000) if picture.goal else "",
            "known": quote_block("KNOWN", _list_known(picture, scale)),
        }
    )


def _list_known(picture: Picture, scale: float) -> list[str]:
    """The zones that the world reports in sight, with their places in pixels of the image, as the answer has them."""
    shown = [
        zone for zone in picture.known if zone.bounds and not zone.get("covered") and zone.get("seen") is not False
    ]
    lines: list[str] = []
    for zone in sorted(shown, key=lambda zone: zone.role in ("text", "heading", "cell"))[:MOST_KNOWN]:
        left, top, width, height = zone.bounds or (0, 0, 0, 0)
        place = [round(scale * side) for side in (left, top, left + width, top + height)]
        lines.append(f"{quote_name(zone.role)} {quote(zone.label, longest=60) if zone.label else '(no label)'} {place}")
    return lines


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
