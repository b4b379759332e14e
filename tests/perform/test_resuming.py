"""The local runtime resumes a run whose process died, command by command."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain import commands
from midcourse.domain.commands import Act, AskPerson, Command, Finish, MakePlan, Observe, OpenWorld
from midcourse.domain.events import Acted, Event
from midcourse.domain.outcome import Outcome
from midcourse.domain.phases import Ended
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.result import Result
from midcourse.drive import Progress
from midcourse.errors import RunEnded
from midcourse.runtimes.driver import Driver
from midcourse.testing import Approves, Scripted
from tests.harness import ORDER_PENS, Bench, Shop, draft, steps


class Killed(BaseException):
    """The process is gone: nothing that follows is done."""


async def dies_before(bench: Bench, kind: type[Command]) -> None:
    """Run until a command of this kind is written down, and die before it is started."""

    def listen(progress: Progress) -> None:
        bench.history.append(progress)
        if any(isinstance(command, kind) for command in progress.commands):
            raise Killed

    with pytest.raises(Killed):
        await Driver(bench.ports, listen).begin(bench.first())


async def resumed(bench: Bench) -> Result:
    await bench.driver().resume()
    return await bench.result()


def shop(bench: Bench) -> Shop:
    assert isinstance(bench.world, Shop)
    return bench.world


def answers(bench: Bench, kind: type[Event]) -> list[Any]:
    return [progress.event for progress in bench.history if isinstance(progress.event, kind)]


async def killed_at_act(**ledger: Any) -> Bench:
    """Killed with an order under way; `ledger` is what it had written down by then."""
    bench = Bench().with_limits(approvals="never")
    await dies_before(bench, Act)
    (act,) = bench.commands(Act)
    if ledger:
        plan = await bench.store.plan("run", 1)
        assert plan is not None
        entry = LedgerEntry(
            command=act.id, version=1, index=0, call=plan.steps[0].call, identity="known", seen=act.seen
        )
        await bench.store.write_ledger("run", replace(entry, **ledger))
    return bench


async def test_an_act_killed_before_it_was_sent_is_sent_on_resume() -> None:
    bench = await killed_at_act()
    assert (await resumed(bench)).final_reason == "plan_complete"
    assert shop(bench).orders == ["pens"]


async def test_an_act_killed_after_it_was_sent_is_verified() -> None:
    bench = await killed_at_act(dispatched_at=1.0)
    shop(bench).orders.append("pens")
    result = await resumed(bench)
    assert result.final_reason == "plan_complete"
    assert shop(bench).orders == ["pens"]


async def test_an_act_killed_after_it_was_sent_and_verified_as_absent_is_sent_again() -> None:
    bench = await killed_at_act(dispatched_at=1.0)
    result = await resumed(bench)
    assert result.final_reason == "plan_complete"
    assert shop(bench).orders == ["pens"]
    assert result.executions == 2


async def test_a_recorded_outcome_is_used() -> None:
    bench = await killed_at_act(dispatched_at=1.0, outcome=Outcome(status="ok", evidence="expectation"))
    result = await resumed(bench)
    assert result.final_reason == "plan_complete"
    assert shop(bench).orders == []


async def test_a_rejected_step_counts_as_not_sent() -> None:
    bench = await killed_at_act(outcome=Outcome(status="failed", reason="bad_arguments", detail="no"))
    await resumed(bench)
    first = answers(bench, Acted)[0]
    assert (first.status, first.reason, first.dispatched) == ("failed", "bad_arguments", False)


async def test_after_a_restart_the_world_is_looked_at_before_it_is_touched() -> None:
    bench = await killed_at_act()
    calls: list[int] = []
    shop(bench).on_call = lambda name: calls.append(shop(bench).looks)
    looks = shop(bench).looks
    await resumed(bench)
    assert calls[0] > looks


async def test_a_planner_that_may_have_been_paid_is_paid_for_and_asked_again() -> None:
    bench = Bench()
    await dies_before(bench, MakePlan)
    result = await resumed(bench)
    assert result.final_reason == "plan_complete"
    assert result.budget.calls == 2


async def test_a_free_look_is_simply_taken_again() -> None:
    bench = Bench()
    await dies_before(bench, Observe)
    assert (await resumed(bench)).final_reason == "plan_complete"
    assert answers(bench, Acted)[0].status == "ok"


async def test_a_question_is_put_again() -> None:
    approver = Approves()
    bench = Bench(approver=approver)
    await dies_before(bench, AskPerson)
    assert approver.questions == []
    assert (await resumed(bench)).final_reason == "plan_complete"
    assert len(approver.questions) == 1


@pytest.mark.parametrize("kind", ["OpenWorld", "Observe", "MakePlan", "AskPerson", "Act"])
async def test_the_time_without_a_process_counts_against_no_ceiling(kind: str) -> None:
    bench = Bench().with_limits(max_wall_seconds=60.0, approval_seconds=1e6)
    await dies_before(bench, getattr(commands, kind))
    bench.clock.advance(5000.0)
    result = await resumed(bench)
    assert result.final_reason == "plan_complete"
    assert result.budget.wall_seconds < 60.0


async def test_a_finish_that_was_lost_is_done_again() -> None:
    bench = Bench()
    await dies_before(bench, Finish)
    assert (await resumed(bench)).final_reason == "plan_complete"
    run, _ = await bench.store.load("run")
    assert isinstance(run.phase, Ended)
    assert run.pending == ()
    with pytest.raises(RunEnded):
        await bench.driver().resume()


async def test_a_run_that_never_began_begins() -> None:
    bench = Bench()
    await bench.store.begin(bench.first(), bench.task)
    assert (await resumed(bench)).final_reason == "plan_complete"


async def test_a_session_that_is_gone_makes_a_new_plan() -> None:
    class Forgetful(Shop):
        async def attach(self, handle: str) -> bool:
            return False

    bench = Bench(
        world=Forgetful(), planner=Scripted(steps(draft("name", "fill", text="Ada"), ORDER_PENS), steps(ORDER_PENS))
    )
    await dies_before(bench, Act)
    result = await resumed(bench)
    assert result.final_reason == "plan_complete"
    plans = await bench.store.plans("run")
    assert [plan.cause for plan in plans] == ["initial", "reopened"]
    assert shop(bench).orders == ["pens"]


async def test_opening_the_world_is_resumed() -> None:
    bench = Bench()
    await dies_before(bench, OpenWorld)
    assert (await resumed(bench)).final_reason == "plan_complete"
