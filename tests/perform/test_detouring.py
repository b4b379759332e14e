"""The commands PlanTry, JudgeCloseness and PlanRevert: their requests, and how answers are used."""

import asyncio
from dataclasses import replace
from typing import Any, cast

import pytest

from midcourse.domain.budget import Cost
from midcourse.domain.commands import Act, JudgeCloseness, Observe, PlanRevert, PlanTry
from midcourse.domain.detour import Option, Tried
from midcourse.domain.events import ClosenessJudged, RevertPlanned, TryPlanned
from midcourse.domain.expectation import Expectation, SurfaceMatches
from midcourse.domain.plan import REACH, REPLAN
from midcourse.perform import Performer
from midcourse.ports.closeness import Closeness
from midcourse.ports.detour import DetourContext, TryDraft
from midcourse.testing import JudgedBy, ScriptedTries
from tests.harness import ORDER_PENS, Bench, Shop, draft

HELP = Expectation(checks=(SurfaceMatches(pattern="Help"),), says="the help is open")
TRY = PlanTry(id=300, timeout=5.0, version=2, goal=(1, 0), label="1.1", seen="o101", closeness=2.0)
JUDGE = JudgeCloseness(id=300, timeout=5.0, goal=(1, 0), seen="o101")


async def on_the_way(**more: Any) -> Bench:
    """A run whose first plan only says that the help is to be opened."""
    bench = Bench(detour_planner=ScriptedTries(TryDraft(step=draft("name", "peek"))), **more)
    await bench.prepare()
    await bench.make_plan(draft(REACH, expect=HELP))
    return bench


async def perform(bench: Bench, command: Any) -> Any:
    return await Performer(bench.ports).perform(command)


async def asked(answer: Any, **more: Any) -> tuple[TryPlanned, Bench]:
    """The result of this draft, or of what this function does."""

    class Planner:
        async def plan_try(self, context: DetourContext) -> Any:
            return await cast(Any, answer)(context) if callable(answer) else answer

    bench = await on_the_way()
    bench.detour_planner = Planner()
    event = await perform(bench, replace(TRY, **more))
    assert isinstance(event, TryPlanned)
    return event, bench


# --- a step that only says what for


async def test_a_reach_step_is_kept_and_followed_by_a_look() -> None:
    bench = await on_the_way()
    planned = await bench.make_plan(draft(REACH, expect=HELP), draft("order", "nudge"), version=2)
    assert [(step.place, step.skill) for step in planned.steps] == [("reach", "reach"), ("replan", "")]


@pytest.mark.parametrize("detours", [True, False])
async def test_a_reach_step_without_expectation_or_detour_planner_is_dropped(detours: bool) -> None:
    bench = await on_the_way()
    if not detours:
        bench.detour_planner = None
    planned = await bench.make_plan(draft(REACH, expect=None if detours else HELP), draft("name", "peek"), version=2)
    assert [step.skill for step in planned.steps] == ["peek", ""]


async def test_a_reach_step_is_out_of_reach_until_its_expectation_holds() -> None:
    bench = await on_the_way()
    event = await perform(bench, Act(id=300, timeout=5.0, version=1, index=0, seen="o101"))
    assert (event.status, event.reason, event.dispatched) == ("unreachable", "out_of_reach", False)
    assert event.detail == "not here: the help is open"
    assert isinstance(bench.world, Shop)
    bench.world.title = "Help"
    await perform(bench, Observe(id=301, timeout=5.0))
    event = await perform(bench, Act(id=302, timeout=5.0, version=1, index=0, seen="o301"))
    assert (event.status, event.evidence, event.dispatched) == ("ok", "expectation", False)


async def test_a_step_is_done_on_the_zone_where_its_target_was_found() -> None:
    bench = await on_the_way()
    await bench.make_plan(draft("order", "nudge"), version=2)
    event = await perform(bench, Act(id=300, timeout=5.0, version=2, index=0, seen="o102", found="help"))
    assert (event.status, event.dispatched) == ("ok", True)


async def test_nothing_is_sent_if_the_expectation_holds_already() -> None:
    bench = await on_the_way()
    await bench.make_plan(draft("order", "nudge"), version=2)
    event = await perform(bench, Act(id=300, timeout=5.0, version=2, index=0, seen="o102", found=REACH))
    assert (event.status, event.dispatched) == ("ok", False)
    assert isinstance(bench.world, Shop)
    assert bench.world.calls == []


# --- tries


async def test_a_try_is_stored_as_an_act_and_a_look() -> None:
    event, bench = await asked(TryDraft(step=draft("help", "follow", says="Follow it"), options=(Option(name="more"),)))
    assert event.step is not None
    assert (event.verdict, event.step.version, event.options) == ("try", 2, (Option(name="more"),))
    plan = await bench.store.plan("run", 2, 300)
    assert plan is not None
    assert [(step.zone, step.says) for step in plan.steps] == [("help", "Follow it"), (REPLAN, "Look at the result")]
    assert (plan.cause, plan.why, plan.parent) == ("detour", "1.1: a try", 1)


