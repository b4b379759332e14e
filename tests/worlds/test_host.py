"""A world in its own process: the fence, sessions that outlive their clients, and hosts that die."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from midcourse import Agent, Draft, Task
from midcourse.codec import decode
from midcourse.domain.budget import Limits
from midcourse.domain.observation import Observation, Unseen
from midcourse.errors import TaskInvalid
from midcourse.planners import SamePlan
from midcourse.testing import Approves, MemoryStore
from midcourse.worlds.host import session
from midcourse.worlds.host.wire import Handle, Ready
from midcourse.worlds.remote import RemoteWorld
from midcourse.worlds.simulated import read_effects
from tests.worlds.hosted import Gate
from tests.worlds.support import Hand, ok
from tests.worlds.test_shop import fill_in

pytestmark = pytest.mark.slow
SHOP, ROOT = "midcourse.worlds.simulated:Shop", Path(__file__).parents[2]


def remote_shop(tmp_path: Path, *, timeout: float = 20.0, idle: float = 60.0, **options: object) -> RemoteWorld:
    options.setdefault("effects", str(tmp_path / "effects.jsonl"))
    return RemoteWorld(SHOP, options=options, folder=tmp_path / "world", idle=idle, timeout=timeout)


def gate(tmp_path: Path) -> RemoteWorld:
    options = {"folder": str(tmp_path)}
    return RemoteWorld("tests.worlds.hosted:Gate", options=options, folder=tmp_path / "world", idle=60.0)


@asynccontextmanager
async def opened(world: RemoteWorld) -> AsyncIterator[str]:
    handle = await world.open()
    try:
        yield handle
    finally:
        await world.close()


def host_file(tmp_path: Path) -> Path:
    (ready,) = (tmp_path / "world").glob("host-*.json")
    return ready


def host(tmp_path: Path) -> Ready:
    return decode(Ready, host_file(tmp_path).read_bytes())


def serves(ready: Ready | Handle) -> bool:
    """False is certain: a connection that is reset says nothing, one that is refused does."""
    connection = HTTPConnection(urlsplit(ready.url).netloc, timeout=60)
    try:
        connection.connect()
    except ConnectionError as error:
        return not isinstance(error, ConnectionRefusedError)
    else:
        return True
    finally:
        connection.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(600):
        while not condition():
            await asyncio.sleep(0.01)


def orders(tmp_path: Path) -> list[str]:
    return [order.get("reference") for order in read_effects(tmp_path / "effects.jsonl")]


async def test_a_session_is_worked_through_its_host_and_ends_with_it(tmp_path: Path) -> None:
    world = remote_shop(tmp_path)
    assert world.name == "shop"
    assert world.catalogue().skills == ()
    async with opened(world):
        ready = host(tmp_path)
        assert ready.pid != os.getpid()
        hand = Hand(world)
        await fill_in(hand)
        call = hand.call("place_order", await hand.zone("Place order"))
        commit = await world.commit_set(call)
        assert commit is not None
        assert ("reference", "R-1") in commit.values
        ok(await world.act(call))
        assert await hand.title() == "Thank you for your order"
        assert await world.probe("order_placed", (("reference", "R-1"),)) == "present"
        assert orders(tmp_path) == ["R-1"]
    await until(lambda: not serves(ready))
    assert list((tmp_path / "world").glob("host-*.json")) == []


async def test_previous_client_is_refused_after_a_take_over(tmp_path: Path) -> None:
    first, second = remote_shop(tmp_path), remote_shop(tmp_path)
    handle = await first.open()
    async with opened_by_attaching(second, handle):
        hand = Hand(second)
        await fill_in(hand)
        place = await hand.zone("Place order")
        late = Hand(first).call("place_order", place)
        outcome = await first.act(late)
        assert (outcome.status, outcome.reason) == ("failed", "fenced")
        assert orders(tmp_path) == []
        seen = await first.observe()
        assert isinstance(seen, Unseen)
        assert seen.reason == "failed"
        assert await first.commit_set(late) is None
        assert await first.probe("order_placed", (("reference", "R-1"),)) == "unclear"
        await first.bar(99)
        await first.close()
        hand.command = 98
        ok(await hand.do("place_order", place))
        assert orders(tmp_path) == ["R-1"]


async def test_client_of_an_earlier_turn_cannot_take_over(tmp_path: Path) -> None:
    """A worker that was frozen before it attached, and is let go on when another has long taken over."""
    first, frozen, again = remote_shop(tmp_path), remote_shop(tmp_path), remote_shop(tmp_path)
    first.set_turn((2, 20))
    frozen.set_turn((2, 10))
    again.set_turn((3, 5))
    handle = await first.open()
    assert not await frozen.attach(handle)
    assert isinstance(await first.observe(), Observation)
    async with opened_by_attaching(again, handle):
        assert isinstance(await first.observe(), Unseen)


@asynccontextmanager
async def opened_by_attaching(world: RemoteWorld, handle: str) -> AsyncIterator[None]:
    assert await world.attach(handle)
    try:
        yield
    finally:
        await world.close()


async def test_an_act_of_the_old_epoch_that_waits_for_its_turn_is_not_begun(tmp_path: Path) -> None:
    first, second = gate(tmp_path), gate(tmp_path)
    handle = await first.open()
    hand = Hand(first)
    acting = asyncio.create_task(hand.do("work", name="one"))
    await until((tmp_path / "one.begun").exists)
    queued = asyncio.create_task(hand.do("work", name="two"))
    async with opened_by_attaching(second, handle):
        (tmp_path / "go").touch()
        ok(await acting)
        assert (await queued).reason == "fenced"
        assert not (tmp_path / "two.begun").exists()


async def test_bar_waits_for_the_act_under_way_and_then_holds_for_all_clients(tmp_path: Path) -> None:
    first, second = gate(tmp_path), gate(tmp_path)
    handle = await first.open()
    call = Hand(first).call("work", name="one")
    acting = asyncio.create_task(first.act(call))
    await until((tmp_path / "one.begun").exists)
    async with opened_by_attaching(second, handle):
        barring = asyncio.create_task(second.bar(call.command))
        assert isinstance(await second.observe(), Observation)
        assert not barring.done()
        (tmp_path / "go").touch()
        await barring
        assert (tmp_path / "one.done").exists()
        ok(await acting)
        await second.bar(7)
        for command in (call.command, 7):
            assert (await second.act(replace(call, command=command))).reason == "barred"
        ok(await second.act(replace(call, command=8)))


async def test_a_bar_waits_longer_than_one_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PATIENCE", 0.01)
    served = session.Session(Gate(str(tmp_path)))
    epoch = served.attach(time.time() + 60).epoch
    call = Hand(Gate("")).call("work", name="one")
    acting = asyncio.create_task(served.act(epoch, call, time.time() + 60))
    await until((tmp_path / "one.begun").exists)
    assert not await served.bar(epoch, call.command)
    (tmp_path / "go").touch()
    ok(await acting)
    assert await served.bar(epoch, call.command)


async def test_a_session_that_is_closing_is_not_barred_before_its_act_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "PATIENCE", 0.01)
    served = session.Session(Gate(str(tmp_path)))
    epoch = served.attach(time.time() + 60).epoch
    call = Hand(Gate("")).call("work", name="one")
    acting = asyncio.create_task(served.act(epoch, call, time.time() + 60))
    await until((tmp_path / "one.begun").exists)
    served.close(epoch)
    ending = asyncio.create_task(served.end())
    assert not await served.bar(epoch, call.command)
    assert not ending.done()
    (tmp_path / "go").touch()
    ok(await acting)
    assert await served.bar(epoch, call.command)
    await ending


async def test_a_command_is_carried_out_once_at_most(tmp_path: Path) -> None:
    async with opened(world := remote_shop(tmp_path)):
        hand = Hand(world)
        await fill_in(hand)
        call = hand.call("place_order", await hand.zone("Place order"))
        ok(await world.act(call))
        await fill_in(hand)
        outcome = await world.act(call)
        assert (outcome.status, outcome.reason) == ("unknown", "repeated")
        assert orders(tmp_path) == ["R-1"]


CLIENT = """
import asyncio, sys
from pathlib import Path
from tests.worlds.hosted import Gate
from tests.worlds.support import Hand
from tests.worlds.test_host import remote_shop

