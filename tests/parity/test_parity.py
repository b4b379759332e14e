"""Every story gives the same events, commands, plans, lessons, result and effects locally on both stores and in a fleet."""

import secrets
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from midcourse.ports.memory import Memory
from midcourse.runtimes.temporal.client import connect
from midcourse.runtimes.temporal.wire import Placement
from midcourse.store.postgres import PostgresStore
from midcourse.store.sqlite import SqliteStore
from midcourse.store.sqlite.memory import SqliteMemory
from tests.parity.playing import play_locally, play_on_fleet
from tests.parity.stories import STORIES
from tests.runtimes.fleet import Fleet

PATIENT = Placement(heartbeat_seconds=120.0)
"""Long enough that no worker counts as lost on a slow machine."""

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]


@dataclass(frozen=True, kw_only=True)
class Stores:
    """The stores of one story. Each runtime has its own memory, shared by all runs of the story."""

    file: SqliteStore
    file_memory: Memory
    database: PostgresStore
    fleet_memory: Memory


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def fleet(temporal: str, postgres: str) -> AsyncGenerator[Fleet]:
    tenant = f"parity-{secrets.token_hex(4)}"
    async with PostgresStore(postgres, tenant=tenant) as store:
        fleet = Fleet(client=await connect(temporal), store=store, tenant=tenant, placement=PATIENT)
        async with fleet.worker():
            yield fleet


@pytest_asyncio.fixture(loop_scope="module")
async def stores(postgres: str, tmp_path: Path) -> AsyncGenerator[Stores]:
    tenant, file = f"alone-{secrets.token_hex(4)}", SqliteStore(tmp_path / "runs.db")
    database = PostgresStore(postgres, tenant=tenant, connections=2)
    learned = PostgresStore(postgres, tenant=f"{tenant}-fleet", connections=1)
    memory = SqliteMemory(tmp_path / "lessons.db", agent="ann")
    async with database, learned:
        yield Stores(file=file, file_memory=memory, database=database, fleet_memory=learned.memory("ann"))
    file.close()


@pytest.mark.parametrize("name", STORIES)
async def test_every_runtime_gives_the_same_records(
    fleet: Fleet, stores: Stores, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIDCOURSE_SECRET_PASSWORD", "lovelace")
    story = STORIES[name]
    for number in range(story.runs):
        run_id = f"{name.replace(' ', '-')}-{number}"
        on_fleet = await play_on_fleet(fleet, story, run_id, stores.fleet_memory)
        local = await play_locally(story, run_id, stores.file, stores.file_memory)
        assert on_fleet.turns == local.turns
        assert on_fleet == local
        assert local == await play_locally(story, run_id, stores.database, stores.database.memory("ann"))
        assert story.ends is None or local.result["final_reason"] == story.ends[number]