async def test_the_detour_planner_gets_the_full_context() -> None:
    heard: list[DetourContext] = []

    async def listen(context: DetourContext) -> TryDraft:
        heard.append(context)
        return TryDraft(step=draft("help", "follow"))

    _, bench = await asked(listen)
    tried = Tried(
        label="1.1",
        version=2,
        call="c",
        before="f1",
        seen="o101",
        after="f2",
        closeness_before=2.0,
        closeness_after=1.0,
    )
    more: dict[str, Any] = {
        "id": 301,
        "version": 3,
        "label": "1.2",
        "tries": (tried,),
        "hint": Option(name="a menu"),
        "refused": "no",
    }
    await perform(bench, replace(TRY, **more))
    context = heard[1]
    assert context.goal.says == "the help is open"
    assert (context.label, context.closeness, context.refused, context.hint) == (
        "1.2",
        2.0,
        "no",
        Option(name="a menu"),
    )
    assert context.tries[0].step is not None
    assert (context.tries[0].step.skill, context.tries[0].closeness_after) == ("follow", 1.0)
    assert context.undo is None
    await perform(bench, replace(TRY, **(more | {"id": 302, "version": 4, "undo": 2})))
    assert heard[2].undo == heard[2].tries[0]


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (draft("nowhere", "follow"), "zone 'nowhere' is not visible"),
        (draft("help", "fly"), "no such skill"),
        (draft("help", "follow", speed=3), "no such argument"),
        (ORDER_PENS, "order may leave something behind"),
        (draft(REACH, expect=HELP), "detours are off"),
        (draft(REPLAN), "cannot be acted on"),
    ],
)
async def test_impossible_and_irreversible_tries_are_refused(step: Any, why: str) -> None:
    event, bench = await asked(TryDraft(step=step))
    assert (event.verdict, event.step) == ("refused", None)
    assert why in event.detail
    assert await bench.store.plan("run", 2) is None


async def test_invalid_answers_are_garbage_and_late_ones_are_transport_errors() -> None:
    async def late(_context: DetourContext) -> TryDraft:
        await asyncio.sleep(3600)
        raise AssertionError

    async def broken(_context: DetourContext) -> TryDraft:
        raise ValueError("hm")

    async def cut_off(_context: DetourContext) -> TryDraft:
        raise ConnectionError("no route")

    assert (await asked(late, timeout=0.01))[0].verdict == "transport"
    assert (await asked(cut_off))[0].verdict == "transport"
    for answer in (broken, None, "click it", TryDraft(), TryDraft(step=draft("help", "follow"), options=(1,))):  # pyrefly: ignore[bad-argument-type]
        assert (await asked(answer))[0].verdict == "garbage"
    assert (await asked(TryDraft(verdict="gave_up", detail="no idea")))[0].detail == "no idea"


async def test_options_are_few_and_short() -> None:
    many = tuple(Option(name="n" * 500, says="s" * 5000) for _ in range(50))
    event, _ = await asked(TryDraft(step=draft("help", "follow"), options=many))
    assert [(len(option.name), len(option.says)) for option in event.options] == [(60, 200)] * 5


# --- closeness


async def judged(judge: Any, title: str = "Shop") -> ClosenessJudged:
    bench = await on_the_way()
    bench.closeness_judge = judge
    assert isinstance(bench.world, Shop)
    bench.world.title = title
    await perform(bench, Observe(id=299, timeout=5.0))
    event = await perform(bench, replace(JUDGE, seen="o299"))
    assert isinstance(event, ClosenessJudged)
    return event


class Paid:
    def __init__(self, answer: Any) -> None:
        self._answer = answer

    async def judge(self, context: Any) -> Any:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


async def test_a_visible_target_needs_no_judge() -> None:
    event = await judged(Paid(AssertionError("asked")), "Help")
    assert (event.found, event.closeness, event.cost) == (REACH, 10.0, Cost())


async def test_the_closeness_of_a_judge_is_passed_on_with_its_cost() -> None:
    event = await judged(Paid(Closeness(value=3.5, detail="half way", cost=Cost(calls=1))))
    assert (event.closeness, event.found, event.detail, event.cost) == (3.5, "", "half way", Cost(calls=1))


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (ValueError("hm"), "garbage"),
        (None, "garbage"),
        (7, "garbage"),
        (Closeness(value=None), "garbage"),
        (Closeness(value=None, wait=0.0), "transport"),
        (ConnectionError("no route"), "transport"),
    ],
)
async def test_invalid_judgements_have_a_verdict_of_their_own(answer: Any, verdict: str) -> None:
    event = await judged(Paid(answer))
    assert (event.verdict, event.found) == (verdict, "")


async def test_a_judge_alone_cannot_declare_the_target_found() -> None:
    assert (await judged(JudgedBy(lambda seen: 10.0))).found == ""


# --- the way back


async def test_the_previous_text_is_restored() -> None:
    bench = await on_the_way()
    assert isinstance(bench.world, Shop)
    bench.world.typed = "draft"
    planned = await bench.make_plan(draft("name", "fill", text="final"), version=2)
    await bench.act(planned)
    command = PlanRevert(id=301, timeout=5.0, version=3, undo=2, label="1.2", before="o102", seen="o300")
    event = await perform(bench, command)
    assert isinstance(event, RevertPlanned)
    assert event.step is not None
    assert (event.strategy, event.step.skill) == ("restore", "fill")
    plan = await bench.store.plan("run", 3)
    assert plan is not None
    assert (plan.steps[0].arguments, plan.why) == ((("text", "draft"),), "1.2: back, restore")
    again = await perform(bench, replace(command, id=302, tried=("restore",)))
    assert again.strategy == "key", "the next way"
    none = await perform(bench, replace(command, id=303, tried=("restore", "key")))
    assert (none.strategy, none.step) == (None, None)
