"""Following a run that another process drives: messages in order, questions while it is driven, and cheap looks."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from midcourse import Agent, Decision, Task
from midcourse.agent.control import LocalControl
from midcourse.agent.following import GLANCE, FollowedRun
from midcourse.agent.run_in_progress import RunInProgress
from midcourse.agent.start import new_run
from midcourse.agent.wiring import build_planner, build_world, load_job
from midcourse.domain.approval import Question
from midcourse.errors import Pending, RunUnknown
from midcourse.fleet.control import FleetControl
from midcourse.ports.store import JournalEvent
from midcourse.store.memory import MemoryStore
from midcourse.store.sqlite import SqliteStore
from midcourse.testing import Posts
from tests.scenarios.stage import RUN, crash

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked_hosts")]


def make_fleet_control(handle: Any, store: Any = None) -> FleetControl:
    fleet: Any = SimpleNamespace(store=store, runs=SimpleNamespace(tenant="acme", handle=lambda _run_id: handle))
    return FleetControl(fleet, "r-1")


class SlowHandle:
    """A fleet's handle of a run that takes its time over advice."""

    def __init__(self) -> None:
        self.received: list[str] = []

    async def tell(self, word: Any) -> str:
        await asyncio.sleep(0.05 if word.kind == "guided" else 0)
        self.received.append(word.kind)
        return ""


class FleetWithoutWorkers:
    """A fleet without workers: what is handed out waits, and the journal has no news."""

    looks = 0

    async def describe(self) -> Any:
        return SimpleNamespace(status="running", waits_for_worker=True)

    async def events(self, run_id: str, above: object) -> tuple[()]:
        self.looks += 1
        return ()


async def test_a_fleet_without_workers_says_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("midcourse.agent.following.GLANCE", 0.0)
    fleet, printed = FleetWithoutWorkers(), list[str]()
    run = FollowedRun(make_fleet_control(fleet, fleet), new_run(Task(goal="Order a lamp"), "r-1"), printed.append)
    following = asyncio.ensure_future(run.result())
    async with asyncio.timeout(600):
        while fleet.looks < 3 * FleetControl.quiet_looks:
            await asyncio.sleep(0)
    following.cancel()
    assert printed == [
        "no worker of tenant 'acme' has taken run r-1 up so far; start one with midcourse up --detach, or midcourse fleet worker"
    ]


def test_a_fleet_without_workers_is_noticed_within_ten_seconds() -> None:
    """As far as it is for us to say: how long a look takes is the database's affair."""
    assert GLANCE * FleetControl.quiet_looks <= 5.0


async def test_messages_arrive_in_the_order_in_which_they_were_sent() -> None:
    """Advice and then 'cancel': the other way round, the run would be over before the advice comes."""
    handle = SlowHandle()
    run = FollowedRun(make_fleet_control(handle), new_run(Task(goal="Order a lamp"), "r-1"), print)
    assert (run.guide("no hurry"), run.cancel()) == ("", "")
    async with asyncio.timeout(600):
        while len(handle.received) < 2:
            await asyncio.sleep(0.01)
    assert handle.received == ["guided", "cancel_asked"]


# --- a local run


class CountingStore(SqliteStore):
    """Counts the events that are read."""

    read = 0

    async def events(self, run_id: str, above: int) -> tuple[JournalEvent, ...]:
        found = await super().events(run_id, above)
        self.read += len(found)
        return found


@pytest.fixture(autouse=True)
def _look_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("midcourse.agent.following.GLANCE", 0.01)
    monkeypatch.setattr("midcourse.runtimes.mailbox.LISTEN_SECONDS", 0.002)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CountingStore]:
    with CountingStore(tmp_path / "midcourse.db") as opened:
        yield opened


@pytest.fixture
def order(store: CountingStore, tmp_path: Path) -> tuple[Agent, Task]:
    """An agent that asks before it orders a lamp, and its task."""
    job = load_job("order", {"approvals": "always", "replan_interval_seconds": "0"})
    world, planner = build_world(job.file.world, tmp_path), build_planner(job.file.planner)
    return Agent(world=world, planner=planner, approver=Posts(), settings=job.settings, store=store), job.task


