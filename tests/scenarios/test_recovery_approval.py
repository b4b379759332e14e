"""Recovery and approval: a new plan asks about what is new in it, and about nothing else."""

import asyncio
from typing import Any

import pytest

from midcourse.domain.agreement import Agreement, Rule
from midcourse.domain.approval import Change, Decision, Question, Revision
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.domain.task import Task
from midcourse.planners import SamePlan
from midcourse.policy.task_state import task_state
from midcourse.ports.approver import Approver
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import Answers, Approves, MemoryStore, Posts, Rejects, Scripted
from midcourse.worlds.base import BaseWorld, Outcome, Scene, Zone, failed, skill
from tests.scenarios.stage import AGAIN, FunctionPlanner, Played, Post, Stage, letter, plan
from tests.scenarios.test_held import CONTINUE, Page

SIX = ("Ada", "Grace", "Edsger", "Barbara", "Donald", "Alan")


def visit(day: int) -> Draft:
    return Draft(zone=GLOBAL, skill="visit", arguments=(("day", day),), says=f"Visit on day {day}")


def to_whom(question: Question) -> list[Any]:
    return [dict(consequence.arguments)["to"] for consequence in question.consequences]


def letters_after_a_failure(*second: str) -> FunctionPlanner:
    """Six letters to be sent once the counter is open. It is closed on the first day, and the next plan is for these."""

    def think(context: PlanningContext) -> PlanDraft:
        day, whom = (0, SIX) if context.cause == "initial" else (1, second)
        return plan(visit(day), *(letter(name) for name in whom), final=True)

    return FunctionPlanner(think)


async def sent(person: Any, *second: str, **settings: Any) -> tuple[Played, Post]:
    post = Post(closed=1)
    stage = Stage(world=post, planner=letters_after_a_failure(*second), approver=person, settings=settings)
    return await stage.play(), post


async def test_version_two_with_one_changed_critical_step_of_six_asks_one_question() -> None:
    person = Approves(doubt="happened")
    changed = (*SIX[:3], "Margaret", *SIX[4:])
    played, post = await sent(person, *changed)
    approvals = [question for question in person.questions if question.about == "approve"]
    assert [to_whom(question) for question in approvals] == [list(SIX), ["Margaret"]]
    assert post.letters == list(changed)
    (before,) = approvals[1].before
    assert before is not None
    assert dict(before.arguments)["to"] == "Barbara"
    assert approvals[1].revision == Revision(
        version=2,
        before=1,
        why=played.plans[1].why,
        kept=5,
        changed=(("Visit on day 0", "Visit on day 1"), ("Write to Barbara", "Write to Margaret")),
    )
    assert [(version.version, version.parent, version.cause) for version in played.plans] == [
        (1, None, "initial"),
        (2, 1, "error"),
    ]


async def test_version_two_that_changes_nothing_critical_asks_nothing() -> None:
    """Multi-Agent-Custom-Automation-Engine PR 1062: there, every replan asks for approval again."""
    person = Approves(doubt="happened")
    _, post = await sent(person, *SIX)
    assert len([question for question in person.questions if question.about == "approve"]) == 1
    assert post.letters == list(SIX)


async def test_what_was_approved_and_is_no_longer_planned_is_not_done() -> None:
    person = Approves(doubt="happened")
    _, post = await sent(person, *SIX[:2])
    assert (post.letters, len(person.questions)) == (list(SIX[:2]), 1 + 2)


async def test_a_changed_value_asks_although_its_neighbours_are_granted_for_the_run() -> None:
    person = Answers(Decision(verdict="approved", once=False, by="ada"), Decision(verdict="rejected", by="ada"))
    played, post = await sent(person, *SIX[:5], "Eve")
    assert to_whom(person.questions[1]) == ["Eve"]
    assert (played.result.final_reason, post.letters) == ("rejected", [])


@pytest.mark.parametrize("place", range(6))
@pytest.mark.parametrize("once", [True, False], ids=["for one use", "for the run"])
async def test_whichever_value_of_six_is_changed_exactly_that_one_is_asked_about(place: int, once: bool) -> None:
    yes, it_did = Decision(verdict="approved", once=once, by="ada"), Decision(verdict="happened")
    person = Answers(yes, yes, *[it_did] * 6)
    changed = (*SIX[:place], "Margaret", *SIX[place + 1 :])
    _, post = await sent(person, *changed)
    approvals = [to_whom(question) for question in person.questions if question.about == "approve"]
    assert approvals == [list(SIX), ["Margaret"]]
    assert post.letters == list(changed)


