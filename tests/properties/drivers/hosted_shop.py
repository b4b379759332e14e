"""The world of the fleet: a shop behind the fence of a real host session, and the host's client as one driver has it."""

import asyncio
import time
from typing import Any

from midcourse.domain.observation import Unseen
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import REPLAN
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.ports.world import Call, Turn
from midcourse.worlds.host.session import Fenced, Session
from tests.harness import ORDER_PENS, Shop, draft, steps
from tests.properties.drivers.invariants import Auditor
from tests.properties.drivers.scheduler import Process, Scheduler


class Planner:
    """Orders pens, and then has one more thing to do. It depends on nothing but its context."""

    async def plan(self, context: PlanningContext) -> PlanDraft:
        if any(done.skill == "order" for done in context.completed):
            return steps(draft("order", "nudge"))
        return steps(draft("name", "fill", text=f"Ada {context.version}"), ORDER_PENS, draft(REPLAN))


class HostedShop(Shop):
    """The shop in its host. Each act begins at a gate of the host, so it may begin after its sender is gone."""

    def __init__(self, host: "Host") -> None:
        super().__init__()
        self._host = host

    async def _attempt(self, call: Any) -> Outcome:
        await self._host.process.gate(f"act {call.command}")
        with self._host.process.scheduler.in_flight():
            await self._host.auditor.acts(call, self._host.barred)
        return await super()._attempt(call)


class Host:
    """A world host with one session, which outlives the drivers."""

    def __init__(self, scheduler: Scheduler, auditor: Auditor) -> None:
        self.process = Process(scheduler, "host")
        self.auditor = auditor
        self.barred: set[int] = set()
        self.shop = HostedShop(self)
        self.session: Session | None = None
        self.acts: set[asyncio.Task[Outcome]] = set()

    def act(self, epoch: int, call: Call) -> "asyncio.Task[Outcome]":
        assert self.session
        task = asyncio.ensure_future(self.session.act(epoch, call, time.time() + 600.0))
        self.acts.add(task)
        return task


class HostClient:
    """The world as one driver has it."""

    name = "shop"
    fences = True

    def __init__(self, host: Host, process: Process) -> None:
        self._host = host
        self._process = process
        self._epoch = 0
        self._turn: Turn = (0, 0)

    def set_turn(self, turn: Turn) -> None:
        self._turn = turn

    def catalogue(self) -> Any:
        return self._host.shop.catalogue()

    async def open(self) -> str:
        async def opened() -> None:
            if self._host.session is None or self._host.session.closed:
                self._host.session = Session(self._host.shop)
            self._epoch = self._host.session.attach(time.time() + 600.0, self._turn).epoch

        await self._process.call("open", opened, writes=True)
        return "session"

    async def attach(self, handle: str) -> bool:
        async def attached() -> bool:
            try:
                self._epoch = self._session.attach(time.time() + 600.0, self._turn).epoch
            except Fenced:
                return False
            return True

        return await self._process.call("attach", attached, writes=True)

    async def conceal(self, secrets: Any) -> None: ...

    async def observe(self) -> Any:
        return await self._ask("observe", Unseen(reason="failed", detail="fenced"))

    async def commit_set(self, call: Call) -> Any:
        return await self._ask("commit_set", None, call)

    async def probe(self, name: str, arguments: Any) -> Any:
        return await self._ask("probe", "unclear", name, arguments)

    async def act(self, call: Call) -> Outcome:
        await self._process.gate("act")
        outcome = await asyncio.shield(self._host.act(self._epoch, call))
        await self._process.gate("act answered")
        return outcome

    async def attend(self) -> str:
        return ""

    async def bar(self, command: int) -> None:
        await self._process.gate("bar")
        try:
            while not await self._session.bar(self._epoch, command):
                pass
        except Fenced:
            return
        self._host.barred.add(command)

    async def close(self) -> None:
        async def closed() -> None:
            try:
                self._session.close(self._epoch)
            except Fenced:
                return

        await self._process.call("close", closed, writes=False)

    @property
    def _session(self) -> Session:
        assert self._host.session
        return self._host.session

    async def _ask(self, method: str, refused: Any, *arguments: Any) -> Any:
        async def asked() -> Any:
            try:
                return await getattr(self._session, method)(self._epoch, *arguments)
            except Fenced:
                return refused

        return await self._process.call(method, asked, writes=False)
