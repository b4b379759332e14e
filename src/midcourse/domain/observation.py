"""Observations of a world. Bodies live in the store; a run carries references."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

from midcourse.domain.argument import Scalar
from midcourse.domain.fields import NONE, Named, keep_named


@dataclass(frozen=True, kw_only=True)
class Zone:
    """One thing on the screen that can be acted on. Its id is stable while the thing is."""

    id: str
    role: str
    label: str
    bounds: tuple[int, int, int, int] | None = None
    state: Named[Scalar] = NONE

    def __post_init__(self) -> None:
        keep_named(self, "state")

    def get(self, name: str) -> Scalar:
        """The named state, or None."""
        return next((value for key, value in self.state if key == name), None)


@dataclass(frozen=True, kw_only=True)
class Surface:
    """Where we are: a window, a page, a scene. `origin` is who is behind it, and part of every approval."""

    title: str
    address: str = ""
    origin: str = ""


@dataclass(frozen=True, kw_only=True)
class Observation:
    id: str
    surface: Surface
    zones: tuple[Zone, ...] = ()
    fingerprint: str
    stale: bool = False
    screenshot: str = ""
    """Content hash of the picture in the blob store, if one was taken."""

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
        """Which zones are out of sight, as a digest. Empty if none is."""
        away = [zone.id for zone in self.zones if zone.get("seen") is False]
        return blake2b("\x1f".join(away).encode(errors="surrogatepass"), digest_size=4).hexdigest() if away else ""

    def zone(self, zone_id: str) -> Zone | None:
        return next((zone for zone in self.zones if zone.id == zone_id), None)


@dataclass(frozen=True, kw_only=True)
class ObservationRef:
    id: str
    fingerprint: str
    zones: int = 0
    surface: str = ""
    stale: bool = False
    view: str = ""
    """How far it is scrolled: the same screen may show another part of itself."""


@dataclass(frozen=True, kw_only=True)
class Unseen:
    """The look failed or showed nothing: the last observation stays, marked stale."""

    reason: Literal["failed", "empty", "timeout", "world_lost"]
    detail: str = ""


def fingerprint_of(surface: Surface, zones: tuple[Zone, ...]) -> str:
    """Equal for equal screens: order, ids and positions do not count. For worlds that have nothing better."""
    seen = sorted(f"{z.role}\x1f{z.label}\x1f{sorted(z.state, key=lambda pair: pair[0])!r}" for z in zones)
    text = "\x1e".join((surface.title, surface.address, *seen))
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()
