"""One rule for decisions: each edge refuses what the rule refuses, and the run still asks afterwards."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from midcourse import Agent, Task
from midcourse.agent.control import LocalControl
from midcourse.agent.live_run import LiveRun
from midcourse.cli.session import deciding
from midcourse.config.defaults import user, user_id
from midcourse.director.decide import decide, why_no_effect
from midcourse.domain.agreement import Agreement
from midcourse.domain.approval import Change, CommitSet, Decision, Question
from midcourse.domain.events import ApprovalDecided, PersonAsked
from midcourse.domain.phases import Asking
from midcourse.drive import Progress
from midcourse.errors import TaskInvalid
from midcourse.policy.approval.objection import DENIALS, ObjectionCode, Reading, find_objection
from midcourse.policy.approval.question import bind_decision
from midcourse.server.access.identity import Caller
from midcourse.server.models.questions import ChangeBody, DecisionBody
from midcourse.server.problems import Refusal
from midcourse.server.routes import questions
from midcourse.settings import Settings
from midcourse.store.sqlite import SqliteStore
from midcourse.testing import Answers, Posts, Scripted
from midcourse.worlds.base import skill
from tests.harness import Shop, draft, steps

YES = Decision(verdict="approved", by="grace", by_id="key:grace")
CHANGED = replace(YES, verdict="changed", changes=(Change(arguments={"item": "ink"}),))


class Letters(Shop):
    """A shop in which the value of a request may be too large to be written out."""

    abridged = False

    @skill(effect="irreversible", commit_set="content")
    def post(self, item: str) -> None:
        self.orders.append(item)

    def content(self, item: str) -> CommitSet:
        return CommitSet(values=(("item", item),), abridged=self.abridged)


@dataclass(frozen=True)
class Case:
    """A decision, and why it is refused by one who has not read to the end (`glance`), and by one who has."""

    decision: Decision
    glance: ObjectionCode | None
    through: ObjectionCode | None
    item: str = "pens"
    abridged: bool = False
    shown: tuple[str, ...] | None = None
    """None: what the question shows."""


def refused(decision: Decision, code: ObjectionCode, **more: Any) -> Case:
    return Case(decision, code, code, **more)


CASES = {
    "a plain yes": Case(YES, None, None),
    "a change": Case(CHANGED, None, None),
    "a no": Case(replace(YES, verdict="rejected"), None, None),
    "the verdict of another question": refused(replace(YES, verdict="happened"), "wrong_verdict"),
    "a yes to something else": refused(YES, "other_content", shown=("0" * 32,)),
    "a yes to nothing": refused(YES, "other_content", shown=()),
    "a no to something else": refused(replace(YES, verdict="rejected"), "other_content", shown=("0" * 32,)),
    "changes with a yes": refused(replace(CHANGED, verdict="approved"), "invalid_changes"),
    "a change of nothing": refused(replace(CHANGED, changes=()), "invalid_changes"),
    "a change of no step": refused(replace(CHANGED, changes=(Change(step=1, arguments={"x": 1}),)), "invalid_changes"),
    "a yes of the starter": refused(replace(YES, by=user(), by_id=user_id()), "wrong_author"),
    "a no of the starter": Case(replace(YES, verdict="rejected", by=user(), by_id=user_id()), None, None),
    "a yes of nobody": refused(replace(YES, by="", by_id=""), "wrong_author"),
    "a yes to a long value": Case(YES, "unread", None, item="x" * 1001),
    "a change of a long value": Case(CHANGED, "unread", None, item="x" * 1001),
    "a no to a long value": Case(replace(YES, verdict="rejected"), None, None, item="x" * 1001),
    "a yes to all of a long value": Case(replace(YES, all_values=True), None, None, item="x" * 1001),
    "a yes to a digest": refused(YES, "unread", abridged=True),
    "a yes to a digest and all values": Case(replace(YES, all_values=True), None, None, abridged=True),
}


@dataclass(frozen=True)
class Asked:
    """A run that waits for a decision."""

    live: LiveRun
    question: Question
    agent: Agent
    store: SqliteStore
    home: Path

    @property
    def control(self) -> LocalControl:
        return LocalControl(self.store, self.live.run_id)


TASK = Task(goal="Order pens", by=user(), by_id=user_id(), agreement=Agreement(four_eyes=True))


@asynccontextmanager
async def ask(case: Case, home: Path) -> AsyncGenerator[Asked]:
    world, person = Letters(), Posts()
    world.abridged = case.abridged
    plan = Scripted(steps(draft("__global__", "post", item=case.item)))
    agent = Agent(world, plan, approver=person, settings=Settings(home=home))
    live = agent.start(TASK, run_id="r")
    async for progress in live:
        if isinstance(progress.run.phase, Asking):
            break
    while not person.questions:
        await asyncio.sleep(0)
    with SqliteStore(home / "midcourse.db") as store:
        yield Asked(live, person.questions[0], agent, store, home)
    await live.stop()


async def answer_live(asked: Asked, case: Case) -> str:
    return asked.live.answer(asked.question, case.decision)


async def answer_followed(asked: Asked, case: Case) -> str:
    async with asked.agent.follow("r") as followed:
        await followed.question()  # reads the journal
        return followed.answer(asked.question, case.decision)


async def answer_posted(asked: Asked, case: Case) -> str:
    return await asked.control.answer(asked.question, case.decision)


async def post_to_inbox(asked: Asked, case: Case) -> str:
    return (await asked.store.post("r", bind(asked, case))).refused


async def decide_over_http(asked: Asked, case: Case) -> str:
    """As the console, and a model over MCP, do it."""
    changes = tuple(ChangeBody(step=change.step, arguments=dict(change.arguments)) for change in case.decision.changes)
    body = DecisionBody(
        verdict=case.decision.verdict,
        shown=bind(asked, case).shown,
        changes=changes,
        all_values=case.decision.all_values,
    )
    desk: Any = SimpleNamespace(store=asked.store, control=lambda _run: asked.control)
    caller = Caller(name=case.decision.by, id=case.decision.by_id, tenant="t", role="approver")
    try:
        await questions.decide("r", asked.question.id, body, desk, caller)
    except Refusal as refusal:
        return refusal.problem.detail
    return ""


async def decide_on_command_line(asked: Asked, case: Case) -> str:
    """As `midcourse approve r --yes --json` does it."""
    changes = [f"{c.step + 1}.{name}={value}" for c in case.decision.changes for name, value in c.arguments]
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out:
        patch.setattr(deciding, "user", lambda: case.decision.by)
        patch.setattr(deciding, "user_id", lambda: case.decision.by_id)
        given = replace(case.decision, changes=(), by="", by_id="")
        home = [f"home={asked.home}"]
        try:
            await deciding.decide("r", home, given, "", sure=True, json=True, changes=changes, shown=case.shown or ())
        except TaskInvalid as error:
            return str(error)
    return json.loads(out.getvalue()).get("error", "")


def bind(asked: Asked, case: Case) -> ApprovalDecided:
    event = bind_decision(asked.question, case.decision)
    return event if case.shown is None else replace(event, shown=case.shown)


@dataclass(frozen=True)
class Edge:
    answer: Callable[[Asked, Case], Awaitable[str]]
    """Give the run a decision. Return why it was refused, or an empty string."""
    read: Reading = "through"
    takes_shown: bool = False
    """Whether a decision says what was shown. Elsewhere it is the question that is passed with it."""


EDGES = {
    "LiveRun.answer": Edge(answer_live),
    "FollowedRun.answer": Edge(answer_followed),
    "RunControl.answer": Edge(answer_posted),
    "HTTP": Edge(decide_over_http, read="glance", takes_shown=True),
    "command line": Edge(decide_on_command_line, read="glance", takes_shown=True),
    "inbox": Edge(post_to_inbox, takes_shown=True),
}


def find_expected(case: Case, name: str) -> ObjectionCode | None:
    """What this edge should object to in this case; `unread` and what a denial was shown are not in a message to the inbox."""
    edge = EDGES[name]
    expected = case.glance if edge.read == "glance" else case.through
    if case.shown is not None and not edge.takes_shown:
        return None
    if name == "inbox" and (expected == "unread" or case.decision.verdict in DENIALS):
        return None
    if name == "command line" and (case.shown == () or (case.decision.changes and case.decision.verdict != "changed")):
        return None  # cannot be said there
    return expected


@pytest.mark.parametrize("name", CASES)
async def test_an_invalid_decision_is_refused_at_every_edge(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    async with ask(case, tmp_path) as asked:
        for read, code in (("glance", case.glance), ("through", case.through)):
            found = find_objection(asked.question, case.decision, shown=case.shown, read=cast(Reading, read))
            assert (found and found.code) == code, read
        before, _ = await asked.store.load("r")
        event = replace(bind(asked, case), at=before.now)
        after, _ = decide(before, event)
        assert isinstance(after.phase, Asking) == bool(why_no_effect(before, event))
        for edge in EDGES:
            if find_expected(case, edge):
                assert await EDGES[edge].answer(asked, case), f"{edge} must refuse it"
        still, _ = await asked.store.load("r")
        assert (still.phase, still.grants) == (before.phase, ())


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("name", ["a plain yes", "a yes to all of a long value", "a yes to a digest and all values"])
async def test_a_valid_decision_is_accepted_at_every_edge(edge: str, name: str, tmp_path: Path) -> None:
    async with ask(CASES[name], tmp_path) as asked:
        assert await EDGES[edge].answer(asked, CASES[name]) == ""


@pytest.mark.parametrize("edge", [name for name, edge in EDGES.items() if edge.read == "through"])
async def test_a_program_that_has_the_whole_question_may_approve_a_long_value(edge: str, tmp_path: Path) -> None:
    async with ask(CASES["a yes to a long value"], tmp_path) as asked:
        assert await EDGES[edge].answer(asked, CASES["a yes to a long value"]) == ""


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.through and case.shown is None])
async def test_an_invalid_decision_of_an_approver_sends_nothing(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    world = Letters()
    world.abridged = case.abridged
    plan = Scripted(steps(draft("__global__", "post", item=case.item)))
    agent = Agent(world, plan, approver=Answers(case.decision), settings=Settings(home=tmp_path))
    live = agent.start(TASK, run_id="r")
    answered = [p async for p in until_answered(live)][-1]
    assert isinstance(answered.run.phase, Asking) == (case.through == "wrong_author"), "another person may still decide"
    await live.stop()
    assert world.orders == []


async def until_answered(live: LiveRun) -> AsyncGenerator[Progress]:
    async for progress in live:
        yield progress
        if isinstance(progress.event, ApprovalDecided | PersonAsked):
            return
