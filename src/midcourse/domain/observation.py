"""Observations of a world. They are kept in the store; a run carries references."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal, TypeAlias

from midcourse.domain.argument import Scalar
from midcourse.domain.fields import NONE, Named, keep_named

Bounds: TypeAlias = tuple[int, int, int, int]
"""Left, top, width and height."""

Cell: TypeAlias = tuple[str, int, int]
"""The table that a zone stands in, its row and its column. Row 0 is the header; columns count from 0."""

PICTURED = "pictured"
"""The state of a zone that a reader found in a picture. The world knows only its bounds."""


HELD_FOR = "held_for"
"""The state of a zone for a request that the world holds back: the skill of the act that would send it."""


@dataclass(frozen=True, kw_only=True)
class Zone:
    """One thing on the screen that can be acted on. Its id is stable as long as the thing exists."""

    id: str
    role: str
    """What it is: `button`, `textbox`, `product`."""
    label: str
    """Its name, as a person reads it: `Place order`."""
    bounds: Bounds | None = None
    """Position relative to the top left corner of the screenshot. In a browser that is the visible part of the page, in CSS
    pixels; on a desktop the screen, in its pixels.
    """
    state: Named[Scalar] = NONE
    """What else is known of it, by name: `{"checked": True}`."""

    cell: Cell | None = None
    """Where it stands, if it is part of a table. It is not part of its identity: a row that is inserted above changes it."""

    def __post_init__(self) -> None:
        keep_named(self, "state")

    def get(self, name: str) -> Scalar:
        """The named state, or None."""
        return next((value for key, value in self.state if key == name), None)

    @property
    def pictured(self) -> bool:
        """Whether it was found only in a picture, so that it can only be touched at its bounds."""
        return self.get(PICTURED) is True

    @property
    def middle(self) -> tuple[float, float] | None:
        """The point to touch, if the bounds are known."""
        if self.bounds is None:
            return None
        left, top, width, height = self.bounds
        return left + width / 2, top + height / 2


@dataclass(frozen=True, kw_only=True)
class Surface:
    """The current window, page or scene. `origin` identifies its owner and is part of every approval."""

    title: str
    address: str = ""
    origin: str = ""


@dataclass(frozen=True, kw_only=True)
class Viewer:
    """What an application takes its user to be: dates are read and written, and a page is laid out, by this."""

    time_zone: str = ""
    """The IANA name, such as `Europe/Berlin`."""
    locale: str = ""
    """The language, such as `en-US`."""
    size: tuple[int, int] | None = None
    """Width and height of the visible part, in the unit of bounds."""


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What a world showed at one moment: its surface, and the zones that can be acted on."""

    id: str
    surface: Surface
    zones: tuple[Zone, ...] = ()
    fingerprint: str
    stale: bool = False
    screenshot: str = ""
    """Content hash of the picture in the blob store, if one was taken."""
    size: tuple[int, int] | None = None
    """Width and height of the pictured area, in the unit of bounds. None: one pixel of the picture is one unit."""
    viewer: Viewer | None = None
    """Whom the application takes its user to be, if the world knows."""
    unread: str = ""
    """Why its picture, which was to be read, was not."""

    @property
    def ref(self) -> "ObservationRef":
        return ObservationRef(
            id=self.id,
            fingerprint=self.fingerprint,
            zones=len(self.zones),
            surface=self.surface.title[:80],
            stale=self.stale,
            view=self._view,
        )

    @property
    def _view(self) -> str:
        """Digest of the zones that are scrolled out of view; empty if there are none."""
        away = [zone.id for zone in self.zones if zone.get("seen") is False]
        return blake2b("\x1f".join(away).encode(errors="surrogatepass"), digest_size=4).hexdigest() if away else ""

    def zone(self, zone_id: str) -> Zone | None:
        return next((zone for zone in self.zones if zone.id == zone_id), None)


@dataclass(frozen=True, kw_only=True)
class ObservationRef:
    """A short form of an observation, for events."""

    id: str
    fingerprint: str
    zones: int = 0
    surface: str = ""
    stale: bool = False
    view: str = ""
    """Digest of the scroll position: the same screen may be scrolled to another part."""
    meets_goal: bool = False
    """Whether the task's `done_when` seems to hold there, as far as that costs nothing to tell."""


@dataclass(frozen=True, kw_only=True)
class Unseen:
    """An observation that failed or showed nothing: the last observation stays, marked stale."""

    reason: Literal["failed", "empty", "timeout", "world_lost"]
    detail: str = ""


def fingerprint_of(surface: Surface, zones: tuple[Zone, ...]) -> str:
    """A fingerprint that ignores order, ids and positions of zones, for worlds that have nothing better."""
    seen = sorted(f"{z.role}\x1f{z.label}\x1f{sorted(z.state, key=lambda pair: pair[0])!r}" for z in zones)
    text = "\x1e".join((surface.title, surface.address, *seen))
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()
