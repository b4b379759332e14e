"""Plan versions in Python: each with its parent and its reason, and any two held against each other."""

from pathlib import Path

import pytest

from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.task import Task
from midcourse.errors import TaskInvalid
from midcourse.testing import Approves, FakeClock
from tests.scenarios.stage import Post
from tests.scenarios.test_recovery_approval import SIX, letters_after_a_failure

MARGARET = (*SIX[:3], "Margaret", *SIX[4:])


@pytest.fixture
async def agent(tmp_path: Path) -> Agent:
    """One that has sent six letters, after the counter was closed at first. Its runs are in a file."""
    agent = Agent(
        world=Post(closed=1),
        planner=letters_after_a_failure(*MARGARET),
        approver=Approves(doubt="happened"),
        settings=Settings.load(overrides={"home": str(tmp_path / "home")}),
        clock=FakeClock(),
    )
    await agent.run(Task(goal="Write to six"), run_id="letters")
    return agent


async def test_each_version_has_its_parent_cause_and_context(agent: Agent) -> None:
    first, second = await agent.plans("letters")
    assert (first.version, first.parent, first.cause, first.context) == (1, None, "initial", None)
    assert (second.version, second.parent, second.cause) == (2, 1, "error")
    assert "closed on day 0" in second.why
    assert second.context is not None


async def test_comparing_two_versions_lists_kept_and_changed_steps(agent: Agent) -> None:
    compared = await agent.compare_plans("letters", 1, 2)
    assert (compared.before.version, compared.after.version) == (1, 2)
    assert len(compared.found.kept) == 5
    assert [(dict(one.before.arguments), dict(one.after.arguments)) for one in compared.found.changed] == [
        ({"day": 0}, {"day": 1}),
        ({"to": "Barbara"}, {"to": "Margaret"}),
    ]
    with pytest.raises(TaskInvalid, match="has no plan 7; there are: 1, 2"):
        await agent.compare_plans("letters", 1, 7)


async def test_a_run_that_succeeded_has_task_state_completed(agent: Agent) -> None:
    assert await agent.task_state("letters") == "COMPLETED"
