"""Every setting has an effect: each is shown to change what a run does, from the text a user writes to the result."""

import asyncio
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from midcourse.config.settings import Settings
from midcourse.config.variables import aliases
from midcourse.domain.budget import Limits
from midcourse.domain.commands import Advise, Observe, OpenWorld, PlanTry
from midcourse.domain.expectation import Expectation, SurfaceMatches
from midcourse.domain.observation import Unseen, Zone
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import REACH, REPLAN
from midcourse.drive import Progress
from midcourse.planners import SamePlan
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import Approves, Posts, Scripted, ScriptedOutlines
from tests.harness import ORDER_PENS, Shop, draft, steps
from tests.llm.test_settings import MODEL_SETTINGS
from tests.properties import lesson_settings, recovery_settings  # noqa: F401 - imported for their demonstrations
from tests.properties.played import (
    DEMONSTRATIONS,
    NUDGE,
    AimlessDetourPlanner,
    EndlessPlanner,
    NewIdeaPlanner,
    failing_shop,
    play,
    register,
)

SHOWN_ELSEWHERE = {"home", "agent", "embedder", "embedder_base_url", "images", "retention_days", *MODEL_SETTINGS}
"""Where runs are kept, for how long, and whose lessons: shown by the tests of the command line and of the agent. What models are asked for
what: tests/llm/test_settings.py, test_embeddings.py and test_planner_images.py."""

# --- ceilings


@register
async def max_calls() -> None:
    usual, few = await play(EndlessPlanner()), await play(EndlessPlanner(), max_calls=3)
    assert usual.result.planner_calls > 3
    assert (few.reason, few.result.planner_calls) == ("budget_exhausted", 3)


@register
async def detour_iterations() -> None:
    elsewhere = SamePlan([draft(REACH, expect=Expectation(checks=(SurfaceMatches(pattern="Nowhere"),)))])
    for most in (10, 2, 0):
        played = await play(
            elsewhere, detour_planner=AimlessDetourPlanner(), detour_iterations=most, max_calls=60, max_replans=0
        )
        assert len(played.commands(PlanTry)) == most


def asks(turn: Progress, role: str) -> bool:
    return any(isinstance(command, Advise) and command.role == role for command in turn.commands)


@register
async def outline() -> None:
    """How many plans there were when an outline was drawn, if one was."""
    drawn: dict[str, list[int]] = {}
    for setting in ("off", "on", "auto"):
        stuck = SamePlan([draft("name", "peek"), draft(REPLAN)])
        played = await play(stuck, outliner=ScriptedOutlines(("Explore the shop",)), outline=setting, max_calls=9)
        turns = [turn.run for turn in played.turns if asks(turn, "outliner")]
        drawn[setting] = [run.counts.segments for run in turns]
    assert drawn == {"off": [], "on": [0], "auto": [3]}


@register
async def monitor() -> None:
    """How many plans there were when the path was reviewed, if it was."""
    reviewed: dict[str, list[int]] = {}
    for setting in ("off", "path", "proposals"):
        played = await play(SamePlan([draft("name", "peek"), draft(REPLAN)]), monitor=setting, max_replans=2)
        turns = [turn.run for turn in played.turns if asks(turn, "monitor")]
        reviewed[setting] = [run.counts.segments for run in turns]
    assert reviewed == {"off": [], "path": [1, 2, 3], "proposals": [1, 2, 3, 4]}


@register
async def max_tokens() -> None:
    usual = await play(EndlessPlanner(tokens=100), plan_tokens=100)
    few = await play(EndlessPlanner(tokens=100), plan_tokens=100, max_tokens=250)
    assert usual.result.planner_calls > 2
    assert (few.reason, few.result.planner_calls, few.result.budget.tokens) == ("budget_exhausted", 2, 200)


@register
async def max_cost_usd() -> None:
    usual = await play(EndlessPlanner(microusd=100_000), plan_cost_usd=0.1)
    few = await play(EndlessPlanner(microusd=100_000), plan_cost_usd=0.1, max_cost_usd=0.25)
    assert usual.result.planner_calls > 2
    assert (few.reason, few.result.planner_calls, few.result.budget.cost_usd) == ("budget_exhausted", 2, 0.2)


@register
async def max_wall_seconds() -> None:
    usual = await play(SamePlan([NUDGE]), failing_shop("grasp_slipped"))
    short = await play(SamePlan([NUDGE]), failing_shop("grasp_slipped"), max_wall_seconds=5)
    assert usual.result.executions == 4
    assert (short.reason, short.result.executions) == ("budget_exhausted", 2)


@register
async def deadline_seconds() -> None:
    usual = await play(SamePlan([ORDER_PENS]), approver=Posts())
    short = await play(SamePlan([ORDER_PENS]), approver=Posts(), deadline_seconds=60)
    assert (usual.reason, usual.seconds) == ("rejected", 3600.0)
    assert (short.reason, short.seconds) == ("deadline_exceeded", 60.0)


