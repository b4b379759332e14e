"""A planner or an approver may be a function; anything that is neither is refused when the agent is made."""

from typing import Any

import pytest

from midcourse import Agent, Decision, Plan, Step
from midcourse.agent.callables import FunctionApprover
from midcourse.domain.approval import Question
from midcourse.planners import PlanningContext
from midcourse.testing import Approves, MemoryStore, Scripted
from midcourse.worlds import Functions


def order(item: str) -> str:
    """Order something."""
    return f"ordered {item}"


def plan_order(context: PlanningContext) -> Plan:
    if context.completed:
        return Plan(verdict="done")
    return Plan(steps=[Step(skill="order", arguments={"item": "lamp"})])


async def plan_order_later(context: PlanningContext) -> Plan:
    return plan_order(context)


async def approve_later(question: Question) -> bool:
    return True


def make_agent(**parts: Any) -> Agent:
    given: dict[str, Any] = {"planner": plan_order, "store": MemoryStore(), **parts}
    return Agent(Functions(order), **given)


@pytest.mark.parametrize("planner", [plan_order, plan_order_later, lambda context: plan_order_later(context)])
@pytest.mark.parametrize(
    "approver", [lambda question: True, approve_later, lambda question: Decision(verdict="approved", by="Ada")]
)
async def test_functions_plan_and_approve(planner: Any, approver: Any) -> None:
    result = await make_agent(planner=planner, approver=approver).run("Order a lamp")
    assert result.success
    assert [step.skill for step in result.completed] == ["order"]


async def test_false_rejects() -> None:
    assert (await make_agent(approver=lambda question: False).run("Order a lamp")).final_reason == "rejected"


@pytest.mark.parametrize(
    ("about", "yes", "no"),
    [
        ("approve", "approved", "rejected"),
        ("happened", "stop", "stop"),
        ("repeat", "rejected", "rejected"),
        ("stuck", "go_on", "stop"),
        ("question", "stop", "stop"),
        ("more", "stop", "stop"),
    ],
)
async def test_true_confirms_no_effect_and_sends_nothing_again(about: Any, yes: str, no: str) -> None:
    question = Question(run="r-1", id=1, about=about, goal="Order", consequences=(), says=(), expires_at=0.0)
    answers = [await FunctionApprover(each).ask(question) for each in (lambda question: True, lambda question: False)]
    assert [answer and answer.verdict for answer in answers] == [yes, no]


async def test_none_leaves_the_question_open() -> None:
    question = Question(run="r-1", id=1, about="approve", goal="Order", consequences=(), says=(), expires_at=0.0)
    assert await FunctionApprover(lambda question: None).ask(question) is None


@pytest.mark.parametrize(
    ("part", "given", "words"),
    [
        ("planner", "openai:gpt-5", r"planner: 'openai:gpt-5' has no method plan\(context\)"),
        ("planner", Scripted, r"planner: Scripted is a class; give an object of it, Scripted\(\)"),
        ("approver", True, r"approver: True has no method ask\(question\); .* or a function of the question"),
        ("approver", Approves, r"approver: Approves is a class"),
    ],
)
def test_what_is_neither_is_refused_at_once(part: str, given: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        make_agent(**{part: given})


async def test_an_approver_that_returns_something_else_is_named() -> None:
    question = Question(run="r-1", id=1, about="approve", goal="Order", consequences=(), says=(), expires_at=0.0)
    wrong: Any = lambda question: "yes"  # noqa: E731
    with pytest.raises(TypeError, match=r"returned 'yes'; return a midcourse\.Decision, True, False or None"):
        await FunctionApprover(wrong).ask(question)
