"""The page shows that it happened only after a person was asked: the question is withdrawn, and nothing is sent twice.

Orders are counted by the shop, never by the run.
"""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from midcourse import Agent, Settings, Task
from midcourse.domain.approval import Decision, Question
from midcourse.domain.commands import AskPerson, OpenWorld, Verify
from midcourse.domain.events import ApprovalDecided, CancelAsked
from midcourse.domain.expectation import Expectation, Probe, TextContains, ZoneGone
from midcourse.domain.phases import Asking
from midcourse.errors import Pending
from midcourse.ports.planner import PlanDraft
from midcourse.runtimes.driver import Driver
from midcourse.testing import FakeClock, Posts, Scripted, Silent
from midcourse.worlds.base import Scene, Unseen, Zone, probe
from tests.harness import ORDERED, Bench, Shop, draft, steps

DENIAL, CONFIRMATION, STOP = (Decision(verdict=verdict, by="ada") for verdict in ("did_not_happen", "happened", "stop"))


class SlowShop(Shop):
    """A shop that accepts an order and shows the confirmation `delay` seconds later, as a page that asks its server does."""

    def __init__(self, clock: FakeClock, delay: float = 3.0, *, loses_after: float = 1e9) -> None:
        super().__init__()
        self.clock, self.delay, self.loses_after = clock, delay, loses_after
        self.ordered_at: float | None = None
        self.on_order = self.accept

    def accept(self, item: str) -> None:
        self.ordered_at = self.clock.now()

    @property
    def waited(self) -> float:
        """Seconds since the order."""
        return -1.0 if self.ordered_at is None else self.clock.now() - self.ordered_at

    async def open(self) -> str:
        self.loses_after = 1e9 if self.orders else self.loses_after
        return await super().open()

    async def attach(self, handle: str) -> bool:
        return self.waited <= self.loses_after

    def look(self) -> Scene | Unseen:
        if self.waited > self.loses_after:
            return Unseen(reason="world_lost", detail="the tab is gone")
        self.title = "Thank you" if self.waited >= self.delay else "Shop"
        note = "Still being sent" if self.waited > 5.0 else "One moment: your order is being sent"
        self.zones = [Zone(id="note", role="text", label=note)] if self.orders else []
        return super().look()

    @probe
    def ordered(self) -> bool | None:
        return True if self.waited >= self.delay else None


class Sped:
    """A clock on which time passes so many times as fast."""

    def __init__(self, times: float) -> None:
        self.times = times

    def now(self) -> float:
        return time.time() * self.times

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self.times)


class Slow:
    """An approver that needs some seconds for each answer, and approves everything that is not a doubt."""

    def __init__(self, clock: FakeClock, *answers: tuple[float, Decision]) -> None:
        self.clock, self.answers = clock, list(answers)
        self.doubts: list[Question] = []

    async def ask(self, question: Question) -> Decision | None:
        if question.about != "happened":
            return Decision(verdict="approved", by="ada")
        self.doubts.append(question)
        seconds, decision = self.answers.pop(0)
        await self.clock.sleep(seconds)
        return decision


def bench_of(
    approver: Any, plan: PlanDraft | None = None, *, delay: float = 3.0, **world: Any
) -> tuple[Bench, SlowShop]:
    clock = FakeClock()
    shop = SlowShop(clock, delay, **world)
    planner = Scripted(plan or steps(draft("order", "order", item="pens", expect=ORDERED)), PlanDraft(verdict="done"))
    bench = Bench(world=shop, planner=planner, approver=approver(clock), clock=clock)
    return bench.with_limits(approvals="never"), shop


def moments(bench: Bench) -> list[tuple[str, str]]:
    return [(p.event.kind, p.run.phase.kind) for p in bench.history]


async def test_evidence_that_appears_later_withdraws_the_question() -> None:
    bench, shop = bench_of(lambda clock: Silent())
    result = await bench.run()
    assert shop.orders == ["pens"]
    assert (result.success, result.final_reason) == (True, "plan_complete")
    assert ("verified", "looking") in moments(bench), "at the second look, six seconds after the question"
    assert [command.free for command in bench.commands(Verify)] == [False, True, True]
    assert bench.clock.now() - (shop.ordered_at or 0.0) == 6.0
    assert result.budget.wall_seconds < 1.0, "a person was asked all the time"


