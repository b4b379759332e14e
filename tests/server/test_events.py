"""Live events: all turns in order, resumed after any id, one follower for all viewers, and corrections where a journal was rewritten."""

import asyncio
import threading
from pathlib import Path

import pytest

from midcourse.agent.start import prepare_run
from midcourse.agent.wiring import load_job
from midcourse.config.settings import Settings
from midcourse.domain.run import Run
from midcourse.ports.store import JournalEvent
from midcourse.server import hub as hub_module
from midcourse.server.hub import Hub, Sent, WatchedRun
from midcourse.tenants.local import LocalRuns
from tests.server.serving import (
    RunningServer,
    StreamMessage,
    decide,
    read_stream,
    start,
    start_run_that_asks,
    wait_for_end,
    wait_until,
)


def list_turns(messages: list[StreamMessage]) -> list[int]:
    return [message.data["seq"] for message in messages if message.type == "turn"]


@pytest.fixture(scope="module")
def ended_stream(server: RunningServer) -> list[StreamMessage]:
    """The stream of a run that has ended, from the first turn."""
    client = server.client("operator")
    start(server.client(), "whole", settings={"approvals": "never"})
    wait_for_end(client, "whole")
    return list(read_stream(client, "whole"))


@pytest.mark.slow
def test_a_stream_has_every_turn_in_order_and_ends(ended_stream: list[StreamMessage]) -> None:
    assert [message.type for message in ended_stream] == ["turn"] * (len(ended_stream) - 1) + ["end"]
    assert list_turns(ended_stream) == list(range(1, len(ended_stream)))
    assert ended_stream[-1].data == {"type": "end", "final_reason": "goal_reached", "success": True, "verified": True}
    lines = [message.data["line"]["text"] for message in ended_stream[:-1] if message.data["line"]]
    assert "plan 1 (first plan): 2 steps, 1 repair" in lines
    assert "done: Place the order" in lines


@pytest.mark.slow
def test_a_stream_resumes_after_any_id(server: RunningServer, ended_stream: list[StreamMessage]) -> None:
    client = server.client("viewer")
    for place, message in enumerate(ended_stream[:-1]):
        assert list(read_stream(client, "whole", message.id)) == ended_stream[place + 1 :]


@pytest.mark.parametrize("last", ["nonsense", "-1", "٣", "1.5"])
def test_an_id_that_never_was_leads_to_the_whole_stream(
    server: RunningServer, ended_stream: list[StreamMessage], last: str
) -> None:
    assert list(read_stream(server.client("viewer"), "whole", last)) == ended_stream


@pytest.mark.parametrize("last", ["99999", "1" * 90])
def test_an_id_from_before_a_backup_was_restored_is_taken_back(
    server: RunningServer, ended_stream: list[StreamMessage], last: str
) -> None:
    first, *rest = read_stream(server.client("viewer"), "whole", last)
    assert first.data == {"type": "rewind", "to": 0}
    assert rest == ended_stream


@pytest.mark.slow
def test_many_viewers_of_a_live_run_hear_the_same_by_one_follower(server: RunningServer) -> None:
    operator = server.client("operator")
    question = start_run_that_asks(operator, "crowd")
    messages: dict[int, list[StreamMessage]] = {}

    def view(number: int) -> None:
        messages[number] = list(read_stream(server.client("viewer"), "crowd"))

    threads = [threading.Thread(target=view, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    wait_until(lambda: sum(watched.viewers for watched in server.get_hub()._watched.values()) == 20)
    assert server.get_hub().watched <= 2  # this run, and one that was watched by the test before
    assert decide(server.client("approver"), question).status_code == 200
    for thread in threads:
        thread.join(300)
    assert len(messages) == 20
    assert all(each == messages[0] for each in messages.values())
    assert list_turns(messages[0]) == list(range(1, len(messages[0])))


@pytest.mark.slow
def test_viewers_that_come_at_the_same_moment_share_a_follower(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while runs that are watched no longer are forgotten."""

    async def read(watched: WatchedRun) -> list[Sent]:
        return [sent async for sent in watched.read("")]

    async def play() -> None:
        tenant_runs, hub = LocalRuns(Settings.load(overrides={"home": str(tmp_path)})), Hub()
        jobs = load_job("notepad", {"home": str(tmp_path)})
        for number in range(4):
            await tenant_runs.start(jobs, f"past-{number}")
        past = await asyncio.gather(*(hub.watch("local", tenant_runs, f"past-{number}") for number in range(4)))
        await asyncio.gather(*(read(watched) for watched in past))
        initial_state = tenant_runs.store.initial_state

        async def later(run_id: str) -> Run:
            await asyncio.sleep(0.01)  # as a database does that is not in this process
            return await initial_state(run_id)

        monkeypatch.setattr(tenant_runs.store, "initial_state", later)
        async with prepare_run(jobs, "idle", tenant_runs.store) as prepared:
            await prepared.begin()
        found = await asyncio.gather(*(hub.watch("local", tenant_runs, "idle") for _ in range(20)))
        assert len(set(map(id, found))) == 1
        assert hub.watched == 1
        await hub.close()
        await tenant_runs.close()

    asyncio.run(play())


def test_viewers_of_a_run_that_waits_are_not_woken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at the journal that finds nothing costs nothing for each viewer."""
    monkeypatch.setattr(hub_module, "GLANCE", 0.01)

    async def play() -> None:
        tenant_runs, hub = LocalRuns(Settings.load(overrides={"home": str(tmp_path)})), Hub()
        async with prepare_run(load_job("notepad", {"home": str(tmp_path)}), "idle", tenant_runs.store) as prepared:
            await prepared.begin()
        watched = await hub.watch("local", tenant_runs, "idle")
        viewer = watched.read("")
        assert (await anext(viewer)).type == "notice"
        read, looks, wake, woken = tenant_runs.store.events, 0, watched._notify_viewers, 0

        async def count_look(run_id: str, above: int) -> tuple[JournalEvent, ...]:
            nonlocal looks
            looks += 1
            return await read(run_id, above)

        async def count_wake() -> None:
            nonlocal woken
            woken += 1
            await wake()

        monkeypatch.setattr(tenant_runs.store, "events", count_look)
        monkeypatch.setattr(watched, "_notify_viewers", count_wake)
        while looks < 10:
            await asyncio.sleep(0.01)
        assert woken == 0
        await viewer.aclose()
        await hub.close()
        await tenant_runs.close()

    asyncio.run(play())


def test_an_unknown_run_is_a_404_and_not_an_empty_stream(server: RunningServer) -> None:
    answer = server.client("viewer").get("/runs/nowhere/events")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_run_that_nothing_drives_is_noticed(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A stored run without a process: the stream says so, and continues when it is resumed."""
    home = tmp_path_factory.mktemp("idle")

    async def play() -> list[str]:
        tenant_runs = LocalRuns(Settings.load(overrides={"home": str(home)}))
        hub = Hub()
        job = load_job("notepad", {"home": str(home)})
        async with prepare_run(job, "idle", tenant_runs.store) as prepared:
            await prepared.begin()
        watched = await hub.watch("local", tenant_runs, "idle")
        types: list[str] = []
        async for sent in watched.read(""):
            types.append(sent.type)
            if types == ["notice"]:
                await tenant_runs.resume("idle")
        await hub.close()
        await tenant_runs.close()
        return types

    types = asyncio.run(play())
    assert types[:2] in (["notice", "turn"], ["notice", "notice"])
    assert types[-1] == "end"