class YesApprover:
    """Approves everything, and counts the questions."""

    def __init__(self) -> None:
        self.asked = list[int]()

    async def ask(self, question: Question) -> Decision:
        self.asked.append(question.id)
        return Decision(verdict="approved", by="Ada")


async def make_followed_run(
    store: Any, printed: Callable[[str], None], approver: YesApprover | None = None
) -> FollowedRun:
    run = FollowedRun(LocalControl(store, RUN), await store.initial_state(RUN), printed)
    run.approver = approver
    return run


async def begin_run(agent: Agent, task: Task) -> Any:
    live = agent.start(task, run_id=RUN)
    async for _ in live:
        break
    return live


async def test_every_event_is_read_once(store: CountingStore, order: tuple[Agent, Task]) -> None:
    live = await begin_run(*order)
    run = await make_followed_run(store, print, YesApprover())
    turns = [turn async for turn in run]
    assert (await run.result()) == (await live.result())
    journal = await store.journal(RUN)
    assert [turn.event for turn in turns] == [row.event for row in journal]
    assert [turn.commands for turn in turns] == [row.commands for row in journal]
    assert store.read == len(journal)
    assert run.run == (await store.load(RUN))[0]


@pytest.mark.parametrize("driven_here", [True, False])
async def test_a_run_is_used_the_same_way_whoever_drives_it(
    driven_here: bool, store: CountingStore, order: tuple[Agent, Task]
) -> None:
    live = await begin_run(*order)
    run: RunInProgress = live if driven_here else await make_followed_run(store, print)

    async def answer_it() -> None:
        # A followed run is known from its journal, which is read a little after the question was stored.
        while (question := await run.question()) is None or run.task_state != "PENDING_APPROVAL":
            await asyncio.sleep(0.01)
        assert run.answer(question, Decision(verdict="approved", by="Ada")) == ""

    async with asyncio.timeout(60):
        answering = asyncio.create_task(answer_it())
        lines = [line async for line in run.narrate()]
        await answering
    assert (await run.result()).success
    assert run.task_state == "COMPLETED"
    assert any(line.startswith("plan 1 ") for line in lines)
    assert any("approved" in line for line in lines)
    assert lines[-1].startswith(("verified", "the planner says"))
    await live.result()


@pytest.mark.parametrize("driven_here", [True, False])
async def test_a_caller_that_does_not_wait_lets_go_of_a_run_that_asks(
    driven_here: bool, store: CountingStore, order: tuple[Agent, Task]
) -> None:
    live = await begin_run(*order)
    run: RunInProgress = live if driven_here else await make_followed_run(store, print)
    with pytest.raises(Pending):
        await run.result_unless_asked(0.0)
    assert store.is_claimed(RUN) is not driven_here
    await live.close()
    assert not store.is_claimed(RUN)


async def test_a_run_with_its_own_store_is_narrated_to_the_end(order: tuple[Agent, Task], tmp_path: Path) -> None:
    agent, task = order
    settings = agent.settings.with_overrides({"home": str(tmp_path / "own")}) if agent.settings else None
    live = replace(agent, store=None, settings=settings, approver=lambda question: True).start(task)
    await live.result()  # the run has closed its store
    lines = [line async for line in live.narrate()]
    assert any(line.startswith("plan 1 ") for line in lines)


async def test_of_two_that_follow_a_run_the_first_answer_counts(
    store: CountingStore, order: tuple[Agent, Task]
) -> None:
    both_asked = asyncio.Barrier(2)

    class Together(YesApprover):
        async def ask(self, question: Question) -> Decision:
            await both_asked.wait()
            return await super().ask(question)

    live = await begin_run(*order)
    first, second, printed = Together(), Together(), list[str]()
    runs = [await make_followed_run(store, printed.append, approver) for approver in (first, second)]
    results = await asyncio.gather(live.result(), *(run.result() for run in runs))
    assert [result.final_reason for result in results] == ["goal_reached"] * 3
    decided = [row.event for row in await store.journal(RUN) if row.event.kind == "approval_decided"]
    assert len(decided) == 1
    assert first.asked == second.asked


