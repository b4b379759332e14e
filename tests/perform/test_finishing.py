"""The commands CheckDone and Finish: whether the task is done, and the result."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from midcourse.domain.budget import Cost
from midcourse.domain.commands import CheckDone, Finish
from midcourse.domain.events import DoneChecked
from midcourse.domain.expectation import Condition, Expectation, Probe, TextContains
from midcourse.domain.observation import Unseen, Zone
from midcourse.domain.outcome import Outcome
from midcourse.domain.skill import Parameter
from midcourse.domain.task import Task
from midcourse.perform import Performer
from midcourse.ports.planner import PlanDraft
from midcourse.testing import Scripted
from midcourse.worlds.base import probe, skill
from tests.harness import ORDER_PENS, ORDERED, Bench, Shop, draft, steps

THANKED = Expectation(checks=(TextContains(text="Thank you"),))
FOUND = Probe(name="ordered")


async def check(bench: Bench, condition: Condition | None, **more: Any) -> DoneChecked:
    bench.task = replace(bench.task, done_when=condition)
    fields: dict[str, Any] = {"id": 8, "timeout": 5.0, "seen": "o101"}
    event = await Performer(bench.ports).perform(CheckDone(**(fields | more)))
    assert isinstance(event, DoneChecked)
    return event


async def seen(**more: Any) -> tuple[Bench, Shop]:
    shop = Shop()
    bench = Bench(world=shop, **more)
    await bench.prepare()
    return bench, shop


async def test_what_was_seen_last_decides() -> None:
    bench, shop = await seen()
    await bench.make_plan(draft("name", "peek"))
    assert (await check(bench, THANKED)).verdict == "unmet"
    shop.title = "Thank you"
    assert (await check(bench, THANKED)).verdict == "unmet", "there was no second look"
    looked = await check(bench, THANKED, look=True)
    assert looked.verdict == "met"
    assert looked.seen is not None


async def test_a_look_is_charged_only_if_taken() -> None:
    bench, _ = await seen()
    bench.with_limits(look_calls=2)
    await bench.make_plan(draft("name", "peek"))
    assert (await check(bench, THANKED)).cost == Cost()
    assert (await check(bench, THANKED, look=True)).cost == Cost(calls=2)


async def test_a_goal_that_cannot_be_checked_is_undecided() -> None:
    bench, shop = await seen()
    await bench.make_plan(draft("name", "peek"))
    assert (await check(bench, None)).verdict == "undecided"
    assert (await check(bench, Expectation(says="it feels right"))).verdict == "undecided"
    assert (await check(bench, THANKED, seen="")).verdict == "undecided"
    shop.unseen = [Unseen(reason="failed", detail="black")]
    failed = await check(bench, THANKED, look=True)
    assert (failed.verdict, failed.detail) == ("undecided", "black")


async def test_a_probe_decides() -> None:
    bench, shop = await seen()
    assert (await check(bench, FOUND)).verdict == "unmet"
    shop.orders.append("pens")
    assert (await check(bench, FOUND)).verdict == "met"
    shop.findings = [None]
    assert (await check(bench, FOUND)).verdict == "undecided"


async def test_a_probe_that_cannot_tell_because_the_world_is_gone_is_asked_again() -> None:
    bench, shop = await seen()
    shop.findings = [None]
    shop.unseen = [Unseen(reason="world_lost", detail="gone")]
    lost = await check(bench, FOUND)
    assert (lost.verdict, lost.detail) == ("world_lost", "the probe 'ordered' could not be asked: the world is gone")


async def test_absence_counts_once_the_probe_has_settled_after_the_last_act() -> None:
    bench, _ = await seen()
    await bench.act(await bench.make_plan(draft("order", "nudge")))
    patient = replace(FOUND, settles_after=10.0)
    early = await check(bench, patient)
    assert (early.verdict, early.seconds) == ("too_early", 10.0)
    bench.clock.advance(10.0)
    assert (await check(bench, patient)).verdict == "unmet"


async def test_a_probe_that_hangs_or_fails_is_undecided() -> None:
    class Slow(Shop):
        async def probe(self, name: str, arguments: Any) -> Any:
            await asyncio.sleep(60)

    bench = Bench(world=Slow())
    await bench.prepare()
    event = await asyncio.wait_for(check(bench, FOUND, timeout=0.02), 2.0)
    assert event.verdict == "undecided"


async def test_a_probe_of_a_secret_without_value_is_undecided() -> None:
    bench, _ = await seen()
    assert (await check(bench, Probe(name="no such probe"))).verdict == "undecided"


# --- the end


@pytest.mark.parametrize("trouble", ["raises", "hangs"])
async def test_a_world_that_does_not_close_does_not_keep_the_run_from_ending(trouble: str) -> None:
    class Clinging(Shop):
        async def close(self) -> None:
            if trouble == "raises":
                raise RuntimeError("never")
            await asyncio.sleep(60)

    bench = Bench(world=Clinging()).with_limits(look_timeout_seconds=0.05)
    result = await asyncio.wait_for(bench.run(), 5.0)
    assert result.final_reason == "plan_complete"


async def test_the_result_says_what_was_done_and_what_was_not() -> None:
    shop = Shop()
    bench = Bench(
        world=shop,
        planner=Scripted(
            steps(draft("name", "fill", "Fill in", text="Ada"), draft("name", "peek", "Read"), ORDER_PENS)
        ),
        task=Task(
            goal="order pens",
            output=(
                Parameter(name="seen"),
                Parameter(name="total", type="number"),
                Parameter(name="note", required=False),
            ),
            done_when=ORDERED,
        ),
    )
    result = await bench.run()
    assert (result.success, result.verified, result.final_reason) == (True, True, "goal_reached")
    assert [step.says for step in result.completed] == ["Fill in", "Read", "order Order"]
    assert result.completed[-1].irreversible
    assert (result.steps, result.executions, result.planner_calls, result.replans) == (3, 3, 1, 0)
    assert result.data == (("seen", "Ada"),)
    assert result.missing == ("total",)
    assert result.budget.calls == 1
    assert shop.orders == ["pens"]


@pytest.mark.parametrize(("finds", "verified"), [(True, True), (False, False), (None, False)])
async def test_without_done_when_the_probe_of_the_last_effect_verifies_it_at_the_end(
    finds: bool | None, verified: bool
) -> None:
    shop = Shop()
    shop.findings = [finds]
    bench = Bench(world=shop)
    result = await bench.run()
    assert (result.success, result.verified, result.final_reason) == (True, verified, "plan_complete")
    assert shop.orders == ["pens"], "looking sends nothing"
    assert not shop.findings, "it was asked once"


async def test_a_probe_that_fails_at_the_end_changes_nothing() -> None:
    class Deaf(Shop):
        async def probe(self, name: str, arguments: Any) -> Any:
            raise RuntimeError("no answer")

    result = await Bench(world=Deaf()).run()
    assert (result.success, result.verified, result.final_reason) == (True, False, "plan_complete")


async def test_a_probe_of_the_author_is_not_asked_again_at_the_end() -> None:
    shop = Shop()
    shop.findings = [True]
    result = await Bench(world=shop, planner=WrittenByTheAuthor(steps(ORDER_PENS))).run()
    assert (result.success, shop.findings) == (True, [True])


async def test_an_undecided_doubt_is_in_the_result() -> None:
    shop = Shop()
    shop.on_order = lambda item: Outcome(status="unknown")
    shop.findings = [None]
    result = await Bench(world=shop).run()
    assert (result.success, result.final_reason) == (False, "needs_human")
    assert [(step.skill, step.doubtful) for step in result.completed] == [("order", True)]


async def test_finishing_twice_is_the_same() -> None:
    bench = Bench()
    first = await bench.run()
    await Performer(bench.ports).perform(
        Finish(id=99, reason=first.final_reason, detail=first.final_detail, verified=first.verified)
    )
    assert await bench.result() == first


# --- verified, claimed or contradicted


class Listed(Shop):
    """Its own orders are found by `listed`, which nobody declared for a skill: only a planner can name it."""

    @skill(effect="irreversible", commit_set="form", transition=True)
    def submit(self, zone: Zone) -> Outcome | None:
        self.orders.append(self.typed)
        return Outcome(status="unknown", reason="http_504")

    @probe(looks_for="text")
    def listed(self, text: str) -> bool:
        return text in ("old", *self.orders)


class WrittenByTheAuthor(Scripted):
    given = True


def order_and_probe(text: str, *, typed: str = "pens") -> tuple[Any, ...]:
    submit = draft("order", "submit", probe=Probe(name="listed", arguments=(("text", text),)))
    return steps(draft("name", "fill", text=typed), submit, final=False), PlanDraft(verdict="done")


async def test_a_planner_that_does_nothing_only_claims() -> None:
    bench = Bench(planner=Scripted(PlanDraft(verdict="done"), PlanDraft(verdict="done", detail="I have ordered them")))
    result = await bench.run()
    assert (result.success, result.verified, result.sending) == (True, False, "nothing")
    run, _ = await bench.store.load("run")
    assert not run.verified


async def test_a_task_that_must_send_something_fails_if_nothing_was_sent() -> None:
    done = PlanDraft(verdict="done", detail="I have ordered them")
    bench = Bench(planner=Scripted(done, done), task=Task(goal="order pens", sends=True))
    result = await bench.run()
    assert (result.success, result.verified, result.final_reason) == (False, False, "contradicted")
    assert result.final_detail == "the task must send something, and nothing was sent"
    run, _ = await bench.store.load("run")
    assert (run.phase.kind, getattr(run.phase, "reason", "")) == ("ended", "contradicted"), "lists show the same end"


async def test_the_probe_of_a_skill_verifies() -> None:
    shop = Shop()
    shop.on_order = lambda item: shop.orders.append(item) or Outcome(status="unknown", reason="http_504")
    result = await Bench(world=shop, planner=Scripted(steps(draft("order", "order", item="pens")))).run()
    assert (result.final_reason, result.verified, result.sending) == ("plan_complete", True, "effects")
    assert shop.orders == ["pens"]


async def test_what_a_planner_names_for_a_probe_verifies_only_if_its_request_brought_it() -> None:
    good = await Bench(world=Listed(), planner=Scripted(*order_and_probe("pens"))).run()
    assert (good.success, good.verified) == (True, True)
    there_before = await Bench(world=Listed(), planner=Scripted(*order_and_probe("old"))).run()
    assert (there_before.success, there_before.verified) == (True, False), "the probe finds what was never sent"
    shown = Listed()
    shown.zones = [Zone(id="last", role="row", label="pens, in the basket")]
    on_the_page = await Bench(world=shown, planner=Scripted(*order_and_probe("pens"))).run()
    assert (on_the_page.success, on_the_page.verified) == (True, False)


async def test_a_probe_in_a_plan_that_the_author_of_the_task_wrote_verifies() -> None:
    result = await Bench(world=Listed(), planner=WrittenByTheAuthor(*order_and_probe("old"))).run()
    assert result.verified


async def test_done_after_an_order_that_did_not_happen_is_contradicted() -> None:
    shop = Shop()
    shop.on_order = lambda item: Outcome(status="no_effect", reason="sold_out", detail="no pens left", evidence="rule")
    order, done = steps(draft("order", "order", item="pens")), PlanDraft(verdict="done")
    result = await Bench(world=shop, planner=Scripted(order, done)).run()
    assert shop.orders == []
    assert (result.success, result.final_reason) == (False, "contradicted")
    assert result.final_detail == "what was sent last, 'order Order', did not happen (no pens left)"


async def test_a_met_condition_is_believed_although_the_last_request_was_refused() -> None:
    shop = Shop()

    def order_and_refuse(item: str) -> Outcome:
        shop.orders.append(item)
        return Outcome(status="no_effect", reason="sold_out", evidence="rule")

    shop.on_order = order_and_refuse
    planner = Scripted(steps(draft("order", "order", item="pens")), PlanDraft(verdict="done"))
    result = await Bench(world=shop, planner=planner, task=Task(goal="order pens", done_when=FOUND)).run()
    assert (result.success, result.verified, result.final_reason) == (True, True, "goal_reached")
