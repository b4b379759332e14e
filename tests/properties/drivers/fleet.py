"""A fleet of drivers, speakers and a supervisor in one event loop. Bytes choose what happens next.

After the last byte everything goes on in order, with no more deaths, so that every run comes to its end.
"""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from midcourse.domain.approval import Decision, Question, Verdict
from midcourse.domain.events import CancelAsked, Event, Guided, PauseAsked, ResumeAsked
from midcourse.domain.phases import Paused
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.perform import Ports
from midcourse.policy.approval.question import bind_decision
from midcourse.ports.controls import Request
from midcourse.runtimes.driver import Driver, Rested
from midcourse.testing import Posts
from tests.harness import NO_WAITS, Safe
from tests.properties.adversary import Choices
from tests.properties.drivers.hosted_shop import Host, HostClient, Planner
from tests.properties.drivers.invariants import RUN, Auditor
from tests.properties.drivers.scheduler import Process, Scheduler, Waiting
from tests.properties.drivers.stores import Backend

MOST_STEPS = 20_000
MOST_SPEAKERS = 3
DECISIVE = ("write_ledger", "act", "rest")
BUILD: ContextVar[int] = ContextVar("build", default=0)
"""The build of the process that decides: another one may have another director."""


class Fleet:
    """One run, and all that happens to it."""

    def __init__(
        self,
        backend: Backend,
        data: bytes,
        *,
        sweeps: bool = True,
        drops: bool = True,
        deaths: bool = True,
        speaks: bool = True,
        builds: int = 1,
        calm: bool = False,
        rests: bool = True,
        alarms: bool = False,
    ) -> None:
        """`calm`: the bytes only decide where drivers hand over. `alarms`: after every other command that a driver has
        performed, its worker counts as lost.
        """
        self.choices = Choices(data)
        self.scheduler = Scheduler()
        self.auditor = Auditor(backend)
        self.backend = backend
        self.host = Host(self.scheduler, self.auditor)
        self.sweeps, self.drops, self.deaths, self.speaks = sweeps, drops, deaths, speaks
        self.builds, self.calm, self.rests, self.alarms = builds, calm, rests, alarms
        self.auditor.heard = self._heard
        self.drivers: dict[Process, Driver | None] = {}
        self.speakers: list[Process] = []
        self.supervisor = Supervisor(self)
        self.task = Task(goal="order pens")
        limits = replace(self.task.limits, **NO_WAITS, approvals="always", approval_seconds=60.0)
        self.task = replace(self.task, limits=limits)
        self.numbers = self.performed = 0
        self.fates = Choices(data[::-1])
        """What happens to drivers that are about to act or to rest, which is too seldom to be left to the other choices."""
        self.considered: list[Waiting] = []
        self.frozen: dict[Process, int] = {}
        """Drivers that are stopped, and for how many steps of others."""
        self.extra: list[Callable[[], Any]] = []
        """More that may happen."""
        self.asks_operator = False
        """Whether an operator resumes a run that is left waiting. Only a database that loses commits needs one."""

    # --- processes

    def process(self, kind: str) -> Process:
        self.numbers += 1
        skew = self.choices.mostly(0.0, -0.5, 0.5) if kind == "driver" and not self.calm else 0.0
        return Process(self.scheduler, f"{kind} {self.numbers}", skew)

    def start_driver(self, placed: int) -> Process:
        process = self.process("driver")
        build = self.choices.pick(*range(self.builds))
        self.drivers[process] = None
        process.run(self._drive(process, placed, build))
        return process

    async def _drive(self, process: Process, placed: int, build: int) -> None:
        BUILD.set(build)
        ports = Ports(
            run_id=RUN,
            task=self.task,
            world=HostClient(self.host, process),
            planner=Planner(),
            approver=Posts(),
            store=self.backend.store_for(process, self.auditor),
            clock=process,
            vault=Safe(),
        )
        driver = self.drivers[process] = Driver(ports, must_stop=self._must_stop if self.rests else None)
        try:
            rested = await driver.drive(placed=placed)
        except Exception as error:  # as the activity does: it is tried again
            self.supervisor.failed(process, error)
        else:
            await process.gate("activity answered")
            self.supervisor.left(process, rested)

    def _must_stop(self) -> bool:
        return self.choices.one_in(3 if self.calm else 6)

    def _heard(self, process: Process, event: Event) -> None:
        driver, answers = self.drivers.get(process), getattr(event, "answers", 0)
        if self.alarms and driver and answers and answers not in driver._answered:
            self.performed += 1
            if self.performed % 2 == 0:
                self.supervisor.alarm()

    # --- speakers

    async def _speak(self, process: Process, choose: Callable[[Run, Question | None], Request]) -> None:
        store = self.backend.store_for(process, self.auditor)
        run, _ = await store.load(RUN)
        question = await store.open_question(RUN)
        event = replace(choose(run, question), at=self.scheduler.now)
        posted = await store.post(RUN, event)
        if posted.refused:
            return
        if not (self.drops and self.choices.one_in(2)):
            for driver in self.drivers.values():
                if driver:
                    driver.ring()
        if posted.resting:
            await process.gate("signal")
            if not (self.drops and self.choices.one_in(2)):
                self.supervisor.wake(posted.number)

    def _say_something(self, run: Run, question: Question | None) -> Request:
        options: list[Request] = [Guided(text=f"hint {self.numbers}"), PauseAsked(), ResumeAsked()]
        options += [CancelAsked()] if self.choices.one_in(6) else []
        if question is not None:
            options = [self._answer(question)] * 3 + options
        return self.choices.pick(*options)

    def _answer(self, question: Question) -> Request:
        happened: Verdict = "happened" if self.host.shop.orders else "did_not_happen"
        verdicts: dict[str, Verdict] = {"approve": "approved", "happened": happened, "repeat": "rejected"}
        verdict = verdicts.get(question.about, "stop")
        return bind_decision(question, Decision(verdict=verdict, by="Ada", all_values=True))

    def speak(self, choose: Callable[[Run, Question | None], Request]) -> None:
        self.speakers = [speaker for speaker in self.speakers if speaker.is_live]
        if len(self.speakers) < MOST_SPEAKERS:
            process = self.process("speaker")
            self.speakers.append(process)
            process.run(self._speak(process, choose))

    # --- what happens next

    async def play(self) -> None:
        starter = self.process("starter")
        opening = Run(id=RUN, limits=self.task.limits)
        starter.run(self.backend.store_for(starter, self.auditor).begin(opening, self.task))
        while starter.is_live:
            await self.scheduler.settle()
            for one in list(self.scheduler.waiting):
                self.scheduler.proceed(one)
        self.supervisor.place()
        try:
            await self._play()
            assert not self.auditor.broken, self.auditor.broken
            self.auditor.ended(self.host.shop.orders)
            assert not self.auditor.broken, self.auditor.broken
        finally:
            everyone = [*self.drivers, *self.speakers]
            for process in everyone:
                process.kill()
            roots = [process.root for process in everyone if process.root]
            for task in self.host.acts:
                task.cancel()
            await asyncio.gather(*roots, *self.host.acts, return_exceptions=True)

    async def _play(self) -> None:
        for _ in range(MOST_STEPS):
            await self.scheduler.settle()
            assert not self.auditor.broken, self.auditor.broken
            if self.supervisor.over and not self.scheduler.waiting:
                return
            if self.deaths and not self.calm:
                self._freeze()
            step = self._step if self.calm else self.choices.pick(*[self._step] * 40, *self._disturbances())
            made = step()
            if made is not None:
                await made
        raise AssertionError(f"invariant 9: still {self.auditor.stored.state} after {MOST_STEPS} steps")

    def _disturbances(self) -> list[Callable[[], Any]]:
        found: list[Callable[[], Any]] = [self._pass_time, *self.extra]
        if self.speaks:
            found += [lambda: self.speak(self._say_something)] * 3
        if self.deaths:
            found += [self._kill, self.supervisor.alarm]
        if self.sweeps:
            found.append(self._sweep)
        return found

    def _step(self) -> Any:
        waiting = self.scheduler.waiting
        if not waiting:
            return self._idle()
        thawed = [one for one in waiting if self.frozen.get(one.process, 0) <= 0] or waiting
        self.frozen = {process: steps - 1 for process, steps in self.frozen.items() if steps > 1}
        self.scheduler.proceed(thawed[0] if self.calm else self.choices.pick(*thawed))
        return None

    def _freeze(self) -> None:
        """Stop every third driver that is about to act or to rest: one is replaced meanwhile, the other gets a message."""
        for one in list(self.scheduler.waiting):
            if one.label not in DECISIVE or one in self.considered or one.process not in self.drivers:
                continue
            self.considered.append(one)
            if self.fates.one_in(3):
                self.frozen[one.process] = self.fates.pick(30, 60, 100)
                if one.label != "rest":
                    self.supervisor.alarm()
                elif self.speaks:
                    self.speak(self._say_something)

    async def _idle(self) -> None:
        """All processes wait. What a fleet and its users would do next."""
        if self.supervisor.has_to_place():
            self.supervisor.place()
            return
        if self.sweeps and await self._sweep():
            return
        stored = self.auditor.stored
        store: Any = self.backend.store_for(self._reader(), self.auditor)
        question = await self._read(store.open_question(RUN))
        if question is not None and question.expires_at > self.scheduler.now:
            self.speak(lambda _, asked: self._answer(asked) if asked else Guided(text="which?"))
        elif stored.state is not None and isinstance(stored.state.phase, Paused):
            self.speak(lambda *_: ResumeAsked())
        else:
            times = [one.due for one in self.scheduler.sleeping]
            times += [self.supervisor.wake_at] if self.supervisor.wake_at else []
            if not times and self.asks_operator:
                self.supervisor.place()
                return
            assert times, f"invariants 4 and 9: everything waits, {stored.messages} messages, {stored.state}"
            self._set_time(min(times))

    def _reader(self) -> Process:
        return Process(self.scheduler, "reader")

    async def _read(self, reading: Any) -> Any:
        """Read without waiting for the scheduler."""
        task = asyncio.ensure_future(reading)
        while not task.done():
            await self.scheduler.settle()
            for one in [one for one in self.scheduler.waiting if one.process.name == "reader"]:
                self.scheduler.proceed(one)
        return task.result()

    async def _sweep(self) -> bool:
        """As a worker does every second. Whether it found anything."""
        store = self.backend.store_for(self._reader(), self.auditor)
        to_wake = await self._read(store.to_wake())
        stored = self.auditor.stored
        lost = stored.resting and stored.messages > stored.decided
        self.auditor.check(4, bool(to_wake) == lost, f"{to_wake} to wake, messages {stored.decided}..{stored.messages}")
        found = [self.supervisor.wake(number) for _, number in to_wake]
        live = {process: driver for process, driver in self.drivers.items() if driver and process.is_live}
        for driver in live.values():
            if await self._read(store.unread({RUN: driver.known})):
                driver.ring()
                found.append(True)
        return any(found)

    def _kill(self) -> None:
        live = [process for process in [*self.drivers, *(self.speakers if self.drops else ())] if process.is_live]
        if live:
            self.choices.pick(*live).kill()

    def _pass_time(self) -> None:
        self._set_time(self.scheduler.now + self.choices.pick(0.1, 1.0, 5.0, 70.0))

    def _set_time(self, to: float) -> None:
        self.scheduler.advance(to)
        self.supervisor.check_time()


