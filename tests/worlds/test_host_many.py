"""One host, many sessions: each with its own world, fence and idle time, and none in the way of another."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from midcourse.codec import decode
from midcourse.domain.observation import Observation, Unseen
from midcourse.errors import TaskInvalid
from midcourse.worlds.host.__main__ import wait_until_empty
from midcourse.worlds.host.lifecycle import Host, HostConfig, serve_host
from midcourse.worlds.host.registry import WorldRegistry
from midcourse.worlds.host.wire import Handle, read_host_file
from midcourse.worlds.remote import RemoteWorld
from midcourse.worlds.simulated import read_effects
from tests.worlds.host_process import DIARY, GATE, ROOT, SHOP, SLEEPER, run_host
from tests.worlds.support import Hand, ok
from tests.worlds.test_host import until
from tests.worlds.test_shop import fill_in


@asynccontextmanager
async def serving(tmp_path: Path, **terms: Any) -> AsyncIterator[tuple[Host, Handle]]:
    """A host in this process, and what a worker knows of it."""
    ready = tmp_path / "host.json"
    given: dict[str, Any] = {
        "worlds": WorldRegistry([SHOP, GATE, DIARY, SLEEPER], home=tmp_path),
        "ready": ready,
        "idle": 60.0,
        **terms,
    }
    async with serve_host(HostConfig(**given)) as host:
        yield host, read_host_file(ready)


def shop(host: Handle, key: str, **options: object) -> RemoteWorld:
    return RemoteWorld(SHOP, options=options, host=host, key=key, timeout=20.0)


def at(spec: str, host: Handle, key: str, folder: Path) -> RemoteWorld:
    return RemoteWorld(spec, options={"folder": str(folder)}, host=host, key=key, timeout=20.0)


async def test_a_host_for_one_session_ends_if_none_is_opened_in_time(tmp_path: Path) -> None:
    async with serving(tmp_path) as (host, there):
        await asyncio.wait_for(wait_until_empty(host, 0.05), 10)
        world = shop(there, "run-1")
        await world.open()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(wait_until_empty(host, 0.05), 0.5)
        await world.close()


async def test_sessions_are_worlds_of_their_own(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, host):
        first, second = shop(host, "run-1"), shop(host, "run-2")
        assert await first.open() != await second.open()
        await Hand(first).on("Desk lamp", "set_quantity", quantity=7)
        assert (await Hand(first).zone("Desk lamp")).get("quantity") == 7
        assert (await Hand(second).zone("Desk lamp")).get("quantity") == 0


async def test_a_remote_world_is_at_a_host_or_starts_one(tmp_path: Path) -> None:
    places: list[dict[str, Any]] = [{}, {"host": Handle(url="", token=""), "folder": tmp_path}]
    for where in places:
        with pytest.raises(TypeError, match="a host, or a folder"):
            RemoteWorld(SHOP, **where)


# --- one session for one key


async def test_opening_under_the_same_key_finds_the_session_as_it_was(tmp_path: Path) -> None:
    async with serving(tmp_path) as (host, there):
        first, second = shop(there, "run-1"), shop(there, "run-1")
        handle = await first.open()
        await Hand(first).on("Desk lamp", "set_quantity", quantity=7)
        assert await second.open() == handle
        assert (await Hand(second).zone("Desk lamp")).get("quantity") == 7
        assert isinstance(await first.observe(), Unseen)
        assert [(row.key, row.epoch) for row in host.sessions.list()] == [("run-1", 2)]


async def test_many_open_under_one_key_at_once_and_one_world_is_opened(tmp_path: Path) -> None:
    async with serving(tmp_path) as (host, there):
        worlds = [shop(there, "run-1") for _ in range(20)]
        handles = await asyncio.gather(*(world.open() for world in worlds))
        assert len(set(handles)) == 1
        assert len(host.sessions) == 1
        seen = await asyncio.gather(*(world.observe() for world in worlds))
        assert sum(isinstance(each, Observation) for each in seen) == 1


async def test_a_key_stands_for_one_world_with_its_options(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, host):
        await shop(host, "run-1", seed=1).open()
        with pytest.raises(TaskInvalid, match="'run-1' is a session of"):
            await shop(host, "run-1", seed=2).open()


async def test_a_key_is_free_again_once_its_session_is_closed(tmp_path: Path) -> None:
    async with serving(tmp_path) as (host, there):
        world = shop(there, "run-1")
        first = await world.open()
        await world.close()
        assert len(host.sessions) == 0
        assert await world.open() != first


async def test_a_key_is_free_again_after_an_opening_that_failed(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, host):
        jammed = RemoteWorld(DIARY, options={"folder": str(tmp_path), "opens": False}, host=host, key="run-1")
        with pytest.raises(ConnectionError, match="the lock is jammed"):
            await jammed.open()
        await at(DIARY, host, "run-1", tmp_path).open()


async def test_opening_while_the_session_is_closing_gets_a_new_one(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, host):
        first, second = at(GATE, host, "run-1", tmp_path), at(GATE, host, "run-1", tmp_path)
        handle = await first.open()
        acting = asyncio.create_task(Hand(first).do("work", name="one"))
        await until((tmp_path / "one.begun").exists)
        closing = asyncio.create_task(first.close())
        opening = asyncio.create_task(second.open())
        assert not (await asyncio.wait({closing, opening}, timeout=0.05))[0]
        (tmp_path / "go").touch()
        ok(await acting)
        await closing
        assert await opening != handle


# --- none in the way of another


@pytest.mark.parametrize("spec", [GATE, SLEEPER], ids=["waits", "blocks its thread"])
async def test_a_slow_act_keeps_no_other_session_waiting(tmp_path: Path, spec: str) -> None:
    async with serving(tmp_path) as (_, host):
        slow, other = at(spec, host, "slow", tmp_path), shop(host, "other")
        await slow.open()
        acting = asyncio.create_task(Hand(slow).do("work", name="one"))
        await until((tmp_path / "one.begun").exists)
        await other.open()
        await Hand(other).on("Desk lamp", "set_quantity", quantity=7)
        assert (await Hand(other).zone("Desk lamp")).get("quantity") == 7
        await other.close()
        assert not acting.done()
        (tmp_path / "go").touch()
        ok(await acting)


@pytest.mark.slow
async def test_fifty_runs_are_taken_over_at_once_and_each_orders_once(tmp_path: Path) -> None:
    async def story(host: Handle, number: int) -> None:
        old, new = (shop(host, f"run-{number}") for _ in range(2))
        handle = await old.open()
        await fill_in(hand := Hand(old), f"R-{number}")
        call = hand.call("place_order", await hand.zone("Place order"))
        assert await new.attach(handle)
        assert (await old.act(call)).reason == "fenced"
        await new.bar(call.command)
        assert (await new.act(call)).reason == "barred"
        ok(await new.act(replace(call, command=call.command + 1)))
        assert (await old.act(replace(call, command=call.command + 2))).reason == "fenced"
        await old.close()
        assert await Hand(new).title() == "Thank you for your order"
        await new.close()

    async with serving(tmp_path) as (host, there):
        await asyncio.gather(*(story(there, number) for number in range(50)))
        assert len(host.sessions) == 0
    for number in range(50):
        (order,) = read_effects(tmp_path / "runs" / f"run-{number}" / "effects.jsonl")
        assert order.get("reference") == f"R-{number}"


FROZEN = """
import asyncio, os, signal, sys
from pathlib import Path
from midcourse.worlds.host.wire import read_host_file
from tests.worlds.support import Hand
from tests.worlds.test_host_many import shop
from tests.worlds.test_shop import fill_in

