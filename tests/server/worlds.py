"""A world whose irreversible skill takes arguments, which an approver may change, and whose looks are pictured."""

import json
import time
from pathlib import Path
from typing import ClassVar

from midcourse import BaseWorld, probe, skill
from midcourse.domain.observation import Observation, Unseen
from midcourse.domain.replace import replace
from midcourse.pictures import LatestPictures
from midcourse.ports.viewing import View
from midcourse.testing.conformance.reader import white


class Office(BaseWorld):
    keeps: ClassVar = {"effects": "effects.jsonl"}

    def __init__(self, effects: str = "effects.jsonl") -> None:
        super().__init__()
        self._effects = Path(effects)
        self._pictures = LatestPictures("all")

    async def observe(self) -> Observation | Unseen:
        seen = await super().observe()
        if isinstance(seen, Unseen):
            return seen
        return replace(seen, screenshot=await self._pictures.keep(white(64, 48), seen.fingerprint))

    async def read_screenshot(self, digest: str) -> bytes | None:
        return self._pictures.read(digest)

    @skill(effect="irreversible", probe="was_ordered")
    def order(self, product: str, reference: str) -> None:
        """Order one product."""
        with self._effects.open("a") as log:
            log.write(json.dumps({"effect": "ordered", "values": {"product": product, "reference": reference}}) + "\n")

    @probe
    def was_ordered(self, reference: str) -> bool:
        return self._effects.is_file() and json.dumps(reference) in self._effects.read_text()


class Window(Office):
    """A world that is watched: it shows a new picture with each change, and notes when it was pictured."""

    taken: ClassVar[list[float]] = []
    changes: ClassVar[list[int]] = [0]

    async def view(self, since: str) -> View | None:
        stamp = str(self.changes[0])
        if since == stamp:
            return View(stamp=stamp)
        self.taken.append(time.monotonic())
        return View(stamp=stamp, picture=f"picture {stamp}".encode())
