"""Live events: all turns in order, resumed after any id, one follower for all viewers, and corrections where a journal was rewritten."""

import asyncio
import threading
from pathlib import Path

import pytest

from midcourse.app.desk.local import LocalDesk
from midcourse.app.settings.run import Settings
from midcourse.app.start import start_run
from midcourse.app.wiring import load_job
from midcourse.domain.run import Run
from midcourse.server.hub import Hub, Sent, WatchedRun
from tests.server.serving import Heard, Served, decide, ended, listening, start, start_asking, until


def turns(heard: list[Heard]) -> list[int]:
    return [one.data["seq"] for one in heard if one.type == "turn"]


@pytest.fixture(scope="module")
def whole(served: Served) -> list[Heard]:
    """The stream of a run that has ended, from the first turn."""
    client = served.client("operator")
    start(client, "whole", settings={"approvals": "never"})
    ended(client, "whole")
    return list(listening(client, "whole"))


@pytest.mark.slow
def test_a_stream_has_every_turn_in_order_and_ends(whole: list[Heard]) -> None:
    assert [one.type for one in whole] == ["turn"] * (len(whole) - 1) + ["end"]
    assert turns(whole) == list(range(1, len(whole)))
    assert whole[-1].data == {"type": "end", "final_reason": "goal_reached", "success": True, "verified": True}
    said = [one.data["line"]["text"] for one in whole[:-1] if one.data["line"]]
    assert "plan 1 (first plan): 2 steps, 1 repair" in said
    assert "done: Place the order" in said


@pytest.mark.slow
def test_a_stream_resumes_after_any_id(served: Served, whole: list[Heard]) -> None:
    client = served.client("viewer")
    for place, one in enumerate(whole[:-1]):
        assert list(listening(client, "whole", one.id)) == whole[place + 1 :]


@pytest.mark.parametrize("last", ["nonsense", "-1", "٣", "1.5"])
def test_an_id_that_never_was_leads_to_the_whole_stream(served: Served, whole: list[Heard], last: str) -> None:
    assert list(listening(served.client("viewer"), "whole", last)) == whole


@pytest.mark.parametrize("last", ["99999", "1" * 90])
def test_an_id_from_before_a_backup_was_restored_is_taken_back(served: Served, whole: list[Heard], last: str) -> None:
    first, *rest = listening(served.client("viewer"), "whole", last)
    assert first.data == {"type": "rewind", "to": 0}
    assert rest == whole


@pytest.mark.slow
def test_many_viewers_of_a_live_run_hear_the_same_by_one_follower(served: Served) -> None:
    operator = served.client("operator")
    question = start_asking(operator, "crowd")
    heard: dict[int, list[Heard]] = {}

    def view(number: int) -> None:
        heard[number] = list(listening(served.client("viewer"), "crowd"))

    threads = [threading.Thread(target=view, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    until(lambda: sum(one.viewers for one in served.hub_of()._watched.values()) == 20)
    assert served.hub_of().watched <= 2  # this run, and one that was watched by the test before
    assert decide(served.client("approver"), question).status_code == 200
    for thread in threads:
        thread.join(300)
    assert len(heard) == 20
    assert all(one == heard[0] for one in heard.values())
    assert turns(heard[0]) == list(range(1, len(heard[0])))


@pytest.mark.slow
def test_viewers_that_come_at_the_same_moment_share_a_follower(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while runs that are watched no longer are forgotten."""

    async def read(watched: WatchedRun) -> list[Sent]:
        return [sent async for sent in watched.read("")]

    async def story() -> None:
        desk, hub = LocalDesk(Settings.load(overrides={"home": str(tmp_path)})), Hub()
        jobs = load_job("notepad", {"home": str(tmp_path)})
        for number in range(4):
            await desk.start(jobs, f"past-{number}")
        past = await asyncio.gather(*(hub.watch("local", desk, f"past-{number}") for number in range(4)))
        await asyncio.gather(*(read(one) for one in past))
        initial_state = desk.store.initial_state

        async def later(run_id: str) -> Run:
            await asyncio.sleep(0.01)  # as a database does that is not in this process
            return await initial_state(run_id)

        monkeypatch.setattr(desk.store, "initial_state", later)
        await start_run(jobs, "idle", desk.store)
        found = await asyncio.gather(*(hub.watch("local", desk, "idle") for _ in range(20)))
        assert len(set(map(id, found))) == 1
        assert hub.watched == 1
        await hub.close()
        await desk.close()

    asyncio.run(story())


def test_an_unknown_run_is_a_404_and_not_an_empty_stream(served: Served) -> None:
    answer = served.client("viewer").get("/runs/nowhere/events")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_run_that_nothing_drives_is_noticed(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A stored run without a process: the stream says so, and continues when it is resumed."""
    home = tmp_path_factory.mktemp("idle")

    async def story() -> list[str]:
        desk = LocalDesk(Settings.load(overrides={"home": str(home)}))
        hub = Hub()
        job = load_job("notepad", {"home": str(home)})
        await start_run(job, "idle", desk.store)
        watched = await hub.watch("local", desk, "idle")
        types: list[str] = []
        async for sent in watched.read(""):
            types.append(sent.type)
            if types == ["notice"]:
                await desk.resume("idle")
        await hub.close()
        await desk.close()
        return types

    types = asyncio.run(story())
    assert types[:2] in (["notice", "turn"], ["notice", "notice"])
    assert types[-1] == "end"
