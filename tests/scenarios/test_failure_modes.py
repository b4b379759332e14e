"""Seed 000, section 12: failure modes and recovery, row by row."""

from dataclasses import fields, replace

import pytest

from midcourse.domain.expectation import Expectation, ZoneAppears, ZoneHasState
from midcourse.domain.moves import End
from midcourse.domain.phases import Concluding
from midcourse.domain.plan import Draft
from midcourse.planners import Rule, SamePlan
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import Garbage, Scripted
from midcourse.worlds.base import BaseWorld, Scene, Zone, skill
from midcourse.worlds.simulated import Arm, Desktop, Fault
from midcourse.worlds.simulated.faults import LOOK_KINDS, LookKind
from tests.scenarios.stage import AGAIN, FunctionPlanner, Played, Stage, click, example, pick, plan, press

# --- Replan returns empty plan: abort


async def test_an_empty_replan_ends_the_run() -> None:
    played = await example("notepad", planner=Scripted(plan(press("Win"), AGAIN), plan())).play()
    assert played.ended == (False, False, "empty_plan")
    assert played.result.final_detail == "the plan had no steps"
    assert played.completed == ["Press Win"]


async def test_a_first_plan_that_is_empty_gets_a_second_chance() -> None:
    """It may have been bad luck, and nothing has been done yet."""
    lucky = await example("notepad", planner=Scripted(plan(), plan(press("Win"), AGAIN), plan())).play()
    assert lucky.completed == ["Press Win"]
    unlucky = await example("notepad", planner=Scripted(plan())).play()
    assert unlucky.ended == (False, False, "empty_plan")
    assert unlucky.result.planner_calls == 2


# --- Recapture times out: keep existing zones, replan with stale data. (Each kind of failure: test_recapture.py.)


@pytest.mark.parametrize("kind", LOOK_KINDS)
async def test_a_recapture_that_shows_nothing_keeps_the_existing_zones(kind: LookKind) -> None:
    stage = example("notepad", faults=[Fault(kind=kind, nth=5)])
    played = await stage.play()
    assert len(played.contexts[1].observation.zones) == 50
    assert played.contexts[1].observation.stale
    assert played.ended == (True, True, "goal_reached")


# --- Planner generates duplicates: completed steps prevent this, and for an irreversible step the gate does


def forgetting(rules: tuple[Rule, ...]) -> list[Rule]:
    """This planner does not care what has been completed."""
    return [replace(rule, steps=tuple(_plain(step) for step in rule.steps)) for rule in rules]


def insisting(rules: tuple[Rule, ...]) -> list[Rule]:
    """This one neither, and once the form is filled in it goes straight for the button."""
    filled = Expectation(checks=(ZoneHasState(label="Reference", state="text", value="PO-1001"),))
    checkout = [rule for rule in forgetting(rules) if rule.on == "Checkout"]
    return [*(replace(rule, when=filled, steps=rule.steps[2:]) for rule in checkout), *rules]


def _plain(step: Draft) -> Draft:
    return Draft(**{field.name: getattr(step, field.name) for field in fields(Draft)})


def given_up(played: Played) -> End | None:
    """How the run would have ended, had its goal not been reached."""
    phases = [turn.run.phase for turn in played.turns]
    return next(
        (phase.otherwise for phase in phases if isinstance(phase, Concluding) and isinstance(phase.otherwise, End)),
        None,
    )


async def test_a_duplicate_of_a_finished_order_is_refused_before_any_of_the_plan_runs() -> None:
    """The order is stored and 504 shown; back at the checkout the planner wants to place it again, and again.

    The run ends there, and finds that what the task wanted is done.
    """
    stage = example("order", rules=insisting, faults=[Fault(kind="stored_but_error")])
    played = await stage.play()
    assert len(stage.effects) == 1
    assert played.ended == (True, True, "goal_reached")
    refusal = "step 1 (place_order) is finished already and must not be done again"
    assert given_up(played) == End(reason="replan_no_change", detail=refusal)
    assert [context.refused for context in played.contexts[-2:]] == ["", refusal]


async def test_a_duplicate_that_shows_only_once_the_form_is_filled_in_is_refused_at_the_button() -> None:
    stage = example("order", rules=forgetting, faults=[Fault(kind="stored_but_error")])
    played = await stage.play()
    assert len(stage.effects) == 1
    assert played.ended == (True, True, "goal_reached")
    assert given_up(played) == End(reason="replan_no_change", detail="place_order is finished already")
    assert played.completed.count("Place the order") == 1