class Supervisor:
    """Places drivers as `SupervisorWorkflow` does, and outlives everything."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._placed = 0
        self._posted = 0
        self._current: Process | None = None
        self._left: Rested | None = None
        self.over = False
        self.errors: list[Exception] = []

    @property
    def wake_at(self) -> float | None:
        return self._left.wake_at if self._left else None

    def place(self) -> None:
        """For the first time, or after a rest."""
        self._posted = 0
        self._again()

    def _again(self) -> None:
        self._left = None
        self._placed += 1
        self._current = self._fleet.start_driver(self._placed)

    def has_to_place(self) -> bool:
        """Whether the driver was lost."""
        return not self.over and self._left is None and not (self._current and self._current.is_live)

    def alarm(self) -> None:
        """No heartbeat arrives, be it that the driver is lost or not: another one is placed."""
        if not self.over and self._left is None:
            self._again()

    def failed(self, process: Process, error: Exception) -> None:
        self.errors.append(error)
        if process is self._current:
            self._current = None

    def left(self, process: Process, rested: Rested) -> None:
        if process is not self._current:
            return
        if rested.why == "ended":
            self.over = True
        elif rested.why == "slice" or self._posted > rested.messages:
            self.place()
        else:
            self._left = rested
            self.check_time()

    def wake(self, number: int) -> bool:
        """Whether that changes anything."""
        news = number > self._posted
        self._posted = max(self._posted, number)
        if self._left and self._posted > self._left.messages:
            self.place()
            return True
        return news

    def check_time(self) -> None:
        if self._left and self._left.wake_at is not None and self._left.wake_at <= self._fleet.scheduler.now:
            self.place()
