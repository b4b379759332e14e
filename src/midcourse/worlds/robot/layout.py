"""The layout of a cell: objects and bins by name, in metres from the base of the arm."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.errors import TaskInvalid

Shape: TypeAlias = Literal["cube", "ball", "can"]
SHAPES: Mapping[str, Shape] = {
    "cube": "cube",
    "block": "cube",
    "box": "cube",
    "ball": "ball",
    "can": "can",
    "cup": "can",
}
"""Shapes by the last word of a name; an object without one of these is a cube."""
COLOURS: Mapping[str, tuple[float, float, float]] = {
    "red": (0.84, 0.16, 0.16),
    "blue": (0.14, 0.32, 0.80),
    "green": (0.16, 0.60, 0.26),
    "yellow": (0.95, 0.78, 0.15),
    "orange": (0.95, 0.50, 0.10),
    "black": (0.12, 0.12, 0.13),
}
GREY = (0.55, 0.55, 0.58)
HALF = 0.02
"""Half the width of every object, in metres."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A named thing and where it is at first."""

    name: str
    x: float
    y: float

    @property
    def colour(self) -> tuple[float, float, float]:
        return COLOURS.get(self.name.partition("_")[0], GREY)

    @property
    def shape(self) -> Shape:
        return SHAPES.get(self.name.rpartition("_")[2], "cube")


def read_places(text: str, example: str) -> tuple[Place, ...]:
    """Read `red_cube=0.45,0.10 blue_ball=0.35,-0.20`. Raises `TaskInvalid`."""
    places: list[Place] = []
    for part in text.split():
        name, _, where = part.partition("=")
        try:
            x, y = map(float, where.split(","))
        except ValueError:
            raise TaskInvalid(f"'{part}' gives no place; write it like {example}") from None
        places.append(Place(name=name, x=x, y=y))
    return tuple(places)


def check_names(*places: Place) -> None:
    """Check that all names are given and differ. Raises `TaskInvalid` for a name that is missing, or given twice."""
    names = [place.name for place in places]
    for name in names:
        if not name or names.count(name) > 1:
            raise TaskInvalid(f"'{name}': every object and bin needs a name that no other has")