async def test_a_run_that_no_process_drives_asks_nothing_until_it_is_resumed(
    store: CountingStore, order: tuple[Agent, Task]
) -> None:
    agent, task = order
    live = agent.start(task, run_id=RUN)
    async for turn in live:
        if turn.run.phase.kind == "asking":
            break
    await crash(live)
    approver, printed = YesApprover(), list[str]()
    run = await make_followed_run(store, printed.append, approver)
    await run.catch_up()
    ending = asyncio.ensure_future(run.result())
    async with asyncio.timeout(600):
        while not printed:
            await asyncio.sleep(0.002)
    assert run.pause() == "", "as far as is known here"
    async with asyncio.timeout(600):
        while len(printed) < 2:
            await asyncio.sleep(0.002)
    assert printed == [f"no process is running it; midcourse resume {RUN} continues it"] * 2
    assert approver.asked == []
    resumed = agent.pick_up(RUN)
    assert (await ending).final_reason == "goal_reached"
    assert (await resumed.result()).final_reason == "goal_reached"
    assert len(approver.asked) >= 1


async def test_a_run_in_memory_is_followed_in_the_same_process(tmp_path: Path) -> None:
    job = load_job("order", {"approvals": "always", "replan_interval_seconds": "0"})
    store = MemoryStore()
    agent = Agent(
        world=build_world(job.file.world, tmp_path),
        planner=build_planner(job.file.planner),
        approver=Posts(),
        settings=job.settings,
        store=store,
    )
    live = await begin_run(agent, job.task)
    run = await make_followed_run(store, print, YesApprover())
    assert (await run.result()).final_reason == "goal_reached"
    assert (await live.result()).success


async def test_an_agent_follows_controls_and_answers_a_run_that_another_one_drives(
    store: CountingStore, order: tuple[Agent, Task], tmp_path: Path
) -> None:
    driving, task = order
    live = await begin_run(driving, task)
    with SqliteStore(store.path) as same_file:
        async with replace(driving, store=same_file).follow(RUN, approver=YesApprover()) as run:
            assert run.guide("no hurry") == ""
            kinds = [turn.event.kind async for turn in run]
            assert (await run.result()).final_reason == "goal_reached"
    assert kinds == [row.event.kind for row in await store.journal(RUN)]
    assert {"guided", "approval_decided"} <= set(kinds)
    assert (await live.result()).success


async def test_an_approver_that_raises_leaves_the_question_open(
    store: CountingStore, order: tuple[Agent, Task]
) -> None:
    class Broken(YesApprover):
        async def ask(self, question: Question) -> Decision:
            raise ValueError("no screen")

    live = await begin_run(*order)
    printed = list[str]()
    run = await make_followed_run(store, printed.append, Broken())
    following = asyncio.ensure_future(run.result())
    async with asyncio.timeout(600):
        while not printed:
            await asyncio.sleep(0.01)
    assert printed[0].startswith("the approver raised ValueError: no screen")
    assert await store.open_question(RUN) is not None
    live.cancel()
    assert (await following).final_reason == "cancelled"


async def test_leaving_a_followed_run_sends_what_was_said_and_leaves_the_run_as_it_is(
    store: CountingStore, order: tuple[Agent, Task]
) -> None:
    agent, task = order
    live = await begin_run(agent, task)
    async with agent.follow(RUN) as run:
        assert run.pause() == ""
    assert [message.event.kind for message in await store.messages(RUN, 0)] == ["pause_asked"]
    live.cancel()
    assert (await live.result()).final_reason == "cancelled"
    with pytest.raises(RunUnknown):
        async with agent.follow("no such run"):
            pass


async def test_on_windows_it_is_said_where_a_run_is_controlled(
    store: CountingStore, order: tuple[Agent, Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    live = await begin_run(*order)
    monkeypatch.setattr(store, "is_claimed", lambda _run_id: None)
    control = LocalControl(store, RUN)
    assert "in its own terminal" in await control.cancel()
    assert await control.why_not_driven() == "", "it cannot be known there"
    live.cancel()
    await live.result()
    assert await control.cancel() == "the run has ended: cancelled"


async def test_a_world_without_a_host_is_taken_over_where_the_run_is_driven(
    store: CountingStore, order: tuple[Agent, Task]
) -> None:
    live = await begin_run(*order)
    control = LocalControl(store, RUN)
    assert "Ctrl-C in its terminal, then t" in await control.why_no_take_over()
    with pytest.raises(ConnectionError, match="in the process that runs it"):
        await control.attend()
    live.cancel()
    await live.result()
