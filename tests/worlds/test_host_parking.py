"""A host closes the world of a session that is not used, keeps what it stored, and lets requests wait for room."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from midcourse.domain.observation import Observation, Unseen
from midcourse.ports.world import WorldAway, WorldFull
from midcourse.worlds.host import sessions
from midcourse.worlds.host.lifecycle import HostConfig, serve_host
from midcourse.worlds.host.registry import WorldRegistry
from midcourse.worlds.host.sessions import ParkedSessions
from midcourse.worlds.host.wire import Handle, OpenAsk, read_host_file
from midcourse.worlds.remote import RemoteWorld
from tests.worlds.host_process import SHOP
from tests.worlds.support import Hand
from tests.worlds.test_host import until
from tests.worlds.test_host_many import serving

NOTEBOOK = "tests.worlds.hosted:Notebook"


def notebook(host: Handle, folder: Path, key: str = "run-1", **options: object) -> RemoteWorld:
    return RemoteWorld(NOTEBOOK, options={"folder": str(folder), **options}, host=host, key=key, timeout=20.0)


def terms(**more: Any) -> dict[str, Any]:
    return {"worlds": WorldRegistry([NOTEBOOK, SHOP]), "idle": 600.0, "park": 0.2, **more}


async def test_unused_session_is_parked_and_the_next_one_starts_from_its_state(tmp_path: Path) -> None:
    async with serving(tmp_path, **terms()) as (host, there):
        world = notebook(there, tmp_path)
        handle = await world.open()
        await Hand(world).do("note", text="signed in")
        await until(lambda: len(host.sessions) == 0)
        assert (tmp_path / "closed").exists()
        assert host.sessions.parked == 1
        seen = await world.observe()
        assert isinstance(seen, Unseen)
        assert seen.reason == "world_lost"
        assert not await world.attach(handle)
        await world.open()
        assert await Hand(world).title() == "signed in"
        assert host.sessions.parked == 0


async def test_parked_state_is_for_the_same_key_and_options_only(tmp_path: Path) -> None:
    async with serving(tmp_path, **terms()) as (host, there):
        world = notebook(there, tmp_path)
        await world.open()
        await Hand(world).do("note", text="signed in")
        await until(lambda: len(host.sessions) == 0)
        for other in (notebook(there, tmp_path, "run-2"), notebook(there, tmp_path, stays=True)):
            await other.open()
            assert await Hand(other).title() == "empty"


async def test_a_world_that_has_to_stay_open_or_cannot_be_parked_stays_until_it_is_idle(tmp_path: Path) -> None:
    async with serving(tmp_path, **terms(park=0.05)) as (host, there):
        stays = notebook(there, tmp_path, "stays", stays=True)
        shop = RemoteWorld(SHOP, host=there, key="shop")
        for world in (stays, shop):
            await world.open()
        parked = notebook(there, tmp_path, "parked")
        await parked.open()
        await until(lambda: host.sessions.parked == 1)
        assert {row.key for row in host.sessions.list()} == {"stays", "shop"}
        assert isinstance(await stays.observe(), Observation)


async def test_parked_state_is_deleted_when_the_session_would_be_idle(tmp_path: Path) -> None:
    async with serving(tmp_path, **terms(idle=0.4, park=0.1)) as (host, there):
        await notebook(there, tmp_path).open()
        await until(lambda: host.sessions.parked == 1)
        await until(lambda: host.sessions.parked == 0)
        assert len(host.sessions) == 0


async def test_a_world_that_ends_by_itself_leaves_its_host(tmp_path: Path) -> None:
    async with serving(tmp_path, **terms()) as (host, there):
        lost, kept = notebook(there, tmp_path, "lost"), RemoteWorld(SHOP, host=there, key="kept")
        first = await lost.open()
        await kept.open()
        await Hand(lost).do("burn")
        await until(lambda: len(host.sessions) == 1)
        assert isinstance(await kept.observe(), Observation)
        assert await lost.open() != first
        assert host.sessions.parked == 0


async def test_oldest_parked_state_is_deleted_first() -> None:
    parked = ParkedSessions(most=10)
    asks = [OpenAsk(world=NOTEBOOK, options={}, key=f"run-{number}") for number in range(3)]
    for ask in asks:
        parked.keep(ask, "12345", 600.0)
    assert [parked.take(ask) for ask in asks] == [None, "12345", "12345"]
    assert [parked.take(ask) for ask in asks] == [None] * 3


# --- room


async def test_requests_for_a_session_wait_for_room_in_their_order(tmp_path: Path) -> None:
    async with serving(tmp_path, **terms(most=1, park=600.0)) as (host, there):
        first = notebook(there, tmp_path, "first")
        await first.open()
        order: list[str] = []

        async def use(key: str) -> None:
            world = notebook(there, tmp_path, key)
            await world.open()
            order.append(key)
            await world.close()

        waiting: list[asyncio.Task[None]] = []
        for key in ("a", "b", "c"):
            waiting.append(asyncio.create_task(use(key)))
            await until(lambda: host.sessions.waiting == len(waiting))
        assert order == []
        await first.close()
        await asyncio.gather(*waiting)
        assert order == ["a", "b", "c"]


async def test_host_that_stays_full_is_not_reported_as_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "WAITS_FOR_ROOM", 0.05)
    async with serving(tmp_path, **terms(most=1, park=600.0)) as (host, there):
        first, second = notebook(there, tmp_path, "first"), notebook(there, tmp_path, "second")
        await first.open()
        with pytest.raises(WorldFull, match="1 sessions open, its limit"):
            await second.open()
        assert host.sessions.waiting == 0
        await first.close()
        await second.open()
    with pytest.raises(WorldAway) as away:
        await second.open()
    assert not isinstance(away.value, WorldFull)


async def test_request_that_waits_for_room_at_a_host_that_stops_is_refused(tmp_path: Path) -> None:
    async with serve_host(HostConfig(ready=tmp_path / "host.json", **terms(most=1, park=600.0))) as host:
        there = read_host_file(tmp_path / "host.json")
        await notebook(there, tmp_path, "first").open()
        waiting = asyncio.create_task(notebook(there, tmp_path, "second").open())
        await until(lambda: host.sessions.waiting == 1)
        await host.end()
        with pytest.raises(WorldAway, match="stopping"):
            await waiting
