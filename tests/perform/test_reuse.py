"""Runs reuse segments that worked: without the planner, with their own inputs, and only while steps succeed."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from midcourse.agent.agent import Agent
from midcourse.config.settings import Settings
from midcourse.domain.argument import Pairs, Reference
from midcourse.domain.commands import Finish, MakePlan, Observe
from midcourse.domain.events import Planned
from midcourse.domain.expectation import Condition, Expectation, Probe, SurfaceMatches, TextContains, ZoneHasState
from midcourse.domain.observation import Zone
from midcourse.domain.plan import REPLAN, Draft, PlanVersion, Reused, Step, Target
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.records.plan_cache import KeptSegment
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.perform import Performer
from midcourse.perform.reuse import keep_what_worked
from midcourse.ports.approver import Approver
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import Approves, FakeClock, MemoryPlanCache, MemoryStore, Rejects
from midcourse.worlds.base import BaseWorld, Outcome, Scene, failed, probe, skill
from tests.harness import Bench

ADA: Pairs = (("customer", "C-4711"), ("subject", "Lamp hums"))
EVE: Pairs = (("customer", "C-0002"), ("subject", "Chair squeaks"))

SHOWN = Expectation(checks=(TextContains(text="Ticket of"),))


class Desk(BaseWorld):
    """Two screens: a form that is sent, and what was sent. `stored` is its own record."""

    def __init__(self, *, button: str = "Send", news: str = "", deaf: int = 0, ends: str = "Thank you") -> None:
        super().__init__()
        self.values = {"customer": "", "subject": ""}
        self.stored: list[dict[str, str]] = []
        self.sent = False
        self.button, self.news, self.deaf, self.ends = button, news, deaf, ends

    def look(self) -> Scene:
        if self.sent:
            return Scene(self.ends, Zone(id="t", role="text", label=f"Ticket of {self.values['customer']}"))
        fields = (Zone(id=n, role="textbox", label=n.title(), state=(("value", v),)) for n, v in self.values.items())
        news = (Zone(id="n", role="alert", label=self.news),) if self.news else ()
        return Scene("New ticket", *fields, Zone(id="s", role="button", label=self.button), *news)

    @skill
    def write(self, zone: Zone, text: str) -> Outcome | None:
        if self.deaf:
            self.deaf -= 1
            return None
        self.values[zone.id] = text
        return None

    @skill(effect="irreversible", commit_set="form", transition=True)
    def send(self, zone: Zone) -> Outcome | None:
        if not all(self.values.values()):
            return failed("incomplete", "something is missing")
        self.stored.append(dict(self.values))
        self.sent = True
        return None

    def form(self, zone: Zone) -> dict[str, str]:
        return dict(self.values)

    @probe
    def is_stored(self) -> bool:
        return bool(self.stored)


class Blank(Desk):
    """After sending, the form is there again as if nothing had happened."""

    def look(self) -> Scene:
        if self.sent:
            self.values, self.sent = dict.fromkeys(self.values, ""), False
        return super().look()


class Clerk:
    """Knows both screens. `calls` counts: it stands for a model."""

    def __init__(self, *, literal: bool = True, final: bool = False, expects: bool = True) -> None:
        self.calls: list[PlanningContext] = []
        self.literal, self.final, self.expects = literal, final, expects

    async def plan(self, context: PlanningContext) -> PlanDraft:
        self.calls.append(context)
        seen, given = context.observation, dict(context.task.inputs)
        if seen.surface.title != "New ticket" or any(step.irreversible for step in context.completed):
            return PlanDraft(verdict="done")
        writes = [self._write(name, str(given[name])) for name in ("customer", "subject")]
        sent = Expectation(checks=(SurfaceMatches(pattern="Thank you"), TextContains(text=str(given["customer"]))))
        send = Draft(
            zone="s",
            skill="send",
            expect=sent if self.expects else None,
            probe=Probe(name="is_stored"),
            says=f"Send it for {given['customer']}",
        )
        if self.final:
            return PlanDraft(steps=(*writes, send), final=True)
        return PlanDraft(steps=(*writes, send, Draft(zone=REPLAN)), final=False)

    def _write(self, name: str, value: str) -> Draft:
        expect = Expectation(checks=(ZoneHasState(label=name.title(), state="value", value=value),))
        text = value if self.literal else Reference(source="input", name=name)
        return Draft(zone=name, skill="write", arguments=(("text", text),), expect=expect)


@dataclass
class Office:
    """Many runs of one task, and what is kept in between."""

    kept: Any = field(default_factory=MemoryPlanCache)
    store: MemoryStore = field(default_factory=MemoryStore)
    clerk: Clerk = field(default_factory=Clerk)

    async def run(
        self,
        inputs: Pairs,
        world: Desk | None = None,
        *,
        approver: Approver | None = None,
        goal: str = "Report it",
        done_when: Condition | None = SHOWN,
        **settings: str,
    ) -> Result:
        self.world, self.clerk.calls = world or Desk(), []
        chosen = Settings.load(overrides={"reuse": "on", **settings})
        agent = Agent(
            world=self.world,
            planner=self.clerk,
            approver=approver or Approves(),
            settings=chosen,
            store=self.store,
            clock=FakeClock(),
            segments=self.kept,
        )
        return await agent.run(Task(goal=goal, inputs=inputs, done_when=done_when, limits=chosen.limits()))

    async def plans(self, result: Result) -> tuple[PlanVersion, ...]:
        return await self.store.plans(result.run)


# --- it works


@pytest.mark.parametrize("literal", [True, False])
@pytest.mark.parametrize("final", [True, False])
async def test_a_second_run_needs_no_planner_and_sends_its_own_inputs(literal: bool, final: bool):
    office = Office(clerk=Clerk(literal=literal, final=final))
    first = await office.run(ADA)
    assert (first.final_reason, first.reused, first.planner_calls) == ("goal_reached", 0, 1)
    second = await office.run(EVE)
    assert office.world.stored == [{"customer": "C-0002", "subject": "Chair squeaks"}]
    assert (second.final_reason, second.verified) == ("goal_reached", True)
    assert (second.reused, second.planner_calls, second.budget.calls) == (1, 0, 0)
    assert office.clerk.calls == []


async def test_the_plan_says_what_it_was_made_from():
    office = Office()
    first = await office.run(ADA)
    (plan,) = await office.plans(await office.run(EVE))
    assert plan.reused is not None
    assert (plan.reused.run, plan.reused.version) == (first.run, 1)
    assert plan.steps[0].arguments == (("text", Reference(source="input", name="customer")),)
    assert plan.steps[2].says == "Send it for C-0002"
    assert plan.repairs == ()


async def test_reuses_of_a_segment_are_counted():
    office = Office()
    for inputs in (ADA, EVE, ADA):
        await office.run(inputs)
    assert {segment.worked for segment in await office.kept.all()} == {3}


async def test_approvals_are_asked_for_as_usual():
    office = Office()
    await office.run(ADA)
    refused = await office.run(EVE, approver=Rejects())
    assert (refused.final_reason, refused.reused) == ("rejected", 1)
    assert office.world.stored == []
    asked = Approves()
    await office.run(EVE, approver=asked)
    assert asked.questions[0].consequences[0].commit.values == (("customer", "C-0002"), ("subject", "Chair squeaks"))


async def test_with_reuse_off_nothing_is_kept_or_reused():
    office = Office()
    await office.run(ADA, reuse="off")
    assert await office.kept.all() == ()
    await office.run(ADA)
    result = await office.run(EVE, reuse="off")
    assert (result.reused, result.planner_calls) == (0, 1)


# --- what is kept


async def test_an_unverified_run_keeps_no_segments():
    office = Office(clerk=Clerk(final=True))
    result = await office.run(ADA, done_when=None)
    assert (result.success, result.verified) == (True, False)
    assert await office.kept.all() == ()


async def test_nothing_of_the_inputs_is_kept():
    office = Office()
    await office.run(ADA)
    segments: tuple[KeptSegment, ...] = await office.kept.all()
    assert {segment.title for segment in segments} == {"New ticket", "Thank you"}
    assert not any(str(value) in repr(segments) for _, value in ADA)


async def test_a_segment_with_an_argument_of_its_own_is_not_kept():
    office = Office()
    office.clerk._write = lambda name, value: Draft(zone=name, skill="write", arguments=(("text", f"{value}!"),))
    result = await office.run(ADA)
    assert result.verified
    assert [segment.title for segment in await office.kept.all()] == ["Thank you"]


async def test_a_run_with_guidance_keeps_no_segments():
    office = Office()
    clerk, guided = office.clerk, asyncio.Event()

    class Slow(Clerk):
        async def plan(self, context: PlanningContext) -> PlanDraft:
            guided.set()
            await asyncio.sleep(0)
            return await clerk.plan(context)

    settings = Settings.load(overrides={"reuse": "on"})
    agent = Agent(
        world=Desk(),
        planner=Slow(),
        approver=Approves(),
        settings=settings,
        store=office.store,
        clock=FakeClock(),
        segments=office.kept,
    )
    run = agent.start(Task(goal="Report it", inputs=ADA, done_when=SHOWN, limits=settings.limits()))
    await guided.wait()
    run.guide("Be quick about it")
    assert (await run.result()).verified
    assert await office.kept.all() == ()


async def test_a_segment_whose_expectation_was_not_met_is_not_kept():
    """It worked, but not as it was expected to: the next run would have to find out again."""
    office = Office()
    assert (await office.run(ADA, Desk(ends="Sent"))).verified
    assert [segment.title for segment in await office.kept.all()] == ["Sent"]


async def test_steps_of_a_detour_are_not_kept():
    office = Office()
    result = await office.run(ADA)
    (plan,) = await office.plans(result)
    aside = replace(plan, version=2, cause="detour", steps=tuple(replace(step, version=2) for step in plan.steps))
    await office.store.save_plan(result.run, aside)
    for entry in await office.store.ledger(result.run):
        await office.store.write_ledger(result.run, replace(entry, command=100 + entry.command, version=2))
    run, task = await office.store.load(result.run)
    kept = MemoryPlanCache()
    ports = replace(Bench(task=task, store=office.store).ports, run_id=run.id, segments=kept)
    await keep_what_worked(ports, Finish(id=1, reason="goal_reached", detail="", verified=True), run)
    assert {one.id for one in await kept.all()} == {one.id for one in await office.kept.all()}


# --- another task, another page


@pytest.mark.parametrize("changed", [{"inputs": EVE, "goal": "Report"}, {"inputs": (*EVE, ("priority", "High"))}])
async def test_another_task_is_planned(changed: dict[str, Any]):
    office = Office()
    await office.run(ADA)
    result = await office.run(**changed)
    assert (result.reused, result.planner_calls) == (0, 1)


async def test_a_changed_page_is_planned_by_the_planner():
    office = Office()
    await office.run(ADA)
    result = await office.run(EVE, Desk(news="The desk is closed tomorrow"))
    assert (result.verified, result.reused, result.planner_calls) == (True, 0, 1)
    again = await office.run(ADA, Desk(news="The desk is closed tomorrow"))
    assert (again.reused, again.planner_calls) == (1, 0)


async def test_an_input_that_no_step_passes_on_may_have_decided():
    office = Office()
    await office.run((*ADA, ("express", True)))
    same = await office.run((*EVE, ("express", True)))
    other = await office.run((*EVE, ("express", False)))
    assert (same.planner_calls, other.planner_calls) == (0, 1)


async def test_the_same_screen_before_and_after_are_two_situations():
    office = Office(clerk=Clerk(expects=False))
    stored = Probe(name="is_stored")
    first = await office.run(ADA, Blank(), done_when=stored)
    assert (first.verified, first.planner_calls, len(await office.kept.all())) == (True, 2, 2)
    second = await office.run(EVE, Blank(), done_when=stored)
    assert (second.verified, second.planner_calls, second.reused) == (True, 0, 2)
    assert office.world.stored == [{"customer": "C-0002", "subject": "Chair squeaks"}]


async def test_values_that_a_page_shows_by_itself_do_not_prevent_reuse():
    office = Office()
    await office.run(ADA, Desk(news="Known customers: C-4711, C-0002"))
    result = await office.run(EVE, Desk(news="Known customers: C-4711, C-0002"))
    assert (result.verified, result.planner_calls) == (True, 0)


# --- when it is offered


async def asked(
    office: Office, *, before: PlanVersion | None = None, entry: LedgerEntry | None = None, **more: Any
) -> bool:
    """Whether the planner is asked for this plan, in a run that stands before the form."""
    task = Task(goal="Report it", inputs=EVE, done_when=SHOWN)
    ports = replace(Bench(world=Desk(), planner=office.clerk, task=task).ports, segments=office.kept)
    await ports.store.begin(Run(id="run", has_done_when=True), task)
    office.clerk.calls = []
    await Performer(ports).perform(Observe(id=100, timeout=5.0))
    if before is not None:
        await ports.store.save_plan("run", before)
    if entry is not None:
        await ports.store.write_ledger("run", entry)
    usual: dict[str, Any] = {"id": 101, "timeout": 5.0, "version": 2, "cause": "adaptive", "why": "", "seen": "o100"}
    planned = await Performer(ports).perform(MakePlan(**{**usual, **more}))
    assert isinstance(planned, Planned)
    assert planned.reused is not bool(office.clerk.calls)
    return bool(office.clerk.calls)


@pytest.fixture
async def taught() -> Office:
    office = Office()
    await office.run(ADA)
    return office


async def test_a_segment_is_offered_at_the_start_and_at_every_transition(taught: Office):
    assert not await asked(taught)
    assert not await asked(taught, cause="initial", version=1)


@pytest.mark.parametrize(
    "more",
    [
        {"cause": "error"},
        {"cause": "guided"},
        {"cause": "reopened"},
        {"refused": "step 1 failed before"},
        {"guidance": ("Rather not",)},
        {"stale": True},
        {"beyond": True},
    ],
)
async def test_the_planner_is_asked_in_situations_that_need_it(taught: Office, more: dict[str, Any]):
    assert await asked(taught, **more)


def written(segment: KeptSegment | None = None) -> PlanVersion:
    step = Step(
        version=1,
        index=0,
        zone="customer",
        skill="write",
        target=Target(surface="New ticket", role="textbox", label="Customer"),
    )
    reused = Reused(segment=segment.id, run="r", version=1) if segment else None
    return PlanVersion(
        version=1, parent=None, cause="initial", why="", observation="o100", final=False, steps=(step,), reused=reused
    )


async def form_of(taught: Office) -> KeptSegment:
    return next(one for one in await taught.kept.all() if one.steps)


async def test_a_segment_is_offered_once_in_a_run(taught: Office):
    assert await asked(taught, before=written(await form_of(taught)))
    assert not await asked(taught, before=written())


async def test_a_segment_that_failed_in_the_run_is_not_offered(taught: Office):
    entry = LedgerEntry(command=7, version=1, index=0, call="", outcome=Outcome(status="failed", reason="deaf"))
    assert await asked(taught, before=written(), entry=entry)
    assert not await asked(taught, before=written(), entry=replace(entry, outcome=Outcome()))


async def test_a_refused_segment_is_dropped(taught: Office):
    form = await form_of(taught)
    assert await asked(taught, before=written(form), version=1, refused="it is finished already")
    assert form not in await taught.kept.all()


# --- what fails is dropped


async def test_a_failed_segment_is_dropped_at_once_and_planned_instead():
    office = Office()
    await office.run(ADA)
    result = await office.run(EVE, Desk(deaf=1), max_step_retries="0")
    assert result.verified
    assert office.world.stored == [{"customer": "C-0002", "subject": "Chair squeaks"}]
    assert [context.cause for context in office.clerk.calls] == ["error"]
    assert [plan.reused is not None for plan in await office.plans(result)] == [True, False]


async def test_a_segment_is_dropped_at_its_first_failure_however_the_run_ends():
    office = Office()
    await office.run(ADA)
    broken = Desk(deaf=99)
    result = await office.run(EVE, broken, max_step_retries="0", max_error_replans="0")
    assert not result.success
    assert [segment.title for segment in await office.kept.all()] == ["Thank you"]
    assert (await office.run(EVE)).planner_calls == 1


async def test_a_wrong_done_is_dropped_and_planned_instead():
    office = Office()
    await office.run(ADA)
    done = next(one for one in await office.kept.all() if not one.steps)
    form = next(one for one in await office.kept.all() if one.steps)
    await office.kept.keep(replace(done, id="wrong", surface=form.surface, after=0, worked_at=9e9))
    result = await office.run(EVE)
    assert (result.verified, office.world.stored) == (True, [{"customer": "C-0002", "subject": "Chair squeaks"}])
    assert [context.cause for context in office.clerk.calls] == ["error"]
    assert "wrong" not in {segment.id for segment in await office.kept.all()}


async def test_a_situation_with_two_different_plans_is_not_reused():
    """The same screen twice in a run, and each time something else was done: nothing tells which."""

    class Fickle(Clerk):
        async def plan(self, context: PlanningContext) -> PlanDraft:
            answer = await super().plan(context)
            if len(self.calls) == 1:
                idle = Draft(
                    zone="customer", skill="write", arguments=(("text", Reference(source="input", name="no")),)
                )
                return PlanDraft(steps=(idle, Draft(zone=REPLAN)), final=False)
            return answer

    office = Office(clerk=Fickle())
    blank = (*ADA, ("no", ""))
    assert (await office.run(blank)).verified
    assert [segment.title for segment in await office.kept.all()] == ["Thank you"]


# --- reuse never fails a run


class Broken(MemoryPlanCache):
    def __init__(self, trouble: Exception) -> None:
        super().__init__()
        self._trouble = trouble

    async def find(self, task: str, surface: str) -> tuple[KeptSegment, ...]:
        raise self._trouble

    async def keep(self, *segments: KeptSegment) -> None:
        raise self._trouble


@pytest.mark.parametrize("trouble", [ConnectionError("it is away"), TimeoutError(), ValueError("it is no segment")])
async def test_without_a_readable_plan_cache_the_planner_is_asked(trouble: Exception):
    office = Office(kept=Broken(trouble))
    result = await office.run(ADA)
    assert (result.verified, result.planner_calls) == (True, 1)
