"""A question that evidence decided before a person did: its late approvers are told, and the log says it."""

import time
from pathlib import Path

from midcourse import Agent, Settings, Task
from midcourse.domain.budget import Limits
from midcourse.testing import FakeClock, Posts, Scripted
from tests.cli.conftest import Cli
from tests.harness import ORDERED, draft, steps
from tests.scenarios.test_evidence_after_the_question import SlowShop


def order_from_a_slow_shop(home: Path) -> str:
    """A run whose question whether it happened is withdrawn, since its shop shows that a few seconds later."""
    clock = FakeClock(time.time())
    planner = Scripted(steps(draft("order", "order", item="pens", expect=ORDERED)))
    agent = Agent(SlowShop(clock), planner, approver=Posts(), clock=clock, settings=Settings(home=home))
    result = agent.run_sync(Task(goal="order pens", limits=Limits(approvals="never")))
    assert result.final_reason == "plan_complete"
    return result.run


def test_an_answer_after_the_question_was_withdrawn_is_told_why(cli: Cli, home: Path) -> None:
    run = order_from_a_slow_shop(home)
    late = cli("answer", run, "did_not_happen")
    assert late.code == 1
    assert "was withdrawn: the expectation says that it happened" in late.out
    assert cli("answer", run, "stop", "--json").json["error"].endswith("the expectation says that it happened")


def test_the_log_says_that_the_question_was_withdrawn(cli: Cli, home: Path) -> None:
    run = order_from_a_slow_shop(home)
    shown = cli("show", run).out
    assert shown.count("it did happen: order Order; the question is withdrawn") == 1
    assert "still unknown" in shown, "before the question"
    assert shown.count("still unknown") == 1, "the looks that decided nothing are not listed"
