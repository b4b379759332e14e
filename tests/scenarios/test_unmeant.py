"""A step that was not meant to send anything: what scripts of its page would send waits, and nobody is asked until the planner sends it."""

from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.agreement import Agreement, Rule
from midcourse.domain.approval import CommitSet
from midcourse.domain.expectation import Check, Expectation, FingerprintChanged, TextContains
from midcourse.domain.observation import HELD_FOR
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import Draft
from midcourse.domain.task import Task
from midcourse.policy.unsent import list_kinds
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.ports.world import Call
from midcourse.testing import Approves
from midcourse.worlds.base import BaseWorld, Scene, Zone, skill
from tests.scenarios.stage import AGAIN, FunctionPlanner, Played, Stage, plan

LAYOUT, TICKET, SUGGEST = "PUT http://desk/layout", "DELETE http://desk/tickets/17", "POST http://desk/suggest"
REPORTS, DELETE = Draft(zone="reports", skill="click", transition=False), Draft(zone="delete", skill="click")
GONE = Expectation(checks=(TextContains(text="1 ticket left"),))
SEND = Draft(zone="request1", skill="send", says="Delete the ticket", expect=GONE)
DONE = PlanDraft(verdict="done")
TYPE = Draft(zone="to", skill="type", arguments={"text": "ada"})
READ = Draft(zone="text", skill="read")


class Desk(BaseWorld):
    """A page that stores its layout with each click, and deletes a ticket, both by scripts. It holds that as a browser does."""

    def __init__(self, *, waits: bool = True) -> None:
        super().__init__()
        self.clicks: list[str] = []
        self.sent: list[str] = []
        self.waiting = ""
        self._held: tuple[Call, str] | None = None
        self._waits = waits
        """Whether only scripts wait for what is held."""

    def look(self) -> Scene:
        request = Zone(id="request1", role="request", label=self.waiting, state={HELD_FOR: "click"})
        return Scene(
            "Desk",
            Zone(id="reports", role="button", label="Reports"),
            Zone(id="delete", role="button", label="Delete"),
            Zone(id="to", role="textbox", label="To"),
            Zone(id="text", role="text", label=f"{2 - self.sent.count(TICKET)} ticket left, {len(self.clicks)} clicks"),
            *([request] if self.waiting else []),
        )

    @skill(commit_set="read_click")
    def click(self, zone: Zone) -> None: ...

    @skill(commit_set="read_typing")
    def type(self, zone: Zone, text: str) -> None: ...

    @skill(effect="read")
    def read(self, zone: Zone) -> Outcome:
        return Outcome(data=(("text", zone.label),))

    def read_typing(self, zone: Zone, text: str) -> CommitSet:
        return self.read_click(zone)

    def read_click(self, zone: Zone) -> CommitSet:
        return CommitSet(address=self.waiting, values=(("clicks", len(self.clicks)),))

    @skill(effect="irreversible", commit_set="read_click")
    def send(self, zone: Zone) -> Outcome:
        self._release()
        return Outcome(evidence="response")

    async def act(self, call: Call) -> Outcome:
        if call.skill not in ("click", "type"):
            return await super().act(call)
        if call.allowed and self.waiting:
            self._release()
            return Outcome(evidence="response")
        self.clicks.append(call.zone)
        self.waiting = {"delete": TICKET, "to": SUGGEST}.get(call.zone, LAYOUT)
        unsent = list_kinds(CommitSet(address=self.waiting)) if call.unmeant and self._waits else ()
        return Outcome(status="no_effect", reason="would_send", unsent=unsent)

    def _release(self) -> None:
        self.sent.append(self.waiting)
        self.waiting = ""


async def play(desk: Desk, *plans: PlanDraft, task: Task | None = None, **settings: Any) -> tuple[Played, Approves]:
    def think(context: PlanningContext) -> PlanDraft:
        return plans[min(context.version, len(plans)) - 1]

    approver = Approves()
    stage = Stage(world=desk, planner=FunctionPlanner(think), approver=approver, settings=settings)
    return await (replace(stage, task=task) if task else stage).play(), approver


async def test_a_forgotten_says_sends_nothing_asks_nobody_and_is_not_done() -> None:
    desk = Desk()
    played, approver = await play(desk, plan(DELETE, final=True), DONE)
    assert (desk.sent, approver.questions) == ([], [])
    initial, again = played.contexts
    assert (initial.cause, again.cause) == ("initial", "adaptive")
    assert again.why == f"not sent: click 'Delete' would send {TICKET}; it waits as request1"
    assert [(step.target, step.irreversible, step.unsent) for step in again.completed] == [("Delete", False, True)]
    assert (played.result.attempts, played.result.budget.error_replans) == ((), 0)
    assert (played.result.sending, played.result.verified) == ("nothing", False)


async def test_what_the_planner_then_sends_is_asked_about() -> None:
    desk = Desk()
    played, approver = await play(desk, plan(DELETE, final=True), plan(SEND, final=True))
    assert [question.about for question in approver.questions] == ["approve"]
    assert approver.questions[0].consequences[0].commit.address == TICKET
    assert (desk.sent, desk.clicks, played.result.success, played.result.sending) == (
        [TICKET],
        ["delete"],
        True,
        "effects",
    )


async def test_a_task_that_must_send_is_not_done_without_it() -> None:
    played, _ = await play(Desk(), plan(DELETE, final=True), DONE, task=Task(goal="Delete it", sends=True))
    assert (played.result.success, played.result.final_reason) == (False, "contradicted")