async def main(folder: Path) -> None:
    world = shop(read_host_file(folder / "host.json"), "run-1")
    await world.open()
    await fill_in(hand := Hand(world))
    call = hand.call("place_order", await hand.zone("Place order"))
    os.kill(os.getpid(), signal.SIGSTOP)
    print((await world.act(call)).reason, (await world.act(call)).reason)

asyncio.run(main(Path(sys.argv[1])))
"""


@pytest.mark.slow
@pytest.mark.parametrize("done_meanwhile", [True, False], ids=["ordered meanwhile", "barred meanwhile"])
async def test_a_worker_that_was_frozen_right_before_it_acts_does_nothing(tmp_path: Path, done_meanwhile: bool) -> None:
    log = tmp_path / "runs" / "run-1" / "effects.jsonl"
    async with serving(tmp_path) as (_, host):
        frozen = await asyncio.create_subprocess_exec(
            sys.executable, "-c", FROZEN, str(tmp_path), cwd=ROOT, stdout=asyncio.subprocess.PIPE
        )
        await until(lambda: "State:\tT" in Path(f"/proc/{frozen.pid}/status").read_text())
        await (world := shop(host, "run-1")).open()
        hand = Hand(world)
        if done_meanwhile:
            hand.command = 100
            ok(await hand.on("Place order", "place_order"))
        await world.bar(8)
        frozen.send_signal(signal.SIGCONT)
        out, _ = await frozen.communicate()
        assert out.split() == [b"fenced", b"fenced"]
        assert len(read_effects(log)) == done_meanwhile
        assert await hand.title() == ("Thank you for your order" if done_meanwhile else "Checkout")


# --- their end


async def test_idle_session_is_closed_and_the_others_stay(tmp_path: Path) -> None:
    async with serving(tmp_path) as (host, there):
        options = {"folder": str(tmp_path)}
        forgotten = RemoteWorld(DIARY, options=options, host=there, key="forgotten", idle=0.2)
        kept = shop(there, "kept")
        await kept.open()
        handle = await forgotten.open()
        await until(lambda: len(host.sessions) == 1)
        assert (tmp_path / "closed").exists()
        seen = await forgotten.observe()
        assert isinstance(seen, Unseen)
        assert seen.reason == "world_lost"
        assert not await forgotten.attach(handle)
        assert isinstance(await kept.observe(), Observation)


async def test_idle_time_of_a_session_is_limited_by_the_host(tmp_path: Path) -> None:
    async with serving(tmp_path, idle=0.2) as (host, there):
        await RemoteWorld(SHOP, host=there, idle=3600.0).open()
        await until(lambda: len(host.sessions) == 0)


async def test_host_for_one_world_refuses_sessions_once_it_is_closed(tmp_path: Path) -> None:
    """It is about to go, and would close whatever it opened now."""
    async with serving(tmp_path, once=True) as (_, host):
        await (world := shop(host, "run-1")).open()
        await world.close()
        with pytest.raises(ConnectionError, match="the host is stopping"):
            await world.open()


async def test_stopping_host_lets_acts_finish_and_closes_every_world(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        _, host = await stack.enter_async_context(serving(tmp_path))
        gate, diary = at(GATE, host, "gate", tmp_path), at(DIARY, host, "diary", tmp_path)
        await gate.open()
        await diary.open()
        call = Hand(gate).call("work", name="one")
        acting = asyncio.create_task(gate.act(call))
        await until((tmp_path / "one.begun").exists)
        leaving = asyncio.create_task(stack.pop_all().aclose())
        await until((tmp_path / "closed").exists)
        late = asyncio.create_task(gate.act(replace(call, command=2)))
        barring = asyncio.create_task(gate.bar(call.command))
        with pytest.raises(ConnectionError, match="the host is stopping"):
            await shop(host, "late").open()
        assert not leaving.done()
        assert not barring.done()
        (tmp_path / "go").touch()
        ok(await acting)
        assert (await late).reason == "fenced"
        await barring
        await leaving
    assert (tmp_path / "one.done").exists()
    assert not (tmp_path / "host.json").exists()
    with pytest.raises(ConnectionError, match="ConnectionRefused"):
        await shop(host, "late").open()


@pytest.mark.slow
async def test_a_host_that_is_killed_is_lost_to_all_its_sessions(tmp_path: Path) -> None:
    with run_host(tmp_path) as there:
        worlds = [shop(there.host, f"run-{number}") for number in range(10)]
        handles = [await world.open() for world in worlds]
        gate = at(GATE, there.host, "gate", tmp_path)
        await gate.open()
        acting = asyncio.create_task(Hand(gate).do("work", name="one"))
        await until((tmp_path / "one.begun").exists)
        os.kill(there.process.pid, signal.SIGKILL)
        there.process.wait(120)
        outcome = await acting
        assert (outcome.status, outcome.reason) == ("unknown", "world_lost")
        for world, handle in zip(worlds, handles, strict=True):
            seen = await world.observe()
            assert isinstance(seen, Unseen)
            assert seen.reason == "world_lost"
            outcome = await Hand(world).do("go", page="basket")
            assert (outcome.status, outcome.reason) == ("no_effect", "unsent"), "no connection, so nothing was sent"
            await world.bar(1)
            assert not await world.attach(handle)


@pytest.mark.slow
async def test_restarted_host_does_not_know_earlier_sessions(tmp_path: Path) -> None:
    """Not even with the same token: the sessions are others, and so no worker acts in the wrong one."""
    (tmp_path / "token").write_text("a-token-of-our-own-choice")
    same = ("--token-file", str(tmp_path / "token"))
    with run_host(tmp_path, *same) as there:
        world = shop(there.host, "run-1")
        handle = await world.open()
        there.process.kill()
        there.process.wait(120)
    with run_host(tmp_path, *same, "--port", there.port) as again:
        assert again.host == there.host
        other = shop(again.host, "run-1")
        await other.open()
        seen = await world.observe()
        assert isinstance(seen, Unseen)
        assert seen.reason == "world_lost"
        outcome = await Hand(world).do("go", page="basket")
        assert (outcome.status, outcome.reason) == ("unknown", "world_lost")
        assert not await world.attach(handle)
        assert await Hand(other).title() == "Catalogue"
        assert await world.open() != handle


# --- what it opens, and for whom


async def test_only_the_worlds_it_was_started_with_are_opened(tmp_path: Path) -> None:
    async with serving(tmp_path, worlds=WorldRegistry([SHOP])) as (_, host):
        for spec in ("midcourse.worlds.simulated.erp:Erp", "os:system", "tests.worlds.hosted:Diary"):
            with pytest.raises(TaskInvalid, match=f"'{spec}' is not served here"):
                await RemoteWorld(spec, host=host).open()
        with pytest.raises(TaskInvalid, match="unexpected keyword argument 'colour'"):
            await shop(host, "run-1", colour="red").open()


async def test_a_token_is_good_for_one_session_only(tmp_path: Path) -> None:
    async with serving(tmp_path) as (_, host):
        first, second = shop(host, "run-1"), shop(host, "run-2")
        mine, other = decode(Handle, await first.open()), decode(Handle, await second.open())
        for token in (other.token, host.token, ""):
            handle = f'{{"url": "{mine.url}", "token": "{token}"}}'
            assert not await second.attach(handle)
        assert isinstance(await first.observe(), Observation)
        with pytest.raises(ConnectionError):
            await shop(replace(host, token=mine.token), "run-3").open()


@pytest.mark.parametrize("what", ["exit", "cancel", "generator"])
@pytest.mark.parametrize("where", ["made", "open", "look", "act", "close"])
@pytest.mark.parametrize("spec", ["tests.worlds.hosted:Leaver", "tests.worlds.hosted:SharingLeaver"])
async def test_a_world_that_raises_no_exception_gets_an_error_and_the_host_serves_on(
    spec: str, where: str, what: str, tmp_path: Path
) -> None:
    """`sys.exit` in one world would end the sessions of all others, and a stray cancellation leaves its client without an answer."""
    async with asyncio.timeout(60), serving(tmp_path, worlds=WorldRegistry([spec, SHOP])) as (host, there):
        other = shop(there, "run-2")
        await other.open()
        options = {"folder": str(tmp_path), "where": where, "what": what}
        world = RemoteWorld(spec, options=options, host=there, key="run-1", timeout=20.0)
        if where in ("made", "open"):
            with pytest.raises(Exception, match="CallAborted"):
                await world.open()
        else:
            await world.open()
            seen, outcome = await world.observe(), await Hand(world).do("write")
            assert isinstance(seen, Unseen) == (where == "look")
            assert outcome.status == ("unknown" if where == "act" else "ok")
            assert await world.bar(1) is None
            await world.close()
            assert (tmp_path / "acts").read_text() == "written\n"
        assert len(host.sessions) == 1
        assert isinstance(await other.observe(), Observation)
        await other.close()
