"""A fork: the world is brought to a recorded point, and the run goes on from there."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest

from midcourse.agent.fork import Forked, find_quiet_point, fork
from midcourse.domain.approval import Decision
from midcourse.domain.budget import Limits
from midcourse.domain.commands import Act, AskPerson
from midcourse.domain.events import Resumed
from midcourse.domain.expectation import Expectation, TextContains
from midcourse.domain.plan import Draft
from midcourse.domain.result import Result
from midcourse.domain.run import Origin
from midcourse.errors import NotForkable
from midcourse.history.journal import Journal, journal_of
from midcourse.replay import list_states, replay
from midcourse.testing import Answers, Approves, MemoryStore, Scripted
from midcourse.worlds.simulated import Fault, Shop
from tests.replay.recording import Recording
from tests.scenarios.stage import RUN, Post, Stage, crash, example, keep_session, letter, plan

FAULTS = ("popup", "slow_load", "done_but_timeout", "stored_but_error", "stored_late")
MakeStage = Callable[[], Stage]


def make_shop(*faults: Any, **settings: Any) -> MakeStage:
    return lambda: example("order", faults=[Fault(kind=kind, seconds=0.8) for kind in faults], **settings)


async def record_journal(make: MakeStage) -> Journal:
    stage = make()
    await stage.play()
    return await journal_of(stage.store, RUN)


@dataclass(kw_only=True)
class Branch:
    """A fork and the stage it is played on."""

    stage: Stage
    forked: Forked

    async def result(self) -> Result:
        return await self.stage.agent.pick_up(self.forked.run_id, world_is_open=True).result()

    async def journal(self) -> Journal:
        return await journal_of(self.stage.store, self.forked.run_id)


async def make_branch(journal: Journal, at: int, make: MakeStage, limits: Limits | None = None) -> Branch:
    stage = make()
    forked = await fork(journal, at, agent=stage.agent, store=stage.store, run_id="branch", limits=limits)
    return Branch(stage=stage, forked=forked)


def list_quiet_points(journal: Journal) -> list[int]:
    return sorted({find_quiet_point(journal, row.seq) for row in journal.rows})


@pytest.mark.slow
@pytest.mark.parametrize("kind", [(), *((kind,) for kind in FAULTS)], ids=str)
async def test_from_every_point_it_ends_as_the_recorded_run_did(kind: tuple[str, ...]) -> None:
    """And its shop has one order: the recorded one was placed in another world."""
    make = make_shop(*kind)
    journal = await record_journal(make)
    points = list_quiet_points(journal)
    assert len(points) > 3
    for at in points:
        fork_ = await make_branch(journal, at, make)
        result = await fork_.result()
        assert (result.success, result.verified) == (True, True)
        assert len(fork_.stage.effects) == 1
        assert len(result.completed) >= len(list_states(journal.opening, journal.rows)[at].finished_irreversible)


async def test_a_fork_begins_in_the_recorded_state() -> None:
    journal = await record_journal(make_shop("transient", "popup"))
    at = list_quiet_points(journal)[-2]
    before = list_states(journal.opening, journal.rows)[at]
    run = (await (await make_branch(journal, at, make_shop("transient", "popup"))).journal()).opening
    assert (run.id, run.forked_from) == ("branch", Origin(run=RUN, event=at))
    assert (run.seq, run.counts, run.budget.spent) == (before.seq, before.counts, before.budget.spent)
    assert run.seen == before.seen
    assert run.finished_irreversible == before.finished_irreversible
    assert run.now - run.started_at == pytest.approx(before.now - before.started_at)


async def test_a_fork_is_a_run_like_any_other() -> None:
    journal = await record_journal(make_shop("popup"))
    fork_ = await make_branch(journal, 12, make_shop("popup"))
    result = await fork_.result()
    again = await fork_.journal()
    assert again.rows[0].seq == again.opening.seq + 1
    assert isinstance(again.rows[0].event, Resumed)
    assert [plan.version for plan in again.plans] == list(range(1, result.budget.segments + 1))
    assert Recording(opening=again.opening, rows=again.rows, state=again.state).is_identical()


@pytest.mark.parametrize("session", [Shop, partial(keep_session, Shop)], ids=["lost", "kept"])
async def test_a_fork_can_be_resumed(session: Callable[..., Any]) -> None:
    """Also in the session that was brought there, if that outlives the process."""
    make = make_shop(world=session)
    journal = await record_journal(make)
    fork_ = await make_branch(journal, 7, make)
    agent = fork_.stage.agent
    live = agent.pick_up("branch", world_is_open=True)
    await fork_.stage.reach(live, "planning")
    await crash(live)
    assert (await agent.resume("branch")).success
    assert len(fork_.stage.effects) == 1
    resumed = [row.event.world for row in (await fork_.journal()).rows if isinstance(row.event, Resumed)]
    assert resumed == ["kept", "reopened" if session is Shop else "kept"]


async def test_other_limits_hold_from_there_on() -> None:
    journal = await record_journal(make_shop())
    fork_ = await make_branch(journal, 7, make_shop(), replace(journal.opening.limits, max_segments=2))
    result = await fork_.result()
    assert (result.final_reason, result.budget.max_segments) == ("budget_exhausted", 2)


async def test_an_act_under_way_is_no_point_to_fork_at() -> None:
    journal = await record_journal(make_shop())
    run = list_states(journal.opening, journal.rows)
    acting = next(one.seq for one in run if any(isinstance(issued.command, Act) for issued in one.pending))
    assert find_quiet_point(journal, acting) == acting - 1
    over = find_quiet_point(journal, journal.state.seq)
    assert not any(isinstance(issued.command, Act) for issued in run[over].pending)
    assert run[over].phase.kind != "ended"


async def test_an_approval_of_the_recorded_run_does_not_count_in_the_fork() -> None:
    """The recorded person agreed for the whole run; the person who watches the fork is asked all the same."""
    agreed = make_shop(approvals="always", approver=Answers(Decision(verdict="approved", once=False)))
    journal = await record_journal(agreed)
    at = next(row.seq for row in journal.rows if row.event.kind == "approval_decided")
    assert list_states(journal.opening, journal.rows)[at].grants
    fork_ = await make_branch(
        journal, at, make_shop(approvals="always", approver=Answers(Decision(verdict="rejected")))
    )
    assert fork_.forked.at == at
    result = await fork_.result()
    assert (result.final_reason, len(fork_.stage.effects)) == ("rejected", 0)


async def test_what_a_person_granted_to_the_recorded_run_is_not_granted_to_the_fork() -> None:
    costly: dict[str, Any] = {"max_cost_usd": 0.1, "plan_cost_usd": 0.2, "approvals": "always"}
    journal = await record_journal(make_shop(**costly, approver=Approves(more=True)))
    states = list_states(journal.opening, journal.rows)
    at = next(run.seq for run in states if run.raises)
    result = await (await make_branch(journal, at, make_shop(**costly, approver=Approves()))).result()
    assert result.final_reason == "budget_exhausted"


async def test_a_question_that_is_open_is_put_again() -> None:
    asking = make_shop(approvals="always", approver=Approves())
    journal = await record_journal(asking)
    asked_at = next(row.seq for row in journal.rows if any(isinstance(c, AskPerson) for c in row.commands))
    fork_ = await make_branch(journal, asked_at, asking)
    assert (await fork_.result()).success
    assert len(fork_.stage.effects) == 1


class Postbox(Post):
    name = "post"
    rebuilds = True


def make_letters() -> Stage:
    """What they would send is known before the first of them, so one question is about both."""
    planner = Scripted(plan(expect_text(letter("Ann"), "1 letters sent"), expect_text(letter("Bob"), "2 letters sent")))
    return Stage(world=Postbox(), planner=planner, approver=Approves())


def expect_text(step: Draft, text: str) -> Draft:
    return replace(step, expect=Expectation(checks=(TextContains(text=text),)))


async def test_what_a_plan_would_send_is_bound_to_the_fork() -> None:
    journal = await record_journal(make_letters)
    asked_at = next(row.seq for row in journal.rows if any(isinstance(c, AskPerson) for c in row.commands))
    for at in (asked_at, asked_at + 1):
        fork_ = await make_branch(journal, at, make_letters)
        assert (await fork_.result()).success
        asked = [c for row in (await fork_.journal()).rows for c in row.commands if isinstance(c, AskPerson)]
        assert not any(question.changed_from for question in asked)
        assert isinstance(fork_.stage.world, Postbox)
        assert fork_.stage.world.letters == ["Ann", "Bob"]


# --- refusals


async def test_a_world_that_goes_another_way_is_refused() -> None:
    journal = await record_journal(make_shop())
    stage = make_shop("popup")()
    with pytest.raises(NotForkable, match=r"the world went another way at event \d+: recorded was"):
        await fork(journal, 12, agent=stage.agent, store=stage.store)
    assert await stage.store.runs() == ()


async def test_a_world_that_does_not_rebuild_is_refused() -> None:
    class Real(Shop):
        name = "shop"
        rebuilds = False

    journal = await record_journal(make_shop())
    stage = example("order", world=Real)
    with pytest.raises(NotForkable, match="cannot be brought to a recorded state again"):
        await fork(journal, 7, agent=stage.agent, store=stage.store)


@pytest.mark.parametrize("at", [0, -1, 1000])
async def test_an_event_that_is_not_there_is_refused(at: int) -> None:
    with pytest.raises(NotForkable, match="has events 1 to"):
        find_quiet_point(await record_journal(make_shop()), at)


async def test_a_fork_of_a_fork_is_refused() -> None:
    journal = await record_journal(make_shop())
    fork_ = await make_branch(journal, 7, make_shop())
    await fork_.result()
    with pytest.raises(NotForkable, match=f"fork run {RUN}, which it came from at event 7"):
        find_quiet_point(await fork_.journal(), 12)


async def test_a_journal_that_does_not_replay_is_refused() -> None:
    journal = await record_journal(make_shop())
    rows = (*journal.rows[:5], replace(journal.rows[5], commands=()), *journal.rows[6:])
    with pytest.raises(NotForkable, match="nondeterminism at event 6"):
        find_quiet_point(replace(journal, rows=rows), 9)


async def record_death_while(phase: str) -> Journal:
    """The process died at the second such moment, and the shop's session with it; another one ended the task."""
    stage = make_shop()()
    live = stage.start()
    await stage.reach(live, phase)
    await stage.reach(live, phase)
    await crash(live)
    await stage.resume()
    return await journal_of(stage.store, RUN)


async def test_a_process_that_died_during_an_act_is_refused() -> None:
    journal = await record_death_while("acting")
    with pytest.raises(NotForkable, match=r"died before event \d+, during an act"):
        await fork(journal, journal.state.seq, agent=make_shop()().agent, store=MemoryStore())


async def test_a_process_that_died_while_planning_can_be_forked_from() -> None:
    journal = await record_death_while("planning")
    fork_ = await make_branch(journal, journal.state.seq, make_shop())
    assert (await fork_.result()).success
    assert len(fork_.stage.effects) == 1


async def test_a_task_with_a_key_leaves_it_to_the_recorded_run() -> None:
    stage = make_shop()()
    stage.task = replace(stage.task, key="PO-1001")
    await stage.play()
    journal = await journal_of(stage.store, RUN)
    agent = make_shop()().agent
    forked = await fork(journal, 7, agent=agent, store=stage.store, run_id="branch")
    assert forked.at == 7
    assert (await journal_of(stage.store, "branch")).task.key == ""
    assert replay(journal.opening, journal.rows).verdict == "identical"
