"""A database that goes away for a while in the middle of a step: nothing is lost, doubted or done twice."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from midcourse.ports.world import Call
from midcourse.runtimes.temporal.client import connect
from midcourse.store.postgres import PostgresStore, development
from midcourse.store.postgres.migrate import migrate
from midcourse.worlds.base import Outcome
from tests.runtimes.fleet import Fleet, effects, order

pytestmark = pytest.mark.slow


@pytest.fixture
async def folder(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Path]:
    """Of a server that may be stopped."""
    folder = tmp_path_factory.mktemp("own") / "postgres"
    yield folder
    await asyncio.to_thread(development.remove, folder)


class Interrupted:
    """A world during whose order the database is stopped, and started again a while later."""

    def __init__(self, world: Any, folder: Path) -> None:
        self._world = world
        self._folder = folder
        self.back: asyncio.Task[str] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    async def act(self, call: Call) -> Outcome:
        if call.skill == "place_order":
            await asyncio.to_thread(development.stop, self._folder, "immediate")
            self.back = asyncio.create_task(self._bring_back())
        return await self._world.act(call)

    async def _bring_back(self) -> str:
        await asyncio.sleep(1.0)
        return await asyncio.to_thread(development.start, self._folder)


async def test_an_answer_waits_for_the_database_to_come_back(temporal: str, tenant: str, folder: Path) -> None:
    url = development.start(folder)
    migrate(url)
    cast = order()
    world: Any = Interrupted(cast.world, folder)
    async with PostgresStore(url, tenant=tenant) as store:
        fleet = Fleet(client=await connect(temporal), store=store, tenant=tenant)
        async with fleet.worker():
            handle = await fleet.begin(replace(cast, world=world))
            result = await handle.result()
        assert world.back is not None
        assert await world.back == url
        happened = [row.event.kind for row in await store.journal(handle.run_id)]
    assert result.final_reason == "goal_reached"
    assert len(effects(cast)) == 1
    assert "verified" not in happened, "there was never any doubt"
