"""Settings and policy hold for a `Task` as they do for a goal in words."""

from pathlib import Path

import pytest

from midcourse import Agent, BaseWorld, Draft, PlanDraft, Scene, Settings, Task, Zone, skill
from midcourse.domain.agreement import Agreement, Rule
from midcourse.domain.budget import Limits
from midcourse.testing import MemoryStore


class Counter(BaseWorld):
    n = 0

    def look(self) -> Scene:
        return Scene("Counter", Zone(id="plus", role="button", label="+", state=(("n", self.n),)))

    @skill
    def press(self, zone: Zone) -> None:
        self.n += 1


class ForEver:
    """Never done, and counts how often it is asked."""

    asked = 0

    async def plan(self, context: object) -> PlanDraft:
        self.asked += 1
        return PlanDraft(steps=(Draft(zone="plus", skill="press"),), final=False)


def plans_made(task: Task | str, tmp_path: Path, **settings: str) -> int:
    planner = ForEver()
    settings = {"home": str(tmp_path / "home"), **settings}
    agent = Agent(world=Counter(), planner=planner, store=MemoryStore(), settings=Settings.load(overrides=settings))
    result = agent.run_sync(task)
    assert not result.success
    return planner.asked


def test_a_ceiling_holds_for_a_task_as_for_a_goal(tmp_path: Path) -> None:
    assert plans_made("count", tmp_path, max_calls="3") == 3
    assert plans_made(Task(goal="count"), tmp_path, max_calls="3") == 3


def test_the_environment_holds_for_a_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCOURSE_MAX_CALLS", "2")
    assert plans_made(Task(goal="count"), tmp_path) == 2


def test_what_the_task_says_itself_wins_and_the_rest_stays_the_agents(tmp_path: Path) -> None:
    assert plans_made(Task(goal="count", limits=Limits(max_calls=4)), tmp_path, max_calls="2") == 4
    assert plans_made(Task(goal="count", limits=Limits(max_segments=6)), tmp_path, max_calls="2") == 2


def test_a_value_of_the_task_that_equals_the_default_still_wins() -> None:
    settings = Limits(approvals="never", max_cost_usd=0.5)
    assert Limits().with_defaults(settings).approvals == "never"
    assert Limits(approvals="always").with_defaults(settings) == Limits(approvals="always", max_cost_usd=0.5)


async def test_policy_and_user_are_the_agents_unless_the_task_has_its_own(tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rules]]\nask = "always"\nskill = "press"\n', encoding="utf-8")
    settings = Settings.load(overrides={"approval_policy": str(policy), "home": str(tmp_path)})
    own = Agreement(rules=(Rule(ask=True, label="+"),))
    for task, rules in ((Task(goal="count"), settings.agreement().rules), (Task(goal="c", agreement=own), own.rules)):
        store = MemoryStore()
        agent = Agent(world=Counter(), planner=ForEver(), store=store, settings=settings)
        result = await agent.run(task, run_id="run")
        assert result.final_reason == "rejected", "the rule asks, and there is no approver"
        kept = (await store.load("run"))[1]
        assert kept.agreement.rules == rules
        assert kept.by
