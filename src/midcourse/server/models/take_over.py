"""Acting in the world of a run from afar."""

from typing import Annotated

from pydantic import Field

from midcourse.ports.viewing import Button, Gesture, GestureKind
from midcourse.server.models.base import Model

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Pixels = Annotated[float, Field(ge=-10_000.0, le=10_000.0)]


class GestureBody(Model):
    """One movement of the caller's hand. The text of `key_down` and `key_up` is the key as browsers name it."""

    kind: GestureKind
    x: Share = 0.0
    """The place in the picture, from 0 at the left to 1 at the right."""
    y: Share = 0.0
    button: Button = "left"
    clicks: Annotated[int, Field(ge=1, le=3)] = 1
    dx: Pixels = 0.0
    dy: Pixels = 0.0
    text: Annotated[str, Field(max_length=10_000)] = ""

    def gesture(self) -> Gesture:
        return Gesture(**self.model_dump())


class Gestures(Model):
    gestures: tuple[GestureBody, ...] = Field(max_length=200)


class HandledView(Model):
    dialog: str
    """What a dialog of the browser asks; `accept` and `dismiss` answer it. Until then the page cannot be pictured."""
