"""The public API as a user types it. `just types` checks this file; the test runs it."""

from typing import assert_type

from midcourse import (
    Agent,
    BaseWorld,
    Browser,
    Decision,
    Draft,
    Limits,
    Plan,
    PlanDraft,
    Result,
    RunInProgress,
    Step,
    Task,
    skill,
)
from midcourse.domain.approval import Question
from midcourse.planners import Planner, PlanningContext
from midcourse.roles import Approver
from midcourse.stores import PostgresStore, SqliteStore, Store


class Bell(BaseWorld):
    """A bell that can be rung."""

    rung = 0

    @skill(effect="irreversible")
    async def ring(self) -> None:
        """Ring the bell."""
        self.rung += 1


def plan_once(context: PlanningContext) -> Plan:
    return Plan(verdict="done") if context.completed else Plan(steps=[Step(skill="ring", arguments={})])


async def plan_later(context: PlanningContext) -> Plan:
    return plan_once(context)


def approve(question: Question) -> bool:
    return question.about == "approve"


class Person:
    async def ask(self, question: Question) -> Decision | None:
        return Decision(verdict="approved") if approve(question) else None


async def use_either(run: RunInProgress) -> Result:
    async for line in run.narrate():
        assert_type(line, str)
    assert_type(run.pause(), str)
    return await run.result()


async def use_agents(store: Store, planner: Planner, approver: Approver) -> None:
    agent = Agent(Bell(), planner, approver=approver, store=store)
    Agent(Browser("https://shop.example"), plan_once, approver=approve)
    Agent(Bell(), plan_later, approver=Person())
    Agent(Bell(), lambda context: plan_later(context), approver=lambda question: None)
    task = Task(goal="Ring", limits=Limits(max_calls=3), done_when=None)
    assert_type(await use_either(agent.start(task)), Result)
    async with agent.follow("r-1", approver=lambda question: Decision(verdict="rejected")) as followed:
        await use_either(followed)


def is_a_store(store: PostgresStore | SqliteStore) -> Store:
    return store


def test_names_and_their_older_names_are_the_same() -> None:
    plan: PlanDraft = Plan(steps=[Step(skill="ring")])
    draft: Draft = Step(skill="ring")
    assert plan == PlanDraft(steps=[draft])


def test_functions_serve_as_planner_and_approver() -> None:
    world = Bell()
    Agent(world, plan_once, approver=approve).run_sync("Ring the bell")
    assert world.rung == 1