async def test_that_nothing_came_of_it_is_no_failure() -> None:
    desk = Desk()
    played, _ = await play(desk, plan(replace(DELETE, expect=GONE), final=True), plan(SEND, final=True))
    assert (played.result.attempts, desk.sent, played.result.success) == ((), [TICKET], True)


async def test_the_planner_is_told_of_each_kind_once() -> None:
    desk = Desk()
    again = plan(REPORTS, REPORTS, replace(REPORTS, zone="reports"), final=True)
    played, approver = await play(desk, plan(REPORTS, final=True), again)
    assert [context.cause for context in played.contexts] == ["initial", "adaptive"]
    assert (desk.sent, approver.questions, played.result.success) == ([], [], True)
    assert len(desk.clicks) >= 2


@pytest.mark.parametrize(
    ("expect", "plans"),
    [(FingerprintChanged(), 2), (TextContains(text="Stored"), 3)],
    ids=["what it expected is there", "it is not"],
)
async def test_the_planner_is_told_again_only_if_what_it_expected_may_wait_for_it(expect: Check, plans: int) -> None:
    expecting = replace(REPORTS, expect=Expectation(checks=(expect,)))
    played, approver = await play(Desk(), plan(REPORTS, final=True), plan(expecting, final=True), DONE)
    assert (len(played.contexts), played.result.attempts, approver.questions) == (plans, (), [])
    assert played.contexts[-1].why.startswith("not sent: ")


async def test_after_it_was_sent_once_steps_that_send_it_ask() -> None:
    desk = Desk()
    sending = Draft(zone="request1", skill="send", says="Store it")
    _, approver = await play(desk, plan(REPORTS, final=True), plan(sending, AGAIN), plan(REPORTS, final=True), DONE)
    assert len(approver.questions) == 2
    assert approver.questions[1].consequences[0].skill == "click"
    assert desk.sent == [LAYOUT, LAYOUT]


async def test_a_plan_goes_on_after_a_step_that_only_fills_in_and_the_next_plan_is_told() -> None:
    desk = Desk()
    played, approver = await play(desk, plan(TYPE, READ, AGAIN), DONE)
    assert (desk.sent, approver.questions, desk.clicks) == ([], [], ["to"])
    assert [(step.skill, step.unsent) for step in played.contexts[1].completed] == [("type", True), ("read", False)]
    assert (len(played.contexts), played.result.success) == (2, True)


async def test_a_plan_goes_on_to_a_step_that_asks_and_is_final_after_it() -> None:
    desk = Desk()
    meant = replace(DELETE, says="Delete it")
    played, approver = await play(desk, plan(TYPE, meant, final=True), DONE)
    assert [question.consequences[0].commit.address for question in approver.questions] == [TICKET]
    assert (desk.sent, len(played.contexts), played.result.success) == ([TICKET], 1, True)


async def test_a_final_plan_that_sends_nothing_tells_at_its_end_what_it_went_on_without() -> None:
    desk = Desk()
    played, _ = await play(desk, plan(TYPE, READ, final=True), DONE)
    assert [context.why for context in played.contexts[1:]] == [
        f"not sent: type 'To' would send {SUGGEST}; it waits as request1"
    ]


async def test_a_click_ends_the_plan_and_the_line_says_what_of_it_is_not_done() -> None:
    desk = Desk()
    played, _ = await play(desk, plan(REPORTS, TYPE, Draft(zone="delete", skill="click"), final=True), DONE)
    assert desk.clicks == ["reports"]
    assert played.contexts[1].why == (
        f"not sent: click 'Reports' would send {LAYOUT}; it waits as request1; not done: type 'To'; click 'Delete'"
    )


async def test_what_was_left_beside_a_text_is_told_again_beside_a_click() -> None:
    """A GraphQL server has one address for suggestions and for deletions."""
    desk = Desk()
    same = replace(TYPE, zone="delete")
    played, _ = await play(desk, plan(same, READ, AGAIN), plan(DELETE, final=True), DONE)
    assert played.contexts[2].why == f"not sent: click 'Delete' would send {TICKET}; it waits as request1"


@pytest.mark.parametrize("case", ["says", "a navigation", "fixed plan", "a rule asks"])
async def test_what_was_meant_or_cannot_wait_is_asked_about(case: str) -> None:
    desk = Desk(waits=case != "a navigation")
    step = replace(DELETE, says="Delete it") if case == "says" else DELETE
    approver = Approves()
    stage = Stage(world=desk, planner=FunctionPlanner(lambda _: plan(step, final=True)), approver=approver)
    if case == "a rule asks":
        stage = replace(
            stage, task=Task(goal="Delete it", agreement=Agreement(rules=(Rule(ask=True, address="DELETE *"),)))
        )
    if case == "fixed plan":
        vars(stage.recorder)["given"] = True
    await stage.play()
    assert [question.about for question in approver.questions] == ["approve"]
    assert desk.sent == [TICKET]


async def test_what_needs_no_approval_leaves() -> None:
    desk = Desk()
    _, approver = await play(desk, plan(DELETE, final=True), approvals="never")
    assert (desk.sent, approver.questions) == ([TICKET], [])


def test_kinds_leave_out_ids_and_keep_the_name_of_the_operation() -> None:
    commit = CommitSet(
        address="POST http://desk/graphql?v=1 and DELETE http://desk/tickets/17/notes",
        values=(("1: operationName", "DeleteTicket"), ("1: variables.id", 7), ("2: method", "x")),
    )
    assert list_kinds(commit) == (
        "POST http://desk/graphql operationname=DeleteTicket",
        "DELETE http://desk/tickets/*/notes method=x",
    )
