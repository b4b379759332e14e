"""Acts in a desktop world by patterns of zones."""

from typing import Any

from midcourse.domain.observation import Observation, Zone
from midcourse.domain.outcome import Outcome
from midcourse.planners.playbook import ZonePattern
from midcourse.testing.conformance import a_call
from midcourse.worlds.desktop import Desktop


class Hand:
    def __init__(self, world: Desktop) -> None:
        self.world = world
        self._command = 0

    async def see(self) -> Observation:
        seen = await self.world.observe()
        assert isinstance(seen, Observation), seen
        return seen

    async def find(self, pattern: str) -> Zone:
        seen = await self.see()
        zone = ZonePattern.parse(pattern).zone_in(seen)
        assert zone is not None, f"no {pattern} on '{seen.surface.title}': {[(z.role, z.label) for z in seen.zones]}"
        return zone

    async def attempt(self, skill: str, pattern: str = "", **arguments: Any) -> Outcome:
        self._command += 1
        zone = await self.find(pattern) if pattern else None
        return await self.world.act(a_call(skill, zone, tuple(arguments.items()), self._command))

    async def do(self, skill: str, pattern: str = "", **arguments: Any) -> None:
        outcome = await self.attempt(skill, pattern, **arguments)
        if outcome.reason == "would_change":  # nothing was done yet: a run writes its ledger now, and acts
            outcome = await self.attempt(skill, pattern, **arguments)
        assert outcome.status == "ok", f"{skill} {pattern}: {outcome}"