async def main() -> None:
    world = remote_shop(Path(sys.argv[1]))
    handle = await world.open()
    hand = Hand(world)
    await hand.on("Desk lamp", "set_quantity", quantity=7)
    await hand.do("go", page="basket")
    print(handle, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


async def test_a_client_that_is_killed_leaves_the_session_as_it_was(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as client:
        assert client.stdout is not None
        handle = client.stdout.readline()
        client.send_signal(signal.SIGKILL)
    world = remote_shop(tmp_path)
    async with opened_by_attaching(world, handle):
        hand = Hand(world)
        hand.command = 100
        assert await hand.title() == "Basket"
        assert (await hand.zone("Desk lamp")).get("quantity") == 7
        ok(await hand.do("go", page="orders"))


async def test_killed_host_is_a_lost_world_and_can_be_opened_again(tmp_path: Path) -> None:
    world = remote_shop(tmp_path)
    handle = await world.open()
    hand = Hand(world)
    await fill_in(hand)
    call = hand.call("place_order", await hand.zone("Place order"))
    ready = host(tmp_path)
    os.kill(ready.pid, signal.SIGKILL)
    await until(lambda: not serves(ready))
    seen = await world.observe()
    assert isinstance(seen, Unseen)
    assert seen.reason == "world_lost"
    outcome = await world.act(call)
    assert (outcome.status, outcome.reason) == ("no_effect", "unsent"), "no connection, so nothing was sent"
    assert await world.commit_set(call) is None
    assert await world.probe("order_placed", (("reference", "R-1"),)) == "unclear"
    await world.bar(call.command)
    assert not await world.attach(handle)
    assert await world.open() != handle
    assert await hand.title() == "Catalogue"
    assert (await hand.zone("Desk lamp")).get("quantity") == 0
    await world.close()
    await world.close()


async def test_a_host_that_dies_during_an_act_leaves_it_unknown(tmp_path: Path) -> None:
    world = gate(tmp_path)
    await world.open()
    acting = asyncio.create_task(Hand(world).do("work", name="one"))
    await until((tmp_path / "one.begun").exists)
    os.kill(host(tmp_path).pid, signal.SIGKILL)
    outcome = await acting
    assert (outcome.status, outcome.reason) == ("unknown", "world_lost")


async def test_a_frozen_host_cannot_be_barred_or_taken_over_and_does_not_act_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(world := remote_shop(tmp_path)) as handle:
        hand = Hand(world)
        await fill_in(hand)
        call = hand.call("place_order", await hand.zone("Place order"))
        pid = host(tmp_path).pid
        os.kill(pid, signal.SIGSTOP)
        try:
            monkeypatch.setattr(world, "_timeout", 0.3)
            outcome = await world.act(call)
            assert (outcome.status, outcome.reason) == ("unknown", "timeout")
            seen = await world.observe()
            assert isinstance(seen, Unseen)
            assert seen.reason == "timeout"
            with pytest.raises(TimeoutError, match="could not be barred"):
                await world.bar(call.command)
            assert not await world.attach(handle)
        finally:
            os.kill(pid, signal.SIGCONT)
            monkeypatch.undo()
        await world.bar(call.command)
        assert orders(tmp_path) == []
        assert isinstance(await world.observe(), Observation)


async def test_act_after_its_deadline_is_not_begun(tmp_path: Path) -> None:
    served = session.Session(Gate(str(tmp_path)))
    call = Hand(Gate("")).call("work", name="one")
    outcome = await served.act(served.attach(time.time() + 60).epoch, call, time.time() - 1)
    assert (outcome.status, outcome.reason) == ("failed", "late")
    assert not (tmp_path / "one.begun").exists()


async def test_cancelled_wait_does_not_stop_the_act_or_block_the_client(tmp_path: Path) -> None:
    async with opened(world := gate(tmp_path)):
        call = Hand(world).call("work", name="one")
        acting = asyncio.create_task(world.act(call))
        await until((tmp_path / "one.begun").exists)
        acting.cancel()
        await asyncio.wait([acting])
        assert acting.cancelled()
        (tmp_path / "go").touch()
        await world.bar(call.command)
        assert (tmp_path / "one.done").exists()


async def test_idle_host_ends_and_closes_its_world(tmp_path: Path) -> None:
    diary = RemoteWorld("tests.worlds.hosted:Diary", options={"folder": str(tmp_path)}, folder=tmp_path, idle=1.5)
    handle = decode(Handle, await diary.open())
    await until(lambda: not serves(handle))
    assert (tmp_path / "closed").exists()


async def test_terminated_host_closes_its_world(tmp_path: Path) -> None:
    options = {"folder": str(tmp_path)}
    diary = RemoteWorld("tests.worlds.hosted:Diary", options=options, folder=tmp_path / "world")
    handle = decode(Handle, await diary.open())
    os.kill(host(tmp_path).pid, signal.SIGTERM)
    await until(lambda: not serves(handle))
    assert (tmp_path / "closed").exists()
    seen = await diary.observe()
    assert isinstance(seen, Unseen)
    assert seen.reason == "world_lost"


async def test_values_to_conceal_reach_the_world(tmp_path: Path) -> None:
    diary = RemoteWorld("tests.worlds.hosted:Diary", options={"folder": str(tmp_path)}, folder=tmp_path)
    async with opened(diary):
        await diary.conceal((("pin", "2580"),))
        assert (tmp_path / "concealed").read_text() == "(('pin', '2580'),)"
    with pytest.raises(ConnectionError, match="did not receive the values to conceal"):
        await diary.conceal((("pin", "2580"),))


async def test_a_host_logs_no_secret(tmp_path: Path) -> None:
    diary = RemoteWorld("tests.worlds.hosted:Diary", options={"folder": str(tmp_path)}, folder=tmp_path / "world")
    async with opened(diary):
        await diary.conceal((("pin", "hunter2"),))
        assert "hunter2" in (await Hand(diary).do("look_up", word="hunter2")).detail
        (log,) = (tmp_path / "world").glob("*.log")
        assert "KeyError: '<secret pin>'" in log.read_text()
        assert "hunter2" not in log.read_text()


async def test_a_refusal_of_a_skill_says_across_the_host_that_nothing_was_sent(tmp_path: Path) -> None:
    diary = RemoteWorld("tests.worlds.hosted:Diary", options={"folder": str(tmp_path)}, folder=tmp_path)
    publish = SamePlan([Draft(skill="publish")])
    agent = Agent(diary, publish, approver=(approver := Approves()), store=MemoryStore())
    result = await agent.run(Task(goal="Publish the diary", limits=Limits(max_replans=0, max_error_replans=0)))
    assert not result.success
    assert "publish failed: permission — the diary is private" in result.final_detail
    assert [question.about for question in approver.questions] == ["approve"]


async def test_exception_of_a_skill_leaves_its_outcome_unknown(tmp_path: Path) -> None:
    diary = RemoteWorld("tests.worlds.hosted:Diary", options={"folder": str(tmp_path)}, folder=tmp_path)
    async with opened(diary):
        outcome = await Hand(diary).do("tear")
        assert (outcome.status, outcome.reason) == ("unknown", "error")
        assert outcome.detail == "RuntimeError: torn"
        assert await diary.probe("torn", ()) == "unclear"
        assert isinstance(await diary.observe(), Observation)


@pytest.mark.parametrize(
    ("spec", "options", "error", "says"),
    [
        ("no.such.module:World", {}, TaskInvalid, "No module named 'no'"),
        ("tests.worlds.hosted:Novel", {}, TaskInvalid, "has no attribute 'Novel'"),
        (SHOP, {"colour": "red"}, TaskInvalid, "unexpected keyword argument 'colour'"),
        (SHOP, {"faults": [{"kind": "flood"}]}, TaskInvalid, "flood"),
        ("tests.worlds.hosted:Diary", {"folder": ".", "opens": False}, ConnectionError, "the lock is jammed"),
    ],
)
async def test_a_world_that_cannot_be_made_or_opened_says_why(
    tmp_path: Path, spec: str, options: dict[str, object], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        await RemoteWorld(spec, options=options, folder=tmp_path).open()


async def test_host_answers_nothing_without_the_token(tmp_path: Path) -> None:
    async with opened(world := remote_shop(tmp_path)) as handle:
        known = decode(Handle, handle)
        assert not await remote_shop(tmp_path).attach(handle.replace(known.token, "guess"))
        connection = HTTPConnection(urlsplit(known.url).netloc, timeout=60)
        connection.request("POST", "/attach")
        response = connection.getresponse()
        assert (response.status, response.read()) == (401, b"")
        connection.close()
        assert isinstance(await world.observe(), Observation)
        assert (host_file(tmp_path).stat().st_mode & 0o777) == 0o600


def test_host_without_a_stored_handle_is_taken_over(tmp_path: Path):
    """Its starter died between starting it and writing the handle down."""

    async def story() -> tuple[str, str]:
        starter, successor = (RemoteWorld(SHOP, folder=tmp_path / "world") for _ in range(2))
        first = await starter.open()
        second = await successor.open()
        await successor.close()
        return first, second

    first, second = asyncio.run(story())
    assert first == second
