"""Sample records for the conformance suite of stores, with scalars of every type."""

from dataclasses import replace
from typing import TypeAlias

from midcourse.domain import commands, events, moves, phases
from midcourse.domain.approval import CommitSet, Consequence
from midcourse.domain.argument import Reference
from midcourse.domain.budget import FREE, Cost, Limits
from midcourse.domain.expectation import Expectation, Probe, TextContains, ZoneHasState
from midcourse.domain.failure import FailedStep
from midcourse.domain.observation import Observation, ObservationRef, Surface, Zone
from midcourse.domain.outcome import CompletedStep
from midcourse.domain.plan import PlannedStep, PlanVersion, Step, Target
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.result import BudgetUsed, Result
from midcourse.domain.run import Issued, Run
from midcourse.domain.skill import Parameter
from midcourse.domain.task import Task
from midcourse.ports.store import JournalRow

Turn: TypeAlias = tuple[Run, events.Event, tuple[commands.Command, ...]]

TASK = Task(
    goal="Order 3 × “Blue pens”",
    world="shop",
    inputs=(("item", "Blue pens"), ("count", 3), ("express", True), ("discount", 0.5), ("note", None)),
    output=(Parameter(name="order", type="string"),),
    done_when=Expectation(checks=(TextContains(text="Thank you"),), says="the order is confirmed"),
    secrets=("card",),
    limits=Limits(max_calls=7, max_tokens=1000),
)

TARGET = Target(surface="Shop", role="button", label="Place order")

PLANNED = PlannedStep(version=1, index=0, place="zone", skill="click", effect="irreversible", consequence="c1")

PLAN = PlanVersion(
    version=1,
    parent=None,
    cause="initial",
    why="",
    observation="o1",
    final=False,
    steps=(
        Step(
            version=1,
            index=0,
            zone="z1",
            skill="type",
            arguments=(("text", Reference(source="secret", name="card")), ("times", 2), ("slowly", False)),
            target=TARGET,
            effect="irreversible",
            transition=True,
            expect=Expectation(checks=(ZoneHasState(state="checked", value=True),)),
            probe=Probe(name="order_exists", arguments=(("item", Reference(source="input", name="item")),)),
            says="Pay",
        ),
    ),
    repairs=("__replan__ inserted after step 0",),
)


def _row(place: int, amount: int) -> Zone:
    return Zone(
        id=f"r{place}", role="row", label=f"Row {place}", bounds=(0, 20 * place, 400, 18), state=(("n", amount),)
    )


OBSERVATION = Observation(
    id="o1",
    surface=Surface(title="Shop", address="https://shop.test/cart", origin="https://shop.test"),
    zones=(
        Zone(id="z1", role="button", label="Place order", bounds=(1, 2, 3, 4), state=(("enabled", True),)),
        Zone(
            id="z2", role="textbox", label="Straße", state=(("value", ""), ("width", 1.0), ("max", 1), ("hint", None))
        ),
    ),
    fingerprint="f1",
    screenshot="abc",
)

LONG_PAGES = tuple(
    replace(OBSERVATION, id=f"o{number}", zones=tuple(_row(place, place * (number % 3)) for place in range(number, 40)))
    for number in range(2, 6)
)
"""Observations that are alike in part."""

CONSEQUENCE = Consequence(
    skill="click",
    arguments=(("text", Reference(source="secret", name="card")),),
    effect="irreversible",
    target=TARGET,
    origin="https://shop.test",
    commit=CommitSet(values=(("item", "Blue pens"), ("count", 3)), address="https://shop.test/order"),
)

ENTRY = LedgerEntry(command=3, version=1, index=0, call="a1", identity="i1", dispatched_at=12.5)


def new_run(run_id: str) -> Run:
    return Run(id=run_id, limits=TASK.limits, has_done_when=True)


def turns(run_id: str) -> tuple[Turn, ...]:
    """A short run: it looks, plans, asks a person and ends."""
    look = commands.Observe(id=1, timeout=60.0)
    seen = ObservationRef(id="o1", fingerprint="f1", zones=2, surface="Shop")
    make_plan = commands.MakePlan(
        id=2, timeout=120.0, version=1, cause="initial", why="", seen="o1", left=Cost(calls=7)
    )
    ask_person = commands.AskPerson(
        id=3, about="approve", steps=(commands.AskedStep(version=1, index=0, consequence="c1"),), expires_at=99.0
    )
    finish = commands.Finish(id=4, reason="rejected", detail="a person said no", verified=False)
    ask = moves.Ask(about="approve", steps=(PLANNED,), purpose="segment", then=moves.Advance())
    looking = replace(
        new_run(run_id),
        seq=1,
        next_id=2,
        started_at=10.0,
        now=10.0,
        phase=phases.Looking(then=moves.Look(then=moves.Plan(cause="initial"))),
        pending=(Issued(command=look, reserved=Cost(calls=1), at=10.0),),
    )
    planning = replace(
        looking, seq=2, next_id=3, now=11.0, phase=phases.Planning(asked=moves.AskPlanner(cause="initial")), seen=seen
    )
    asking = replace(
        planning,
        seq=3,
        next_id=4,
        now=12.0,
        phase=phases.Asking(about="approve", steps=(PLANNED,), purpose="segment", question=3, then=ask),
        pending=(Issued(command=ask_person),),
    )
    ended = replace(
        asking, seq=4, next_id=5, now=13.0, phase=phases.Ended(reason="rejected", detail="a person said no"), pending=()
    )
    return (
        (looking, events.Started(at=10.0), (look,)),
        (planning, events.Observed(answers=1, at=11.0, seen=seen), (make_plan,)),
        (asking, events.Observed(answers=2, at=12.0, reason="empty"), (ask_person, look)),
        (ended, events.ApprovalDecided(question=3, at=13.0, verdict="rejected", guidance="no"), (finish,)),
    )


def result(run_id: str) -> Result:
    return Result(
        run=run_id,
        goal=TASK.goal,
        success=False,
        verified=False,
        final_reason="rejected",
        final_detail="a person said no",
        replans=1,
        extensions=1,
        steps=1,
        executions=1,
        planner_calls=1,
        wall_seconds=3.25,
        completed=(CompletedStep(version=1, index=0, skill="click", target="Cart", says="Open the cart"),),
        attempts=(
            FailedStep(
                version=1, index=1, skill="click", target="Pay", arguments=(("n", 1),), reason="timeout", detail="slow"
            ),
        ),
        budget=BudgetUsed(
            calls=1,
            max_calls=7,
            segments=1,
            max_segments=20,
            replans=0,
            max_replans=5,
            error_replans=0,
            max_error_replans=3,
            tokens=10,
            max_tokens=1000,
            cost_usd=0.01,
            max_cost_usd=None,
            wall_seconds=3.25,
            max_wall_seconds=3600.0,
            overrun=FREE,
        ),
        data=(("order", "A-17"), ("paid", False)),
        missing=("receipt",),
    )


def rows(run_id: str) -> tuple[JournalRow, ...]:
    return tuple(JournalRow(seq=run.seq, event=event, commands=issued) for run, event, issued in turns(run_id))