class Invoices(BaseWorld):
    """One form and one Submit button for all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.number, self.received = 0, list[int]()

    def look(self) -> Scene:
        form = (Zone(id="number", role="textbox", label="Number"), Zone(id="submit", role="button", label="Submit"))
        last = f"Received {self.received[-1]}" if self.received else "Nothing received"
        return Scene("Invoices", *form, Zone(id="last", role="status", label=last))

    @skill
    def fill(self, zone: Zone, number: int) -> None:
        self.number = number

    @skill(effect="irreversible", commit_set="form")
    def submit(self, zone: Zone) -> None:
        self.received.append(self.number)

    def form(self, zone: Zone) -> dict[str, int]:
        return {"number": self.number}


def invoice(number: int) -> tuple[Draft, Draft]:
    received = Expectation(checks=(ZoneAppears(label=f"Received {number}"),))
    fill = Draft(zone="number", skill="fill", arguments=(("number", number),))
    return fill, Draft(zone="submit", skill="submit", expect=received, says=f"Submit {number}")


async def test_twenty_invoices_through_one_button_are_twenty_and_the_same_one_twice_is_one() -> None:
    """What makes a duplicate is what would be sent, not where it is clicked."""
    twenty = [step for number in range(1, 21) for step in invoice(number)]
    planner = Scripted(plan(*twenty, AGAIN), plan(*invoice(7), final=True))
    world = Invoices()
    played = await Stage(world=world, planner=planner, settings={"approvals": "never"}).play()
    assert world.received == list(range(1, 21))
    assert played.ended == (False, False, "replan_no_change")
    assert played.result.final_detail == "submit is finished already"


async def test_harmless_steps_may_be_planned_again() -> None:
    """Pressing a key twice does not duplicate an effect; the planner is told that it was done, and decides."""
    again = Scripted(plan(press("Win"), AGAIN), plan(press("Win"), final=True))
    played = await Stage(world=Desktop(), planner=again).play()
    assert played.completed == ["Press Win", "Press Win"]
    assert [step.says for step in played.contexts[1].completed] == ["Press Win"]


# --- Infinite replan loop: broken


async def test_five_replans_break_a_loop_of_equal_plans() -> None:
    """As in the seed, where nothing else notices."""
    planner = SamePlan([press("F5", transition=True), AGAIN])
    played = await example("notepad", planner=planner, replan_admission=False).play()
    assert played.ended == (False, False, "replan_exhausted")
    assert played.result.replans == 5


async def test_a_loop_of_equal_failures_is_broken_at_once() -> None:
    """The same failed step under the same screen is refused; a second time, it is over. No execution is wasted."""
    played = await Stage(world=Arm(), planner=SamePlan([pick("blue_cup"), AGAIN])).play()
    assert played.ended == (False, False, "replan_no_change")
    assert (played.result.executions, played.result.planner_calls) == (1, 3)


# --- Budget exhaustion mid-task: partial result with error


async def test_an_exhausted_budget_returns_what_was_done_and_why_it_ended() -> None:
    stage = example("order", max_calls=2)
    played = await stage.play()
    assert played.ended == (False, False, "budget_exhausted")
    assert played.completed[-1] == "Place the order"
    assert len(stage.effects) == 1
    assert played.result.missing == ("order_number",)


# --- Parse failure: the planner's answer, or the recapture's (test_recapture.py), cannot be read


def garbled_at_first(context: PlanningContext) -> PlanDraft:
    if context.cause == "initial":
        raise ValueError("Expecting ',' delimiter: line 3 column 7")
    return plan(press("Win"), final=True)


async def test_an_answer_that_cannot_be_read_is_asked_for_again_and_then_an_error_replan_with_the_reason() -> None:
    played = await Stage(world=Desktop(), planner=FunctionPlanner(garbled_at_first)).play()
    assert played.ended == (True, False, "plan_complete")
    assert "Expecting ',' delimiter" in played.contexts[1].refused
    assert "Expecting ',' delimiter" in played.contexts[2].why
    assert played.result.budget.error_replans == 2


async def test_a_planner_that_never_makes_sense_is_given_up() -> None:
    played = await Stage(world=Desktop(), planner=SamePlan([click("no_such_zone")])).play()
    assert played.ended == (False, False, "replan_exhausted")
    assert "zone 'no_such_zone' is not visible" in played.result.final_detail
    assert (played.result.executions, played.result.planner_calls) == (0, 4)


@pytest.mark.parametrize("seed", range(10))
async def test_garbage_of_every_kind_is_the_end_of_the_plan_and_never_of_the_process(seed: int) -> None:
    played = await Stage(world=Desktop(), planner=Garbage(seed)).play()
    assert played.result.final_reason != "internal_error"
    assert not played.result.verified
