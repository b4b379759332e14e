"""Messages to a run: accepted on the state that they are decided on, and decided once, in order."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest

from midcourse import Agent, Task
from midcourse.agent.live_run import LiveRun
from midcourse.agent.wiring import build_planner, build_world, load_job
from midcourse.director.decide import decide
from midcourse.domain.approval import Decision
from midcourse.domain.events import ApprovalDecided, CancelAsked, Guided, PauseAsked, ResumeAsked, TimerFired
from midcourse.domain.phases import Paused
from midcourse.errors import RunUnknown
from midcourse.policy.approval.question import bind_decision
from midcourse.policy.audit import is_human_input
from midcourse.ports.controls import Request
from midcourse.ports.driving import MessageWaiting
from midcourse.store.memory import MemoryStore
from midcourse.store.sqlite import SqliteStore
from midcourse.testing import Posts
from tests.scenarios.stage import RUN, crash

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("forked_hosts")]

InboxStore: TypeAlias = SqliteStore | MemoryStore


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[InboxStore]:
    if request.param == "memory":
        yield MemoryStore()
        return
    with SqliteStore(tmp_path / "midcourse.db") as opened:
        yield opened


@pytest.fixture(autouse=True)
def _listen_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("midcourse.runtimes.mailbox.LISTEN_SECONDS", 0.002)


Orders: TypeAlias = Callable[..., tuple[Agent, Task]]


@pytest.fixture
def orders(store: InboxStore, tmp_path: Path) -> Orders:
    def make(approval_seconds: float = 600.0) -> tuple[Agent, Task]:
        """An agent that orders a lamp in real time and asks before it does, and its task."""
        job = load_job(
            "order", {"approvals": "always", "approval_seconds": str(approval_seconds), "replan_interval_seconds": "0"}
        )
        world = build_world(job.file.world, tmp_path)
        planner = build_planner(job.file.planner)
        return Agent(world=world, planner=planner, approver=Posts(), settings=job.settings, store=store), job.task

    return make


async def asking(agent: Agent, task: Task, store: InboxStore) -> tuple[LiveRun, ApprovalDecided]:
    """A run that asks, and the approval that it waits for."""
    live = agent.start(task, run_id=RUN)
    async for _ in live:
        if (question := await store.open_question(RUN)) is not None:
            approval = bind_decision(question, Decision(verdict="approved", by="Ada"))
            return live, replace(approval, at=time.time())
    raise AssertionError("the run ended without asking")


async def test_a_message_is_decided_once_by_the_process_that_drives_the_run(store: InboxStore, orders: Orders) -> None:
    live, approval = await asking(*orders(), store)
    assert not (await store.post(RUN, approval)).refused
    assert (await live.result()).final_reason == "goal_reached"
    decisions = [row.event for row in await store.journal(RUN) if isinstance(row.event, ApprovalDecided)]
    assert decisions == [approval]
    assert (await store.claim_run(RUN)).decided == 1


async def test_the_second_answer_to_a_question_is_refused(store: InboxStore, orders: Orders) -> None:
    live, approval = await asking(*orders(), store)
    await crash(live)
    assert not (await store.post(RUN, approval)).refused
    assert (await store.post(RUN, replace(approval, verdict="rejected"))).refused == "no question is open"
    assert [message.number for message in await store.messages(RUN, 0)] == [1]


async def test_a_turn_is_refused_while_a_message_waits_that_was_accepted_before_it(
    store: InboxStore, orders: Orders
) -> None:
    live, approval = await asking(*orders(), store)
    await crash(live)
    run, _ = await store.load(RUN)
    timer = next(issued.command for issued in run.pending if issued.command.kind == "wait")
    expired = TimerFired(answers=timer.id, at=run.now + 1e6)
    after, commands = decide(run, expired)
    assert not (await store.post(RUN, approval)).refused
    with pytest.raises(MessageWaiting):
        await store.save_turn(after, expired, commands, known=0)
    assert (await store.load(RUN))[0] == run, "nothing of the refused turn was written"
    after, commands = decide(run, approval)
    await store.save_turn(after, approval, commands, known=None, message=1)
    assert (await store.claim_run(RUN)).decided == 1


async def test_what_a_process_accepted_that_died_is_decided_when_the_run_is_resumed(
    store: InboxStore, orders: Orders
) -> None:
    agent, task = orders()
    live, _ = await asking(agent, task, store)
    await crash(live)
    assert not (await store.post(RUN, Guided(text="no hurry"))).refused
    assert not (await store.post(RUN, CancelAsked())).refused
    assert (await agent.pick_up(RUN).result()).final_reason == "cancelled"
    said = [row.event.kind for row in await store.journal(RUN) if is_human_input(row.event)]
    assert said == ["guided", "cancel_asked"]


@pytest.mark.parametrize("seed", range(8))
async def test_whatever_is_accepted_is_in_the_journal_once_and_in_order(
    seed: int, store: InboxStore, orders: Orders
) -> None:
    """Messages at random turns, approvals against their expiry, and processes that die in between."""
    chance = random.Random(seed)
    agent, task = orders(chance.choice([0.02, 600.0]))
    live, accepted = agent.start(task, run_id=RUN), list[Request]()
    while not await has_ended(live):
        for message in await messages(chance, store):
            if not (await store.post(RUN, message)).refused:
                accepted.append(message)
        if chance.random() < 0.03:
            await crash(live)
            if await store.result(RUN) is not None:
                break
            live = agent.pick_up(RUN)
    journal = [row.event for row in await store.journal(RUN) if is_human_input(row.event)]
    undecided = [message.event for message in await store.messages(RUN, (await store.claim_run(RUN)).decided)]
    assert [*(event for event in journal if event in accepted), *undecided] == accepted
    refused = Counter(type(event) for event in accepted if isinstance(event, ApprovalDecided))
    assert refused[ApprovalDecided] <= len({event.question for event in accepted if isinstance(event, ApprovalDecided)})


async def has_ended(live: LiveRun) -> bool:
    """Whether it has a result within a few milliseconds."""
    done, _ = await asyncio.wait([asyncio.ensure_future(asyncio.shield(live.result()))], timeout=0.004)
    return bool(done)


async def messages(chance: random.Random, store: InboxStore) -> list[Request]:
    now = time.time()
    try:
        run, _ = await store.load(RUN)
    except RunUnknown:
        return []
    possible: list[Request] = [PauseAsked(at=now), Guided(text=f"hint {chance.random()}", at=now)]
    if isinstance(run.phase, Paused):
        possible += [ResumeAsked(at=now)] * 8
    if (question := await store.open_question(RUN)) is not None:
        possible += [replace(bind_decision(question, Decision(verdict="approved", by="Ada")), at=now)] * 8
    return chance.choices(possible, k=chance.choice([0, 0, 0, 1, 1, 2]))
