"""`Hand` acts in a world as a run does, and `FakeClock` sleeps without waiting."""

from midcourse.domain.argument import Scalar
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import GLOBAL, Target
from midcourse.ports.world import Call, World


class FakeClock:
    def __init__(self) -> None:
        self.time = 1000.0

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds


class Hand:
    """Looks, finds zones by their label, and acts with a new command id each time."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.command = 0

    async def see(self) -> Observation:
        seen = await self.world.observe()
        assert isinstance(seen, Observation), seen
        return seen

    async def title(self) -> str:
        return (await self.see()).surface.title

    async def zone(self, label: str, role: str = "") -> Zone:
        zones = (await self.see()).zones
        found = [zone for zone in zones if zone.label == label and role in ("", zone.role)]
        assert len(found) == 1, f"{len(found)} zones are called {label!r} among {[zone.label for zone in zones]}"
        return found[0]

    def call(self, skill: str, zone: Zone | None = None, **arguments: Scalar) -> Call:
        self.command += 1
        return Call(
            command=self.command,
            skill=skill,
            zone=zone.id if zone else GLOBAL,
            target=Target(surface="", role=zone.role if zone else "", label=zone.label if zone else ""),
            arguments=tuple(arguments.items()),
            named_files=("path",) if "path" in arguments else (),
        )

    async def do(self, skill: str, zone: Zone | None = None, **arguments: Scalar) -> Outcome:
        return await self.world.act(self.call(skill, zone, **arguments))

    async def on(self, label: str, skill: str, **arguments: Scalar) -> Outcome:
        return await self.do(skill, await self.zone(label), **arguments)


def ok(outcome: Outcome) -> None:
    assert outcome.status == "ok", outcome