@register
async def max_segments() -> None:
    usual, few = await play(EndlessPlanner()), await play(EndlessPlanner(), max_segments=2)
    assert (usual.reason, usual.result.budget.segments) == ("budget_exhausted", 20)
    assert (few.reason, few.result.budget.segments) == ("budget_exhausted", 2)


@register
async def max_replans() -> None:
    usual = await play(NewIdeaPlanner(), failing_shop("rejected"), max_error_replans=5)
    few = await play(NewIdeaPlanner(), failing_shop("rejected"), max_replans=1)
    assert (usual.reason, usual.result.replans) == ("replan_exhausted", 5)
    assert (few.reason, few.result.replans) == ("replan_exhausted", 1)


@register
async def max_error_replans() -> None:
    usual = await play(NewIdeaPlanner(), failing_shop("rejected"))
    few = await play(NewIdeaPlanner(), failing_shop("rejected"), max_error_replans=1)
    assert usual.result.budget.error_replans == 3
    assert few.result.budget.error_replans == 1


@register
async def max_step_retries() -> None:
    usual = await play(SamePlan([NUDGE]), failing_shop("busy"))
    few = await play(SamePlan([NUDGE]), failing_shop("busy"), max_step_retries=1)
    assert (usual.result.executions, few.result.executions) == (4, 2)


@register
async def max_plan_steps() -> None:
    fills = [draft("name", "fill", text=f"{n}") for n in range(3)]
    usual, short = await play(SamePlan(fills)), await play(Scripted(steps(*fills), steps(fills[2])), max_plan_steps=2)
    assert (usual.result.planner_calls, usual.result.steps) == (1, 3)
    assert (short.result.planner_calls, short.result.steps) == (2, 3)


@register
async def max_reopenings() -> None:
    class Vanishing(Shop):
        def look(self) -> Any:
            return Unseen(reason="world_lost") if self.looks > 0 else super().look()

    usual, once = await play(EndlessPlanner(), Vanishing()), await play(EndlessPlanner(), Vanishing(), max_reopenings=1)
    assert (usual.reason, len(usual.commands(OpenWorld))) == ("world_lost", 4)
    assert (once.reason, len(once.commands(OpenWorld))) == ("world_lost", 2)


@register
async def count_extensions() -> None:
    usual, counted = await play(EndlessPlanner()), await play(EndlessPlanner(), count_extensions=True)
    assert usual.result.extensions == 19
    assert (counted.reason, counted.result.extensions) == ("replan_exhausted", 5)


# --- what is planned


@register
async def visible_plans() -> None:
    class Doors(Shop):
        def look(self) -> Any:
            self.zones = [Zone(id="answer", role="text", label="Answer")] if self.title == "Help" else []
            return super().look()

    far = [draft("help", "follow"), draft("answer", "peek")]
    usual, fixed = await play(SamePlan(far), Doors()), await play(SamePlan(far), Doors(), visible_plans=0)
    assert usual.result.planner_calls > 1
    assert (fixed.reason, fixed.result.planner_calls, fixed.result.steps) == ("plan_complete", 1, 2)


@register
async def replan_admission() -> None:
    usual = await play(SamePlan([NUDGE]), failing_shop("rejected"))
    stuck = await play(SamePlan([NUDGE]), failing_shop("rejected"), replan_admission=False)
    assert (usual.reason, usual.result.executions) == ("replan_no_change", 1)
    assert (stuck.reason, stuck.result.executions) == ("replan_exhausted", 4)


@register
async def structural_stop() -> None:
    usual = await play(NewIdeaPlanner(), failing_shop("unreachable", "unreachable"))
    patient = await play(NewIdeaPlanner(), failing_shop("unreachable", "unreachable"), structural_stop=False)
    assert (usual.reason, usual.result.replans) == ("structural_failure", 3)
    assert (patient.reason, patient.result.replans) == ("replan_exhausted", 3)


# --- people


@register
async def approvals() -> None:
    asked, unasked = Approves(), Approves()
    await play(SamePlan([ORDER_PENS]), approver=asked)
    free = await play(SamePlan([ORDER_PENS]), approver=unasked, approvals="never")
    assert (len(asked.questions), len(unasked.questions)) == (1, 0)
    assert free.world.orders == ["pens"]


@register
async def ask_for_more() -> None:
    asked, unasked = Approves(more=True), Approves(more=True)
    more = await play(SamePlan([NUDGE, NUDGE]), approver=asked, look_calls=1, max_calls=1)
    ends = await play(SamePlan([NUDGE, NUDGE]), approver=unasked, look_calls=1, max_calls=1, ask_for_more=False)
    assert (more.reason, ends.reason) == ("plan_complete", "budget_exhausted")
    assert ([question.about for question in asked.questions][:1], unasked.questions) == (["more"], [])


@register
async def approval_policy() -> None:
    rules = Path("approvals.toml")
    rules.write_text('[[rules]]\nask = "always"\nskill = "fill"\n')
    usual, ruled = Approves(), Approves()
    plan = SamePlan([draft("name", "fill", text="Ada")])
    await play(plan, approver=usual, approvals="never")
    await play(plan, approver=ruled, approvals="never", approval_policy=rules)
    assert (len(usual.questions), len(ruled.questions)) == (0, 1)


