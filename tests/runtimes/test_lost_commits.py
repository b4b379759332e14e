"""PostgreSQL loses its last commits after an irreversible act: the world host knows of it, and the act is not done again."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from midcourse.domain.approval import Decision
from midcourse.domain.budget import Limits
from midcourse.domain.phases import Asking, Ended
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.perform import Ports
from midcourse.planners import SamePlan
from midcourse.policy.approval.question import bind_decision
from midcourse.ports.clock import SystemClock
from midcourse.ports.driving import Claim
from midcourse.runtimes.driver import Driver, Rested
from midcourse.store.postgres import PostgresStore
from midcourse.testing import Posts
from midcourse.worlds.host.lifecycle import HostConfig, serve_host
from midcourse.worlds.host.memory import ActMemory
from midcourse.worlds.host.registry import WorldRegistry
from midcourse.worlds.host.wire import Handle, read_host_file
from midcourse.worlds.remote import RemoteWorld
from tests.harness import Safe, draft
from tests.store.rollback import Rows, restore_rows, save_rows

LETTERBOX = "tests.worlds.hosted:Letterbox"
RUN = "run"


@dataclass
class Losing:
    """A store, or one of its batches, that saves what the database holds right before the first act is recorded."""

    store: Any
    save: Callable[[], Awaitable[None]]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def records(self, claim: Claim) -> "Losing":
        return Losing(self.store.records(claim), self.save)

    async def write_ledger(self, run_id: str, entry: LedgerEntry) -> None:
        if entry.dispatched_at is not None:
            await self.save()
        await self.store.write_ledger(run_id, entry)


@dataclass
class Stage:
    store: PostgresStore
    folder: Path
    url: str
    tenant: str

    @property
    def letters(self) -> int:
        """Effects in the world's own log."""
        file = self.folder / "letters"
        return len(file.read_text(encoding="utf-8").splitlines()) if file.exists() else 0

    @asynccontextmanager
    async def host(self) -> AsyncIterator[Handle]:
        ready = self.folder / "host.json"
        worlds = WorldRegistry([LETTERBOX], home=self.folder)
        async with serve_host(HostConfig(worlds=worlds, ready=ready, acts=self.folder / "acts.jsonl")):
            yield read_host_file(ready)

    def driver(self, host: Handle, store: Any, placed: int) -> Any:
        task = Task(goal="post it", limits=Limits(approvals="never"))
        world = RemoteWorld(LETTERBOX, options={"folder": str(self.folder)}, host=host, key=RUN)
        ports = Ports(
            run_id=RUN,
            task=task,
            world=world,
            planner=SamePlan([draft("slot", "post")]),
            approver=Posts(),
            store=store,
            clock=SystemClock(),
            vault=Safe(),
        )
        return Driver(ports, must_stop=lambda: False).drive(placed=placed)

    async def post_and_lose(self, host: Handle) -> None:
        """Drive the run until its letter is posted. Then the driver dies, and the database forgets."""
        task = Task(goal="post it", limits=Limits(approvals="never"))
        await self.store.begin(Run(id=RUN, limits=task.limits), task)
        saved: list[Rows] = []

        async def save() -> None:
            saved.append(await save_rows(self.url, self.tenant))

        driving = asyncio.create_task(self.driver(host, Losing(self.store, save), 1))
        while not self.letters:
            assert not driving.done(), driving.result()
            await asyncio.sleep(0.01)
        driving.cancel()
        await asyncio.gather(driving, return_exceptions=True)
        await restore_rows(self.url, self.tenant, saved[0])
        assert not await self.store.ledger(RUN), "the act is forgotten"


@pytest.fixture
async def stage(postgres: str, tenant: str, tmp_path: Path) -> AsyncIterator[Stage]:
    async with PostgresStore(postgres, tenant=tenant) as store:
        yield Stage(store, tmp_path, postgres, tenant)


async def continued(stage: Stage, host: Handle) -> Rested:
    async with PostgresStore(stage.url, tenant=stage.tenant) as fresh:  # without what the dead process remembered
        return await asyncio.wait_for(stage.driver(host, fresh, 2), 60)


async def drive_again(stage: Stage, *, restarted: bool) -> Rested:
    """After the loss, in the same session or at a host that was started again."""
    async with stage.host() as host:
        await stage.post_and_lose(host)
        if not restarted:
            return await continued(stage, host)
    async with stage.host() as host:
        return await continued(stage, host)


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_forgotten_act_is_asked_about_and_not_repeated(stage: Stage, restarted: bool) -> None:
    rested = await drive_again(stage, restarted=restarted)
    assert stage.letters == 1
    assert isinstance(rested.run.phase, Asking), rested.run.phase
    question = await stage.store.open_question(RUN)
    assert question is not None
    assert question.about == "happened"


async def test_once_a_person_has_said_that_it_happened_the_run_ends_without_another(stage: Stage) -> None:
    await drive_again(stage, restarted=True)
    question = await stage.store.open_question(RUN)
    assert question is not None
    decision = replace(bind_decision(question, Decision(verdict="happened", by="Ada")), at=SystemClock().now())
    assert not (await stage.store.post(RUN, decision)).refused
    async with stage.host() as host:
        rested = await asyncio.wait_for(stage.driver(host, stage.store, 3), 60)
    assert isinstance(rested.run.phase, Ended)
    assert stage.letters == 1


async def test_without_the_memory_of_the_host_the_act_is_repeated(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger alone cannot know: this is what the other tests would find."""
    monkeypatch.setattr(ActMemory, "begin", lambda *_: "")
    await drive_again(stage, restarted=True)
    assert stage.letters == 2
