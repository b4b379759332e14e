"""What every arm does: a plan, steps that act and look, two replans, a result. Only what is kept of it differs."""

import asyncio
import os
from dataclasses import dataclass

from midcourse.domain.observation import Observation
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import Target
from midcourse.ports.world import Call
from midcourse.worlds.base import BaseWorld, Scene, Zone, skill

SEGMENTS = 3
"""A plan and two replans."""
EFFECTS = ("flip", "flip", "flip", "send")
"""Reversible three times, then irreversible: each of them is written down before it is sent, and after."""
SECONDS = "OVERHEAD_SECONDS"
"""The variable that says how long a step takes."""
LEVERS = 39
"""So many that a look is about 5 KB of JSON."""


@dataclass(frozen=True, kw_only=True)
class Todo:
    """One step of a plan, numbered through the run."""

    number: int
    zone: str
    skill: str


class Panel(BaseWorld):
    """A board of levers. Every act changes what is seen."""

    name = "panel"

    def __init__(self) -> None:
        super().__init__()
        self.flipped: list[int] = []
        self.sent: list[int] = []
        self._seconds = float(os.environ.get(SECONDS, "0"))

    def look(self) -> Scene:
        levers = (
            Zone(
                id=f"lever-{n}",
                role="lever",
                label=f"Lever {n} of the board, second row",
                bounds=(40, 20 * n, 200, 18),
                state=(("flips", self.flipped.count(n)),),
            )
            for n in range(LEVERS)
        )
        sent = Zone(id="log", role="text", label="Log", state=(("last", self.sent[-1] if self.sent else 0),))
        return Scene("Panel", *levers, sent, address="https://panel.test/board", origin="https://panel.test")

    @skill(effect="reversible")
    async def flip(self, zone: Zone, number: int) -> None:
        await self._take_time()
        self.flipped.append(number % LEVERS)

    @skill(effect="irreversible")
    async def send(self, zone: Zone, number: int) -> None:
        await self._take_time()
        self.sent.append(number)

    async def _take_time(self) -> None:
        if self._seconds:
            await asyncio.sleep(self._seconds)


def segment_after(done: int, steps: int) -> tuple[Todo, ...]:
    """The next segment of `steps` steps. Nothing is left after the last."""
    if done >= steps * SEGMENTS:
        return ()
    return tuple(
        Todo(number=n, zone=f"lever-{n % LEVERS}", skill=EFFECTS[(n - 1) % len(EFFECTS)])
        for n in range(done + 1, done + steps + 1)
    )


async def act_and_look(world: Panel, todo: Todo) -> tuple[Outcome, Observation]:
    """A step, without anything around it."""
    target = Target(surface="Panel", role="lever", label=todo.zone)
    arguments = (("number", todo.number),)
    call = Call(command=todo.number, skill=todo.skill, zone=todo.zone, target=target, arguments=arguments)
    outcome = await world.act(call)
    return outcome, await look(world)


async def look(world: Panel) -> Observation:
    seen = await world.observe()
    assert isinstance(seen, Observation)
    return seen
