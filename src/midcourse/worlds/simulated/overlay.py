"""Overlays that cover a screen for a while: a dialog, an error page, a loading screen, or a flickering screen."""

from dataclasses import dataclass
from typing import Literal

from midcourse.domain.observation import Surface, Zone
from midcourse.worlds.base import Scene


@dataclass(frozen=True, kw_only=True)
class Overlay:
    """An overlay that hides all other zones. It closes when its button is clicked, when its time is over, or by itself."""

    kind: Literal["popup", "error", "loading", "flicker"]
    title: str
    text: str
    button: str = ""
    until: float | None = None

    @property
    def button_id(self) -> str:
        return f"{self.kind}_button"

    def scene(self, under: Surface) -> Scene:
        role = "text" if self.button else "progressbar"
        zones = [Zone(id=f"{self.kind}_text", role=role, label=self.text)]
        if self.button:
            zones.append(Zone(id=self.button_id, role="button", label=self.button))
        return Scene(self.title, *zones, address=under.address, origin=under.origin)
