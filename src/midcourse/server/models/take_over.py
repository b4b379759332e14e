"""Remote control of the world of a run."""

from typing import Annotated

from pydantic import Field

from midcourse.ports.viewing import Button, Gesture, GestureKind
from midcourse.server.models.base import Model

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Pixels = Annotated[float, Field(ge=-10_000.0, le=10_000.0)]


class GestureBody(Model):
    """One action with mouse or keyboard. For `key_down` and `key_up`, `text` is the name of the key as in browsers."""

    kind: GestureKind
    x: Share = 0.0
    """The horizontal position in the picture, from 0 (left) to 1 (right)."""
    y: Share = 0.0
    """The vertical position in the picture, from 0 (top) to 1 (bottom)."""
    button: Button = "left"
    clicks: Annotated[int, Field(ge=1, le=3)] = 1
    dx: Pixels = 0.0
    dy: Pixels = 0.0
    text: Annotated[str, Field(max_length=10_000)] = ""

    def gesture(self) -> Gesture:
        return Gesture(**self.model_dump())


class Gestures(Model):
    """Actions to carry out in this order."""

    gestures: tuple[GestureBody, ...] = Field(max_length=200)


class HandledView(Model):
    """The state of the page after the actions."""

    dialog: str
    """The text of an open dialog of the browser, or empty. While it is open there are no pictures; answer it with `accept` or `dismiss`."""
