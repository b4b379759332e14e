"""The command MakePlan: the context of the planner, and how its answer is used."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.approval import OutcomeAnswer
from midcourse.domain.budget import FREE, Cost
from midcourse.domain.commands import MakePlan, Observe
from midcourse.domain.events import Planned
from midcourse.domain.expectation import Expectation, TextContains, ZoneAppears, ZoneGone
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import REPLAN
from midcourse.domain.replace import replace as unchecked
from midcourse.domain.task import Task
from midcourse.perform import Performer
from midcourse.ports.planner import PlanDraft
from midcourse.testing import Garbage, Scripted
from tests.harness import ORDER_PENS, ORDERED, Bench, Safe, Shop, draft, steps

COMMAND = MakePlan(id=250, timeout=5.0, version=1, cause="initial", why="", seen="o101")


async def prepare_bench(**more: Any) -> Bench:
    bench = Bench(**more)
    await bench.prepare()
    await bench.make_plan(draft("name", "peek"))
    return bench


async def ask(bench: Bench, planner: Any, **more: Any) -> Planned:
    bench.planner = planner
    fields: dict[str, Any] = {"id": 250, "timeout": 5.0, "version": 1, "cause": "initial", "why": "", "seen": "o101"}
    event = await Performer(bench.ports).perform(MakePlan(**(fields | more)))
    assert isinstance(event, Planned)
    return event


class Answering:
    """A planner that returns, raises or awaits whatever it is given."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def plan(self, context: Any) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is hang:
            await hang()
        return self.answer


async def hang() -> None:
    await asyncio.sleep(60)


# --- what it is shown


async def test_the_planner_gets_no_secret_written_in_task_or_guidance() -> None:
    task = Task(goal="Sign in with hunter2", inputs=(("note", "it is hunter2"),), secrets=("pin",))
    bench = await prepare_bench(task=task, vault=Safe(pin="hunter2"))
    planner = Scripted(steps(ORDER_PENS))
    await ask(bench, planner, why="hunter2 was refused", refused="hunter2?", guidance=("try hunter2",))
    context = planner.contexts[0]
    words = (context.task.goal, dict(context.task.inputs)["note"], context.why, context.refused, *context.guidance)
    assert words == (
        "Sign in with <secret pin>",
        "it is <secret pin>",
        "<secret pin> was refused",
        "<secret pin>?",
        "try <secret pin>",
    )
    assert bench.task.goal == "Sign in with hunter2"


async def test_a_planner_that_remembers_is_told_what_plans_were_made_from_on_this_screen() -> None:
    class Remembering(Scripted):
        remembers = True

    bench = await prepare_bench()
    forgetful, remembering = Scripted(steps(ORDER_PENS)), Remembering(steps(ORDER_PENS))
    await ask(bench, forgetful, seen="o101", version=2)
    await Performer(bench.ports).perform(Observe(id=102, timeout=5.0))
    await ask(bench, remembering, seen="o102", version=2)
    assert forgetful.contexts[0].earlier == ()
    assert [seen.id for seen in remembering.contexts[0].earlier] == ["o101"]


async def test_the_planner_is_told_all_that_is_known() -> None:
    bench = await prepare_bench()
    await bench.act(await bench.make_plan(draft("name", "fill", "Fill in", text="Ada")), id=1)
    assert isinstance(bench.world, Shop)
    bench.world.on_call = lambda name: Outcome(status="failed", reason="rejected", detail="no")
    await bench.act(await bench.make_plan(draft("order", "nudge", "Nudge"), version=2), id=2)
    planner = Scripted(PlanDraft())
    await ask(
        bench,
        planner,
        version=3,
        cause="error",
        why="nudge failed",
        refused="not again",
        guidance=("be kind",),
        left=Cost(calls=3),
        wrap_up=True,
        stale=True,
    )
    (context,) = planner.contexts
    assert [step.says for step in context.completed] == ["Fill in"]
    assert [(step.says, step.reason, step.detail) for step in context.attempts] == [("Nudge", "rejected", "no")]
    assert (context.cause, context.why, context.refused) == ("error", "nudge failed", "not again")
    assert (context.guidance, context.left, context.wrap_up) == (("be kind",), Cost(calls=3), True)
    assert context.observation.stale
    assert context.catalogue.skill("order") is not None