@register
async def approval_seconds() -> None:
    usual = await play(SamePlan([ORDER_PENS]), approver=Posts())
    short = await play(SamePlan([ORDER_PENS]), approver=Posts(), approval_seconds=30)
    assert (usual.reason, usual.seconds) == ("rejected", 3600.0)
    assert (short.reason, short.seconds) == ("rejected", 30.0)


# --- what things cost


@register
async def look_calls() -> None:
    free, paid = await play(SamePlan([NUDGE, NUDGE])), await play(SamePlan([NUDGE, NUDGE]), look_calls=1)
    assert free.result.budget.calls == 1
    assert paid.result.budget.calls == 3


@register
async def final_looks() -> None:
    each = await play(SamePlan([NUDGE, NUDGE, NUDGE]), look_calls=1)
    last = await play(SamePlan([NUDGE, NUDGE, NUDGE]), look_calls=1, final_looks="last")
    assert (each.result.budget.calls, last.result.budget.calls) == (4, 2)


@register
async def plan_tokens() -> None:
    unforeseen = await play(EndlessPlanner(tokens=50), max_tokens=1000)
    foreseen = await play(EndlessPlanner(tokens=50), max_tokens=1000, plan_tokens=300)
    assert (unforeseen.reason, unforeseen.result.planner_calls) == ("budget_exhausted", 1)
    assert unforeseen.result.budget.overrun.tokens == 50
    assert (foreseen.reason, foreseen.result.planner_calls) == ("budget_exhausted", 15)
    assert foreseen.result.budget.overrun.tokens == 0


@register
async def plan_cost_usd() -> None:
    unforeseen = await play(EndlessPlanner(microusd=50), max_cost_usd=0.001)
    foreseen = await play(EndlessPlanner(microusd=50), max_cost_usd=0.001, plan_cost_usd=0.0003)
    assert (unforeseen.result.planner_calls, unforeseen.result.budget.overrun.microusd) == (1, 50)
    assert (foreseen.result.planner_calls, foreseen.result.budget.overrun.microusd) == (15, 0)


# --- how long things may take: these wait for real, a little


class Slow(Shop):
    def __init__(self, *, look: float = 0.0, act: float = 0.0) -> None:
        super().__init__()
        self.times = {"look": look, "act": act}

    async def observe(self) -> Any:
        await asyncio.sleep(self.times["look"])
        return await super().observe()

    async def act(self, call: Any) -> Outcome:
        await asyncio.sleep(self.times["act"])
        return await super().act(call)


@register
async def act_timeout_seconds() -> None:
    usual = await play(SamePlan([NUDGE]), Slow(act=0.1))
    hasty = await play(SamePlan([NUDGE]), Slow(act=0.1), act_timeout_seconds=0.02)
    assert (usual.reason, usual.world.title) == ("plan_complete", "Shop!")
    assert hasty.reason != "plan_complete"
    assert hasty.world.title == "Shop"


@register
async def look_timeout_seconds() -> None:
    usual = await play(SamePlan([NUDGE]), Slow(look=0.1))
    hasty = await play(SamePlan([NUDGE]), Slow(look=0.1), look_timeout_seconds=0.02)
    assert usual.reason == "plan_complete"
    assert (hasty.reason, len(hasty.commands(Observe))) == ("world_lost", 4)


@register
async def plan_timeout_seconds() -> None:
    class Thinking:
        async def plan(self, context: PlanningContext) -> PlanDraft:
            await asyncio.sleep(0.1)
            return steps(NUDGE)

    usual, hasty = await play(Thinking()), await play(Thinking(), plan_timeout_seconds=0.02)
    assert usual.reason == "plan_complete"
    assert hasty.reason == "outage"


@register
async def reuse() -> None:
    seen = Expectation(checks=(SurfaceMatches(pattern="Shop!"),))
    usual = [await play(SamePlan([NUDGE]), done_when=seen) for _ in range(2)]
    reusing = [await play(SamePlan([NUDGE]), done_when=seen, reuse=True) for _ in range(2)]
    assert [played.result.planner_calls for played in usual + reusing] == [1, 1, 1, 0]
    assert [played.result.reused for played in usual + reusing] == [0, 0, 0, 1]


# --- all of them


@pytest.fixture(autouse=True)
def _no_settings_of_our_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in Settings.model_fields:
        monkeypatch.delenv(f"MIDCOURSE_{name.upper()}", raising=False)
    for variable in aliases(Settings).values():
        monkeypatch.delenv(variable, raising=False)


def test_every_setting_is_shown_to_have_an_effect() -> None:
    assert set(DEMONSTRATIONS) == set(Settings.model_fields) - SHOWN_ELSEWHERE
    assert {field.name for field in fields(Limits)} <= set(DEMONSTRATIONS) | set(MODEL_SETTINGS)


@pytest.mark.parametrize("name", DEMONSTRATIONS)
async def test_the_setting_has_an_effect(name: str) -> None:
    await DEMONSTRATIONS[name]()