@pytest.mark.parametrize("replans", [1, 2, 3])
@pytest.mark.parametrize("once", [True, False], ids=["for one use", "for the run"])
async def test_an_unchanged_value_with_a_live_grant_is_never_asked_about_again(replans: int, once: bool) -> None:
    """However often it is planned again, and whatever comes first in the new plan."""

    def think(context: PlanningContext) -> PlanDraft:
        return plan(visit(len(context.attempts)), *(letter(name) for name in SIX), final=True)

    post = Post(closed=replans)
    person = Answers(Decision(verdict="approved", once=once, by="ada"), *[Decision(verdict="happened")] * 6)
    played = await Stage(world=post, planner=FunctionPlanner(think), approver=person).play()
    assert (played.result.replans, post.letters) == (replans, list(SIX))
    assert [question.about for question in person.questions] == ["approve", *["happened"] * 6]


# --- rules


async def posted(person: Any, *rules: Rule, **settings: Any) -> Post:
    post = Post()
    task = Task(goal="Write to Ada", agreement=Agreement(rules=rules))
    planner = SamePlan([visit(0), letter("Ada")])
    await Stage(world=post, planner=planner, approver=person, task=task, settings=settings).play()
    return post


async def test_a_rule_asks_about_a_harmless_step_even_where_nobody_else_is_asked() -> None:
    person = Rejects()
    await posted(person, Rule(ask=True, skill="visit"), approvals="never")
    assert [question.consequences[0].skill for question in person.questions] == ["visit"]


async def test_a_rule_not_to_ask_lets_an_irreversible_step_go_only_if_it_says_so() -> None:
    person = Rejects()
    post = await posted(person, Rule(ask=False, skill="send"))
    assert (post.letters, [question.about for question in person.questions]) == ([], ["approve"])
    person = Approves(doubt="happened")
    post = await posted(person, Rule(ask=False, skill="send", effects=("irreversible",)))
    assert (post.letters, [question.about for question in person.questions]) == (["Ada"], ["happened"])


class Renamed(BaseWorld):
    """A button that is called otherwise once it was planned to press it."""

    def __init__(self) -> None:
        super().__init__()
        self.label = "Save"
        self.pressed: list[str] = []

    def look(self) -> Scene:
        return Scene("Page", Zone(id="b", role="button", label=self.label))

    @skill(effect="set_state")
    def press(self, zone: Zone) -> None:
        self.pressed.append(zone.label)

    @skill(effect="set_state")
    def rename(self) -> None:
        self.label = "Delete everything"


async def test_rules_are_applied_to_what_is_there_when_it_is_done() -> None:
    world, person = Renamed(), Rejects()
    task = Task(goal="Save", agreement=Agreement(rules=(Rule(ask=True, label="*delete*"),)))
    steps = (Draft(zone=GLOBAL, skill="rename"), Draft(zone="b", skill="press"))
    await Stage(world=world, planner=SamePlan(steps), approver=person, task=task).play()
    assert [question.consequences[0].target.label for question in person.questions] == ["Delete everything"]
    assert world.pressed == []


async def test_a_rule_not_to_ask_about_clicks_is_none_about_what_a_click_would_send() -> None:
    page, person = Page(), Rejects()
    task = Task(goal="Order", agreement=Agreement(rules=(Rule(ask=False, skill="click"),)))
    await Stage(world=page, planner=SamePlan((CONTINUE,)), approver=person, task=task).play()
    assert (page.sent, [question.about for question in person.questions]) == ([], ["approve"])


# --- adaptive