async def test_the_planner_is_told_what_may_have_happened_and_what_a_person_says() -> None:
    bench = await prepare_bench()
    assert isinstance(bench.world, Shop)
    bench.world.on_order = lambda item: Outcome(status="unknown")
    await bench.act(await bench.make_plan(ORDER_PENS))
    planner = Scripted(PlanDraft())
    await ask(bench, planner, version=2)
    await ask(bench, planner, version=2, outcome_answers=(OutcomeAnswer(version=1, index=0, happened=True),))
    await ask(bench, planner, version=2, outcome_answers=(OutcomeAnswer(version=1, index=0, happened=False),))
    doubtful, done, undone = planner.contexts
    assert [(step.irreversible, step.doubtful) for step in doubtful.completed] == [(True, True)]
    assert [(step.irreversible, step.doubtful) for step in done.completed] == [(True, False)]
    assert undone.completed == ()
    assert [step.skill for step in undone.attempts] == ["order"]


async def test_a_finding_of_a_person_is_about_one_try() -> None:
    """The first try did not happen, a person said; about the second there is no answer yet."""
    bench = await prepare_bench()
    assert isinstance(bench.world, Shop)
    bench.world.on_order = lambda item: Outcome(status="unknown")
    planned = await bench.make_plan(ORDER_PENS)
    await bench.act(planned, id=1)
    await bench.act(planned, id=2)
    planner = Scripted(PlanDraft())
    words = (OutcomeAnswer(version=1, index=0, happened=False), OutcomeAnswer(version=1, index=0, happened=True))
    await ask(bench, planner, version=2, outcome_answers=words[:1])
    await ask(bench, planner, version=2, outcome_answers=words)
    one, both = planner.contexts
    assert [step.doubtful for step in one.completed] == [True]
    assert len(one.attempts) == 1
    assert [step.doubtful for step in both.completed] == [False]


# --- what it answers


async def test_a_draft_becomes_a_stored_plan_and_short_steps() -> None:
    bench = await prepare_bench()
    event = await ask(bench, Scripted(steps(draft("name", "fill", text="Ada"), draft("help", "follow"))))
    assert (event.verdict, event.final, event.repairs, event.cost) == ("steps", False, 1, Cost(calls=1))
    assert [step.place for step in event.steps] == ["zone", "zone", "replan"]
    plan = await bench.store.plan("run", 1)
    assert plan is not None
    assert [step.zone for step in plan.steps] == ["name", "help", REPLAN]
    assert (plan.parent, plan.observation, len(plan.repairs)) == (None, "o101", 1)


async def test_identity_and_consequence_are_known_where_nothing_before_can_change_them() -> None:
    bench = await prepare_bench()
    fill, submit = draft("name", "fill", text="Ada"), draft("order", "submit", expect=ORDERED)
    alone = (await ask(bench, Scripted(steps(draft("name", "peek"), submit)))).steps[1]
    assert alone.consequence
    assert alone.identity
    behind = (await ask(bench, Scripted(steps(fill, submit)))).steps[1]
    assert (behind.consequence, behind.identity) == ("", "")
    by_call = (await ask(bench, Scripted(steps(fill, ORDER_PENS)))).steps[1]
    assert by_call.consequence, "what is sent is in the call"


@pytest.mark.parametrize("verdict", ["done", "impossible", "gave_up", "refused", "garbage", "transport"])
async def test_an_answer_without_a_plan_says_why(verdict: Any) -> None:
    bench = await prepare_bench()
    event = await ask(bench, Scripted(PlanDraft(verdict=verdict, detail="because", cost=Cost(calls=1, tokens=9))))
    assert (event.verdict, event.detail, event.cost) == (verdict, "because", Cost(calls=1, tokens=9))


async def test_a_plan_of_which_nothing_can_be_done_is_garbage_and_says_why() -> None:
    bench = await prepare_bench()
    event = await ask(bench, Scripted(steps(draft("ghost", "order", item="pens"))))
    assert event.verdict == "garbage"
    assert "zone 'ghost' is not visible" in event.detail
    only = await ask(bench, Scripted(steps(draft(REPLAN))))
    assert only.verdict == "garbage"
    assert (await ask(bench, Scripted(steps()))).verdict == "steps", "nothing at all is an empty plan"


