"""Opens a robot for tests that call its skills, and closes it afterwards."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from midcourse.worlds.robot import Robot
from tests.worlds.support import Hand

ONE = "red_cube=0.45,0.10"
TWO = "red_cube=0.45,0.10 blue_cube=0.45,-0.15"


@asynccontextmanager
async def open_robot(objects: str = ONE, **options: Any) -> AsyncIterator[tuple[Hand, Robot]]:
    """Open a robot and observe it once."""
    world = Robot(objects=objects, **options)
    await world.open()
    try:
        hand = Hand(world)
        await hand.see()
        yield hand, world
    finally:
        await world.close()


def logged_effects(world: Robot) -> list[str]:
    """The effects in the world's own log, in order."""
    return [one.effect for one in world.effects.present(float("inf"))]
