"""Demonstrations of the settings of recovery and of waiting, for `test_every_setting.py`."""

from collections.abc import Callable
from typing import Any

from midcourse.domain.commands import MakePlan, Wait
from midcourse.planners import SamePlan
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext
from midcourse.testing import Approves, Rejects
from tests.harness import draft
from tests.properties.played import NUDGE, EndlessPlanner, NewIdeaPlanner, Played, failing_shop, play, register


@register
async def auto_replan() -> None:
    usual, off = (
        await play(NewIdeaPlanner(), failing_shop("rejected")),
        await play(NewIdeaPlanner(), failing_shop("rejected"), auto_replan=False),
    )
    assert (usual.result.replans, off.reason, off.result.replans) == (3, "replan_exhausted", 0)
    assert off.result.final_detail.endswith("(auto_replan is off)")


async def triggered(name: str, reason: str, planner: Callable[[], Planner] = NewIdeaPlanner) -> tuple[Played, Played]:
    on: dict[str, Any] = {name: True}
    off: dict[str, Any] = {name: False}
    return await play(planner(), failing_shop(reason), **on), await play(planner(), failing_shop(reason), **off)


@register
async def replan_on_critical() -> None:
    on, off = await triggered("replan_on_critical", "missing_dependency")
    assert (on.result.replans, off.reason, off.result.replans) == (3, "replan_exhausted", 0)


@register
async def replan_on_high() -> None:
    on, off = await triggered("replan_on_high", "rejected")
    assert (on.result.replans, off.reason, off.result.replans) == (3, "replan_exhausted", 0)


@register
async def replan_on_medium() -> None:
    on, off = await triggered("replan_on_medium", "busy")
    assert (on.result.executions, off.result.executions) == (4, 7), (
        "four plans; tried once each, or four times at first"
    )


@register
async def replan_interval_seconds() -> None:
    usual = await play(NewIdeaPlanner(), failing_shop("rejected"), backoff_jitter=0)
    eager = await play(NewIdeaPlanner(), failing_shop("rejected"), replan_interval_seconds=0)
    assert [wait.seconds for wait in usual.commands(Wait)] == [5.0, 10.0]
    assert (usual.seconds, eager.seconds) == (15.0, 0.0)


@register
async def replan_timeout_seconds() -> None:
    class Gone(NewIdeaPlanner):
        """Cannot be reached once it has had an idea."""

        async def plan(self, context: PlanningContext) -> PlanDraft:
            return PlanDraft(verdict="transport") if self.ideas else await super().plan(context)

    usual = await play(Gone(), failing_shop("rejected"), backoff_jitter=0)
    hasty = await play(Gone(), failing_shop("rejected"), backoff_jitter=0, replan_timeout_seconds=5)
    assert {command.timeout for command in usual.commands(MakePlan)} == {120.0}
    assert {command.timeout for command in hasty.commands(MakePlan)[1:]} == {5.0}


@register
async def max_outage_seconds() -> None:
    class Gone:
        async def plan(self, context: PlanningContext) -> PlanDraft:
            raise ConnectionRefusedError("nobody there")

    usual = await play(Gone(), backoff_jitter=0)
    hasty = await play(Gone(), backoff_jitter=0, max_outage_seconds=5)
    assert (usual.reason, usual.seconds, usual.result.budget.calls) == ("outage", 600.0, 0)
    assert (hasty.reason, hasty.seconds, hasty.result.planner_calls) == ("outage", 5.0, 3)


@register
async def human_after() -> None:
    person = Rejects()
    usual = await play(NewIdeaPlanner(), failing_shop("rejected"), person)
    asked = await play(NewIdeaPlanner(), failing_shop("rejected"), person, human_after=2)
    assert (usual.reason, usual.result.replans) == ("replan_exhausted", 3)
    assert (asked.reason, asked.result.replans) == ("needs_human", 2)
    assert [question.about for question in person.questions] == ["stuck"]


@register
async def recovery() -> None:
    """How many plans were made after failures, how often a person was asked, and how the run ended."""
    ended: dict[str, tuple[int, int, str]] = {}
    for preset in ("default", "strict", "off"):
        for person in (Rejects(), Approves()):
            played = await play(NewIdeaPlanner(), failing_shop("rejected"), person, recovery=preset)
            key = f"{preset}, {type(person).__name__}"
            ended[key] = (played.result.budget.error_replans, len(person.questions), played.reason)
    assert ended == {
        "default, Rejects": (3, 0, "replan_exhausted"),
        "default, Approves": (3, 0, "replan_exhausted"),
        "strict, Rejects": (1, 1, "needs_human"),
        "strict, Approves": (2, 2, "replan_exhausted"),
        "off, Rejects": (0, 0, "replan_exhausted"),
        "off, Approves": (0, 0, "replan_exhausted"),
    }
    retried = await play(SamePlan([NUDGE]), failing_shop("grasp_slipped"), recovery="off")
    assert retried.result.executions == 4, "steps are still tried again"


@register
async def failures() -> None:
    usual = await play(SamePlan([NUDGE, draft("name", "fill", text="x")]), failing_shop("rejected"))
    rules = '[{"reason": "rejected", "severity": "LOW"}]'
    lenient = await play(SamePlan([NUDGE]), failing_shop("rejected"), failures=rules)
    assert usual.reason == "replan_no_change"
    assert (lenient.reason, lenient.turns[-1].run.counts.skipped) == ("plan_complete", 1)


@register
async def wrap_up_at() -> None:
    usual, early = EndlessPlanner(), EndlessPlanner()
    await play(usual)
    await play(early, wrap_up_at=0.25)
    assert [context.wrap_up for context in usual.contexts].index(True) == 16
    assert [context.wrap_up for context in early.contexts].index(True) == 5


# --- waiting


@register
async def retry_delay_seconds() -> None:
    usual = await play(SamePlan([NUDGE]), failing_shop("grasp_slipped"), backoff_jitter=0)
    slow = await play(SamePlan([NUDGE]), failing_shop("grasp_slipped"), retry_delay_seconds=5, backoff_jitter=0)
    assert [wait.seconds for wait in usual.commands(Wait)][:3] == [2.0, 4.0, 8.0]
    assert [wait.seconds for wait in slow.commands(Wait)][:3] == [5.0, 10.0, 20.0]


@register
async def max_retry_delay_seconds() -> None:
    capped = await play(SamePlan([NUDGE]), failing_shop("grasp_slipped"), max_retry_delay_seconds=3, backoff_jitter=0)
    assert [wait.seconds for wait in capped.commands(Wait)][:3] == [2.0, 3.0, 3.0]


@register
async def backoff_jitter() -> None:
    shaken = await play(SamePlan([NUDGE]), failing_shop("grasp_slipped"), backoff_jitter=1)
    waits = [wait.seconds for wait in shaken.commands(Wait)][:3]
    assert all(least < wait < 2 * least for wait, least in zip(waits, (2.0, 4.0, 8.0), strict=True))


@register
async def step_delay_seconds() -> None:
    usual, slow = await play(SamePlan([NUDGE, NUDGE])), await play(SamePlan([NUDGE, NUDGE]), step_delay_seconds=2)
    assert (usual.seconds, slow.seconds) == (0.0, 4.0)