async def test_a_probe_that_can_tell_later_withdraws_the_question() -> None:
    order = draft("order", "order", item="pens", probe=Probe(name="ordered"))
    bench, shop = bench_of(lambda clock: Posts(), steps(order))
    result = await bench.run()
    assert (shop.orders, result.final_reason) == (["pens"], "plan_complete")
    assert len(bench.commands(AskPerson)) == 1


async def test_evidence_that_never_comes_leaves_the_question_to_the_person() -> None:
    bench, shop = bench_of(lambda clock: Posts(), delay=1e9)
    result = await bench.run()
    assert (shop.orders, result.final_reason) == (["pens"], "needs_human")
    assert len(bench.commands(Verify)) < 22
    assert len(bench.history) < 60


async def test_the_question_shows_what_the_page_says_and_why_that_does_not_decide_it() -> None:
    expect = Expectation(checks=(TextContains(text="Order"), ZoneGone(role="dialog"), TextContains(text="Thank you")))
    order = draft("order", "order", item="pens", expect=expect)
    bench, _ = bench_of(lambda clock: Slow(clock, (1.0, STOP)), steps(order))
    await bench.run()
    approver = bench.approver
    assert isinstance(approver, Slow)
    (question,) = approver.doubts
    assert question.page == "Shop"
    assert question.appeared == ("One moment: your order is being sent",)
    assert question.unmet == (
        "expected the text 'Order': that was there before already, so it proves nothing",
        "expected dialog to be gone: it is, which alone proves nothing, since an error page does that too",
        "expected the text 'Thank you': that is not to be seen",
    )
    assert question.detail == "the probe 'ordered' cannot tell"


async def test_other_processes_read_in_the_question_what_the_page_says_now() -> None:
    bench, _ = bench_of(lambda clock: Posts(), delay=1e9)
    driver = bench.driver()
    running = asyncio.create_task(driver.begin(bench.first()))
    shown: list[tuple[str, ...]] = []
    await asyncio.sleep(0)
    while len(bench.commands(Verify)) < 5:
        asked = await bench.store.open_question(bench.run_id)
        shown += (asked.appeared,) if asked and asked.appeared not in shown else ()
        await asyncio.sleep(0)
    assert shown == [("One moment: your order is being sent",), ("Still being sent",)]
    driver.tell(CancelAsked())
    await running


# --- answers and evidence


async def test_an_answer_after_the_withdrawal_is_refused_with_the_reason() -> None:
    bench, shop = bench_of(lambda clock: Posts())
    await bench.run()
    (asked,) = bench.commands(AskPerson)
    late = ApprovalDecided(question=asked.id, verdict="did_not_happen", by="ada")
    refused = (await bench.store.post(bench.run_id, late)).refused
    assert refused == f"question {asked.id} was withdrawn: the expectation says that it happened"
    assert shop.orders == ["pens"]


async def test_a_denial_is_not_believed_against_what_the_page_shows_by_then() -> None:
    bench, shop = bench_of(lambda clock: Slow(clock, (3.5, DENIAL), (5.0, CONFIRMATION)))
    result = await bench.run()
    approver = bench.approver
    assert isinstance(approver, Slow)
    first, second = approver.doubts
    assert (first.page, second.page) == ("Shop", "Thank you")
    assert second.detail == "ada said that it did not happen, but the expectation says that it happened"
    assert second.unmet == ("expected the order is confirmed: that is there now, and was not before",)
    assert (shop.orders, result.final_reason) == (["pens"], "plan_complete")


async def test_a_second_denial_is_believed_although_the_ledger_says_otherwise() -> None:
    """A person who has seen the evidence decides; the result counts the try as failed, as it does without evidence."""
    answers = ((3.5, DENIAL), (5.0, DENIAL), (1.0, STOP))
    bench, shop = bench_of(lambda clock: Slow(clock, *answers))
    result = await bench.run()
    (told,) = bench.history[-1].run.outcome_answers
    assert (told.happened, told.against) == (False, "expectation")
    assert [step.reason for step in result.attempts][:1] == ["no_effect"]
    assert [step.doubtful for step in result.completed] == [True], "the second order, which was asked about again"
    assert len(shop.orders) == 2


