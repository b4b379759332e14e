"""Ports for people: worlds that a person can watch, and worlds in which a person can act from another machine."""

from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias


@dataclass(frozen=True, kw_only=True)
class View:
    """A picture of the world as it looks now, for a person."""

    stamp: str
    """A stamp that differs from an earlier one if the world may look different now; empty if that is unknown."""
    picture: bytes = field(default=b"", repr=False)
    """The picture as JPEG, with secrets covered. Empty: nothing has changed, or no picture can be taken at the moment."""


class Watchable(Protocol):
    """A world that a person can watch without disturbing the run."""

    async def view(self, since: str) -> View | None:
        """A picture for a person who watches, unless nothing has changed since that stamp. Never waits for the run.

        None: there are no pictures.
        """
        ...


GestureKind: TypeAlias = Literal[
    "move", "press", "release", "wheel", "key_down", "key_up", "text", "back", "accept", "dismiss"
]
Button: TypeAlias = Literal["left", "middle", "right"]


@dataclass(frozen=True, kw_only=True)
class Gesture:
    """One input of a person: with the mouse, with a key, or an answer to a dialog of the browser."""

    kind: GestureKind
    x: float = 0.0
    """The place in the picture, from 0 at the left to 1 at the right."""
    y: float = 0.0
    button: Button = "left"
    clicks: int = 1
    """The number of presses in a row: 2 for a double click."""
    dx: float = 0.0
    """How far the wheel was turned, in pixels."""
    dy: float = 0.0
    text: str = field(default="", repr=False)
    """The name of the key as in browsers ('a', 'Enter'), or the text to insert."""


PersonActionKind: TypeAlias = Literal["clicked", "typed", "pressed", "scrolled", "went_back", "answered", "sent"]


@dataclass(frozen=True, kw_only=True)
class PersonAction:
    """Something that a person did in the world, for the record. What was typed is not recorded, only how much and where."""

    kind: PersonActionKind
    what: str
    times: int = 1


@dataclass(frozen=True, kw_only=True)
class Handled:
    """What the world shows to the person who acts in it, and what that person did since the last call."""

    view: View
    """The current view. Secrets in its picture are not covered."""
    deeds: tuple[PersonAction, ...] = ()
    dialog: str = ""
    """The text of an open dialog of the browser. Until it is answered, no picture can be taken."""


class NotAttended(Exception):
    """The world is not, or no longer, handed over to a person."""


class Attendable(Watchable, Protocol):
    """A world in which a person can act from another machine, while it is handed over by `World.attend`."""

    async def handle(self, gestures: tuple[Gesture, ...], since: str | None) -> Handled:
        """Perform a person's gestures in the world, and return its uncovered view unless nothing has changed since that stamp.

        Raises `NotAttended`. Without gestures and stamp it only reports what the person did, even after the person has finished.
        """
        ...