async def test_a_planner_that_hangs_is_unreachable() -> None:
    bench = await prepare_bench()
    event = await ask(bench, Answering(hang), timeout=0.02)
    assert (event.verdict, event.cost) == ("transport", FREE), "an outage uses up no calls"


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (ConnectionRefusedError("no"), "transport"),
        (TimeoutError(), "transport"),
        (ValueError("what?"), "garbage"),
        (RecursionError(), "garbage"),
        (KeyError("choices"), "garbage"),
    ],
)
async def test_a_planner_that_raises_is_paid_for_unless_it_is_away(error: Exception, verdict: str) -> None:
    bench = await prepare_bench()
    event = await ask(bench, Answering(error))
    assert (event.verdict, event.cost) == (verdict, FREE if verdict == "transport" else Cost(calls=1))
    assert event.detail


@pytest.mark.parametrize(
    "nonsense",
    [
        None,
        "done",
        0,
        [],
        {"steps": []},
        PlanDraft,
        unchecked(PlanDraft(), steps=None),
        PlanDraft(verdict="hurrah"),  # pyrefly: ignore[bad-argument-type]
        PlanDraft(steps=("step",)),  # pyrefly: ignore[bad-argument-type]
        PlanDraft(detail="\ud800"),
        PlanDraft(steps=(draft("name", "fill", text=b"bytes"),)),
    ],
    ids=str,
)
async def test_an_invalid_answer_is_garbage(nonsense: Any) -> None:
    bench = await prepare_bench()
    event = await ask(bench, Answering(nonsense))
    assert (event.verdict, event.cost) == ("garbage", Cost(calls=1))


@pytest.mark.slow
async def test_no_generated_garbage_is_accepted() -> None:
    bench = await prepare_bench()
    for seed in range(40):
        planner = Garbage(seed)
        for _ in range(5):
            event = await ask(bench, planner)
            assert event.verdict in ("steps", "done", "impossible", "gave_up", "refused", "garbage", "transport")


async def test_an_observation_that_is_gone_costs_nothing() -> None:
    bench = await prepare_bench()
    event = await ask(bench, Scripted(PlanDraft()), seen="o9")
    assert (event.verdict, event.cost) == ("transport", Cost())


THANKS = Expectation(checks=(TextContains(text="Thank you"),))
THERE = Expectation(checks=(ZoneAppears(label="Help"),))
GONE = Expectation(checks=(ZoneGone(label="Order"),))


async def plan_expecting(expect: Expectation, *, refused: str = "", left: int = 9, skill: str = "submit") -> Planned:
    bench = Bench()
    performer = await bench.prepare()
    await performer.perform(Observe(id=101, timeout=5.0))
    bench.planner = Scripted(steps(draft("order", skill, expect=expect), final=True))
    command = MakePlan(id=201, timeout=5.0, version=1, cause="initial", why="", seen="o101", left=Cost(calls=left))
    planned = await Performer(bench.ports).perform(replace(command, refused=refused))
    assert isinstance(planned, Planned)
    return planned


@pytest.mark.parametrize(("expect", "again"), [(THANKS, False), (THERE, True), (GONE, True)])
async def test_a_step_that_cannot_be_undone_and_that_nothing_could_show_is_planned_once_more(
    expect: Expectation, again: bool
) -> None:
    planned = await plan_expecting(expect)
    assert (planned.verdict == "garbage") is again
    assert ("proves nothing" in planned.detail) is again


async def test_that_is_asked_once_and_not_with_the_last_of_the_budget() -> None:
    for refused, left in (("it could not be used", 9), ("", 2)):
        planned = await plan_expecting(THERE, refused=refused, left=left)
        assert (planned.verdict, planned.repairs) == ("steps", 1)


async def test_an_expectation_that_holds_already_is_dropped_and_reported() -> None:
    bench = Bench()
    await bench.prepare()
    fill = draft("name", "fill", text="Bo", expect=THERE)
    await bench.make_plan(fill, replace(fill, expect=GONE), replace(fill, expect=THERE))
    plan = await bench.store.plan("run", 1)
    assert plan is not None
    assert plan.repairs[0] == "step 1 (fill): dropped expect, a zone 'Help' to appear: it holds already"
    # The third may be compared with another screen than the one that was planned from.
    assert [step.expect for step in plan.steps] == [None, GONE, THERE]