class Desk(BaseWorld):
    """A drawer that can be opened and shut again, and a shredder."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []

    def look(self) -> Scene:
        return Scene("Desk", Zone(id="drawer", role="drawer", label="Drawer", state=(("moves", len(self.done)),)))

    @skill(effect="reversible", undo="move")
    def move(self, zone: Zone, by: int) -> Outcome | None:
        if by == 0:
            return failed("stuck", "it does not move")
        self.done.append(f"moved by {by}")
        return None

    @skill(effect="irreversible")
    def shred(self, zone: Zone) -> None:
        self.done.append("shredded")


def moved(by: int) -> Draft:
    return Draft(zone="drawer", skill="move", arguments=(("by", by),), says="Move the drawer")


SHRED = Draft(zone="drawer", skill="shred", says="Shred what is in it")


class Office:
    """Runs one after the other, of which later ones know what was decided in earlier ones."""

    def __init__(self, **agreement: Any) -> None:
        self.store = MemoryStore()
        self.runs = 0
        self._agreement = Agreement(**agreement)

    async def run(self, person: Approver, *steps: Draft, mode: str = "adaptive") -> Desk:
        self.runs += 1
        desk = Desk()
        task = Task(goal="Tidy up", agreement=self._agreement)
        stage = Stage(
            world=desk,
            planner=SamePlan(steps),
            approver=person,
            task=task,
            store=self.store,
            settings={"approvals": mode},
        )
        await stage.agent.run(stage.task, run_id=f"run-{self.runs}")
        return desk


async def questions_of(office: Office, *steps: Draft, **more: Any) -> int:
    person = Approves(doubt="happened")
    await office.run(person, *steps, **more)
    return len([question for question in person.questions if question.about == "approve"])


async def test_adaptive_asks_about_reversible_steps_until_people_have_agreed_often_enough() -> None:
    office = Office(trust_after=3)
    asked = [await questions_of(office, moved(by)) for by in (1, 2, 3, 4, 5)]
    assert asked == [1, 1, 1, 0, 0]


async def test_adaptive_never_stops_asking_about_irreversible_steps() -> None:
    office = Office(trust_after=1)
    assert [await questions_of(office, SHRED) for _ in range(5)] == [1, 1, 1, 1, 1]


async def test_adaptive_starts_over_after_a_rejection() -> None:
    office = Office(trust_after=2)
    assert [await questions_of(office, moved(1)) for _ in range(3)] == [1, 1, 0]
    office = Office(trust_after=2)
    await questions_of(office, moved(1))
    await office.run(Rejects(), moved(1))
    assert [await questions_of(office, moved(1)) for _ in range(3)] == [1, 1, 0]


async def test_adaptive_learns_from_runs_in_other_modes_but_only_what_was_asked_there() -> None:
    office = Office(trust_after=1)
    assert await questions_of(office, moved(1), mode="always") == 0
    assert await questions_of(office, moved(1)) == 1
    assert await questions_of(office, moved(1)) == 0


async def test_adaptive_ignores_approvals_without_a_name() -> None:
    office = Office(trust_after=1)
    for _ in range(3):
        person = Approves(by="")
        await office.run(person, moved(1))
        assert len(person.questions) == 1


async def test_adaptive_a_rule_to_ask_is_not_worn_down() -> None:
    office = Office(trust_after=1, rules=(Rule(ask=True, skill="move"),))
    assert [await questions_of(office, moved(1)) for _ in range(3)] == [1, 1, 1]


# --- once, or for the run


@pytest.mark.parametrize(("once", "asked"), [(True, 3), (False, 1)])
async def test_an_approval_of_a_reversible_step_is_for_one_use_or_for_the_run(once: bool, asked: int) -> None:
    desk, person = Desk(), Approves(once)
    planner = Scripted(plan(moved(1), AGAIN), plan(moved(1), AGAIN), plan(moved(1), final=True))
    await Stage(world=desk, planner=planner, approver=person, settings={"approvals": "adaptive"}).play()
    assert (len(desk.done), len(person.questions)) == (3, asked)


# --- approve with changes, take over


def changed(by: str = "ada", **arguments: Any) -> Decision:
    return Decision(verdict="changed", by=by, changes=(Change(arguments=tuple(arguments.items())),))


YES = Decision(verdict="approved", by="ada")
DID = Decision(verdict="happened", by="ada")


async def test_what_a_person_changes_is_shown_again_and_only_then_done() -> None:
    post, person = Post(), Answers(changed(to="Grace"), YES, DID)
    played = await Stage(world=post, planner=Scripted(plan(letter("Ada"), final=True)), approver=person).play()
    first, second, _ = person.questions
    assert (to_whom(first), to_whom(second)) == (["Ada"], ["Grace"])
    assert second.before == first.consequences
    assert second.revision is not None
    assert (second.revision.why, second.revision.kept) == ("ada changed send", 0)
    assert post.letters == ["Grace"]
    assert [(plan.version, plan.parent, plan.cause) for plan in played.plans] == [
        (1, None, "initial"),
        (2, 1, "amended"),
    ]
    assert (played.result.planner_calls, played.result.budget.calls) == (1, 1)


async def test_what_was_not_changed_in_the_same_question_is_approved_as_it_was_shown() -> None:
    post = Post()
    second = Decision(verdict="changed", by="ada", changes=(Change(step=1, arguments=(("to", "Alan"),)),))
    person = Answers(second, YES, DID, DID, DID)
    letters = [letter(name) for name in ("Ada", "Grace", "Edsger")]
    await Stage(world=post, planner=Scripted(plan(*letters, final=True)), approver=person).play()
    asked = [to_whom(question) for question in person.questions if question.about == "approve"]
    assert asked == [["Ada", "Grace", "Edsger"], ["Alan"]]
    assert post.letters == ["Ada", "Alan", "Edsger"]


async def test_a_change_that_is_rejected_after_all_sends_nothing() -> None:
    post, person = Post(), Answers(changed(to="Grace"), Decision(verdict="rejected", by="ada"))
    played = await Stage(world=post, planner=SamePlan([letter("Ada")]), approver=person).play()
    assert (played.result.final_reason, post.letters) == ("rejected", [])


@pytest.mark.parametrize(
    ("arguments", "why"), [({"to": 7}, "'to' must be string"), ({"cc": "Eve"}, "no such argument: 'cc'")]
)
async def test_a_change_that_cannot_be_made_is_asked_about_again_with_the_reason(
    arguments: dict[str, Any], why: str
) -> None:
    post, person = Post(), Answers(changed(**arguments), YES, DID)
    played = await Stage(world=post, planner=SamePlan([letter("Ada")]), approver=person).play()
    again = person.questions[1]
    assert (to_whom(again), post.letters) == (["Ada"], ["Ada"])
    assert why in again.detail
    assert [plan.version for plan in played.plans] == [1]


@pytest.mark.parametrize(
    "odd",
    [
        Decision(verdict="changed", by="ada"),
        Decision(verdict="changed", by="ada", changes=(Change(step=7, arguments=(("to", "Eve"),)),)),
        Decision(verdict="approved", by="ada", changes=(Change(arguments=(("to", "Eve"),)),)),
    ],
)
async def test_a_change_of_nothing_or_of_what_was_not_asked_is_a_no(odd: Decision) -> None:
    post = Post()
    played = await Stage(world=post, planner=SamePlan([letter("Ada")]), approver=Answers(odd)).play()
    assert (played.result.final_reason, post.letters) == ("rejected", [])


async def test_after_replanning_the_task_waits_for_approval_and_is_approved_then() -> None:
    """The states of seed 001: FAILED while the failure is planned around, then PENDING_APPROVAL and APPROVED again."""
    played, _ = await sent(Approves(doubt="stop"), *SIX[:5], "Eve")
    states = [task_state(turn.run) for turn in played.turns]
    assert [state for n, state in enumerate(states) if n == 0 or states[n - 1] != state] == [
        "PENDING",
        "PLANNING",
        "PENDING_APPROVAL",
        "APPROVED",
        "FAILED",
        "PENDING_APPROVAL",
        "APPROVED",
        "PENDING_APPROVAL",
        "FAILED",
    ]


async def test_whoever_takes_over_acts_and_the_run_plans_on_from_what_is_there() -> None:
    post, person = Post(), Posts()

    def think(context: PlanningContext) -> PlanDraft:
        return PlanDraft(verdict="done") if "1 letters" in context.observation.zones[0].label else plan(letter("Ada"))

    stage = Stage(world=post, planner=FunctionPlanner(think), approver=person)
    live = stage.start()
    await stage.reach(live, "asking")
    while not person.questions:
        await asyncio.sleep(0)
    assert live.answer(person.questions[0], Decision(verdict="take_over", by="ada")) == ""
    await stage.reach(live, "paused")
    post.letters.append("Ada, by hand")
    live.resume()
    played = await stage.watch_to_end(live)
    assert post.letters == ["Ada, by hand"]
    assert played.asked_planner[-1].cause == "taken_over"
    assert played.asked_planner[-1].why == "ada took over instead of send"