async def test_a_denial_that_nothing_contradicts_is_believed_without_another_question() -> None:
    bench, shop = bench_of(lambda clock: Slow(clock, (1.0, DENIAL), (1.0, STOP)), delay=1e9)
    await bench.run()
    assert len(shop.orders) == 2


# --- a world that is lost, and a process that dies


async def test_a_lost_world_leaves_the_question_open_and_is_not_opened_for_another_look() -> None:
    bench, shop = bench_of(lambda clock: Slow(clock, (100.0, STOP)), delay=1e9, loses_after=1.0)
    result = await bench.run()
    assert (shop.orders, result.final_reason) == (["pens"], "needs_human")
    assert len(bench.commands(OpenWorld)) == 1
    assert len(bench.commands(Verify)) == 2


async def test_a_denial_in_a_lost_world_is_checked_in_the_next_session() -> None:
    """The world is opened for what follows anyway, and its probe knows of the order."""
    answers = ((100.0, DENIAL), (1.0, CONFIRMATION))
    bench, shop = bench_of(lambda clock: Slow(clock, *answers), delay=50.0, loses_after=1.0)
    result = await bench.run()
    assert (shop.orders, result.final_reason) == (["pens"], "plan_complete")
    assert [p.event.kind for p in bench.history].count("world_opened") == 2


async def test_a_process_that_dies_between_two_looks_continues_them() -> None:
    bench, shop = bench_of(lambda clock: Posts(), delay=20.0)
    running = asyncio.create_task(bench.driver().begin(bench.first()))
    while len(bench.commands(Verify)) < 3:
        await asyncio.sleep(0)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    looks = len(bench.commands(Verify))
    await Driver(bench.ports, bench.history.append).resume()
    result = await bench.result()
    assert (shop.orders, result.final_reason) == (["pens"], "plan_complete")
    assert len(bench.commands(Verify)) in (looks + 1, looks + 2, looks + 3)


async def test_a_call_that_waits_for_a_decision_is_not_kept_waiting_by_looks(tmp_path: Path) -> None:
    """Each look is a turn of the run; the wait counts from the question."""
    clock = Sped(400.0)  # the longest time between two looks is 0.75 s
    shop = SlowShop(clock, 1e9)  # pyrefly: ignore[bad-argument-type]
    planner = Scripted(steps(draft("order", "order", item="pens", expect=ORDERED)))
    settings = Settings(home=tmp_path, approvals="never")
    agent = Agent(shop, planner, approver=Posts(), settings=settings, clock=clock)
    live = agent.start(Task(goal="order pens", limits=settings.limits()))
    began = asyncio.get_running_loop().time()
    with pytest.raises(Pending):
        await live.result_unless_asked(1.0)
    assert asyncio.get_running_loop().time() - began < 6.0
    assert shop.orders == ["pens"]


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "closed"])
async def test_a_driver_that_rests_at_its_question_wakes_for_each_look(kept: bool) -> None:
    """As in a fleet. A session that was closed while the run rested is not opened again for another look."""
    bench, shop = bench_of(lambda clock: Posts(), delay=10.0)
    await bench.store.begin(bench.first(), bench.task)
    wakes: list[float] = []
    for placed in range(1, 30):
        rested = await Driver(bench.ports, bench.history.append, must_stop=lambda: False).drive(placed=placed)
        if rested.why == "ended":
            break
        assert (rested.why, isinstance(rested.run.phase, Asking)) == ("waits", True)
        assert rested.wake_at is not None
        wakes.append(round(rested.wake_at - bench.clock.now(), 1))
        await bench.clock.sleep(rested.wake_at - bench.clock.now())
        shop.loses_after = 1e9 if kept else 0.0
    result = await bench.result()
    assert shop.orders == ["pens"]
    assert len(bench.commands(OpenWorld)) == 1
    assert (result.final_reason, len(wakes)) == (("plan_complete", 2) if kept else ("needs_human", 2))
    assert [p.event.kind for p in bench.history].count("resumed") == (0 if kept else 1)
