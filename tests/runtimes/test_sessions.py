"""Which of its worlds a worker performs a command in, when several attempts at one meet in it."""

import asyncio

from midcourse.domain.command import Observe, OpenWorld
from midcourse.perform import Ports
from midcourse.ports.world import Turn
from midcourse.runtimes.temporal.sessions import Sessions
from tests.harness import Bench, Shop

OPEN = OpenWorld(id=1, timeout=10.0)
LOOK = Observe(id=2, timeout=10.0)


class Queueing(Shop):
    """Knows on behalf of which turn it was last asked to open."""

    turn: Turn = (0, 0)

    def come_for(self, turn: Turn) -> None:
        self.turn = turn


def turn_of(ports: Ports) -> Turn:
    assert isinstance(ports.world, Queueing)
    return ports.world.turn


async def test_an_attempt_that_was_given_up_and_is_late_takes_nothing_from_the_one_after_it() -> None:
    """A busy worker may get to the later of two attempts first."""
    late = asyncio.Event()
    made = 0

    async def ports_for(_run_id: str) -> Ports:
        nonlocal made
        made += 1
        if made == 1:
            await late.wait()
        return Bench(world=Queueing()).ports

    sessions = Sessions(ports_for, most=10)
    given_up = asyncio.create_task(sessions.reach("run", OPEN, turn=(1, 100), ours=False))
    await asyncio.sleep(0)
    later = await sessions.reach("run", OPEN, turn=(1, 200), ours=False)
    late.set()
    assert (await given_up).ports is not later.ports
    assert (await sessions.reach("run", LOOK, turn=(2, 300), ours=True)).ports is later.ports


async def test_a_world_that_is_held_is_opened_again_on_behalf_of_the_turn_that_asks_for_it() -> None:
    async def ports_for(_run_id: str) -> Ports:
        return Bench(world=Queueing()).ports

    sessions = Sessions(ports_for, most=10)
    await sessions.reach("run", OPEN, turn=(1, 100), ours=False)
    again = await sessions.reach("run", OPEN, turn=(3, 200), ours=True)
    assert turn_of(again.ports) == (3, 200)
    await sessions.reach("run", LOOK, turn=(2, 150), ours=True)
    assert turn_of(again.ports) == (3, 200)
