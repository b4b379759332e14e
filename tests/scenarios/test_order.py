"""The first example of the design: 'Place order' was pressed and the page shows 504. Exactly one order results.

Orders are counted by the shop, never by the run.
"""

import asyncio
from collections.abc import Callable
from functools import partial

import pytest

from midcourse.domain.approval import Decision
from midcourse.planners import Rule
from midcourse.ports.world import World
from midcourse.testing import Answers, Approves, Posts
from midcourse.worlds.simulated import Fault, Shop
from midcourse.worlds.simulated.faults import LOOK_KINDS, STORE_KINDS, LookKind, StoreKind
from tests.scenarios.stage import RUN, Stage, crash, example, keep_session, without_evidence

PRESSED = "Place the order"
HARMLESS_FAULTS = [
    Fault(kind="stored_but_error", skill="place_order"),
    Fault(kind="error_not_stored", skill="place_order"),
    Fault(kind="stored_late", skill="place_order", seconds=0.9),
    Fault(kind="done_but_timeout", skill="place_order", seconds=30.0),
    Fault(kind="popup", skill="place_order"),
    Fault(kind="zone_moves", skill="place_order"),
    Fault(kind="no_effect", skill="place_order"),
    Fault(kind="transient", skill="place_order"),
    Fault(kind="structural", skill="place_order"),
    Fault(kind="popup", skill="fill"),
    Fault(kind="zone_moves", skill="set_quantity"),
    Fault(kind="no_effect", skill="fill", nth=2),
    Fault(kind="transient", skill="go"),
]
"""Faults after which the run still succeeds."""


def called(fault: Fault) -> str:
    return f"{fault.kind} {fault.skill}".strip()


async def test_without_trouble_one_order_is_placed_and_its_number_brought_back() -> None:
    stage = example("order")
    played = await stage.play()
    (order,) = stage.effects
    assert played.ended == (True, True, "goal_reached")
    assert played.result.data == (("order_number", order.get("number")),)


@pytest.mark.parametrize("fault", HARMLESS_FAULTS, ids=called)
async def test_a_harmless_fault_ends_with_exactly_one_order(fault: Fault) -> None:
    stage = example("order", faults=[fault])
    played = await stage.play()
    (order,) = stage.effects
    assert played.ended == (True, True, "goal_reached")
    assert (order.get("reference"), order.get("items")) == ("PO-1001", {"Desk lamp": 1})
    assert played.result.data == (("order_number", order.get("number")),)
    assert played.completed.count(PRESSED) == 1


async def test_an_order_that_was_stored_behind_a_504_is_found_and_not_repeated() -> None:
    """It is looked up whether the order exists, and only then the run goes on."""
    stage = example("order", faults=[Fault(kind="stored_but_error")])
    played = await stage.play()
    assert len(stage.effects) == 1
    after_doubt = played.phases[played.phases.index("verifying") + 1]
    assert after_doubt == "looking"
    assert played.result.attempts == ()


async def test_an_order_that_was_not_stored_behind_a_504_is_placed_again() -> None:
    """The probe finds nothing, and by then it would have: the order is placed again, which is the first time."""
    stage = example("order", faults=[Fault(kind="error_not_stored")])
    played = await stage.play()
    assert len(stage.effects) == 1
    assert (played.result.attempts[0].says, played.result.attempts[0].reason) == (PRESSED, "no_effect")


async def test_not_stored_and_success_shown_is_never_a_verified_success() -> None:
    """The page lies; the shop's list of orders does not."""
    stage = example("order", faults=[Fault(kind="success_not_stored")])
    played = await stage.play()
    assert stage.effects == ()
    assert played.ended == (False, False, "replan_exhausted")
    assert played.result.final_detail == "done_when is not met: the probe 'order_placed' found nothing"


async def test_stored_late_is_waited_for_as_long_as_the_probe_needs() -> None:
    """The order turns up 0.9 s later, the probe's word counts after 1 s: nothing is sent in between."""
    stage = example("order", faults=[Fault(kind="stored_late", seconds=0.9)])
    played = await stage.play()
    assert len(stage.effects) == 1
    assert played.result.wall_seconds == 1.0


def without_waiting(rules: tuple[Rule, ...]) -> list[Rule]:
    return [rule for rule in rules if not any(step.skill == "wait" for step in rule.steps)]


@pytest.mark.parametrize("skill", ["fill", "place_order"])
async def test_a_page_that_loads_too_long_is_an_honest_failure(skill: str) -> None:
    """Who has no rule for a loading screen cannot plan on it. Whether there is an order by then, the run finds out."""
    slow = Fault(kind="slow_load", skill=skill, seconds=5.0)
    stage = example("order", faults=[slow], rules=without_waiting)
    played = await stage.play()
    stored = skill == "place_order"
    assert played.ended == ((True, True, "goal_reached") if stored else (False, False, "empty_plan"))
    assert (PRESSED in played.completed) == (len(stage.effects) == 1) == (skill == "place_order")
    slower = example("order", faults=[slow], rules=without_waiting, step_delay_seconds=5.0)
    assert (await slower.play()).ended == (True, True, "goal_reached")
    assert len(slower.effects) == 1


@pytest.mark.parametrize("skill", ["fill", "place_order"])
async def test_waiting_for_a_loading_page_continues_the_plan(skill: str) -> None:
    stage = example("order", faults=[Fault(kind="slow_load", skill=skill, seconds=5.0)])
    played = await stage.play()
    assert played.ended == (True, True, "goal_reached")
    assert len(stage.effects) == played.completed.count(PRESSED) == 1
    assert played.completed.count("Wait a moment") == 3


async def test_a_basket_that_stayed_empty_unnoticed_is_an_honest_failure() -> None:
    """The step said nothing about what it expects, so its success was believed; the shop turns the order down."""
    stage = example("order", faults=[Fault(kind="no_effect", skill="set_quantity")])
    played = await stage.play()
    assert stage.effects == ()
    assert played.ended == (False, False, "replan_no_change")
    assert PRESSED not in played.completed


@pytest.mark.parametrize("times", [1, 3, 1000])
@pytest.mark.parametrize("nth", range(1, 12))
@pytest.mark.parametrize("kind", LOOK_KINDS)
async def test_looks_that_fail_or_show_nothing_never_make_two_orders(kind: LookKind, nth: int, times: int) -> None:
    stage = example("order", faults=[Fault(kind=kind, nth=nth, times=times)])
    played = await stage.play()
    if times <= 3:
        assert played.ended == (True, True, "goal_reached")
        assert len(stage.effects) == 1
    else:
        assert len(stage.effects) <= 1
        assert played.result.verified <= bool(stage.effects)


@pytest.mark.parametrize("first", STORE_KINDS)
@pytest.mark.parametrize("second", STORE_KINDS)
async def test_two_faults_of_storing_in_a_row_never_make_two_orders(first: StoreKind, second: StoreKind) -> None:
    """A probe that does not find it twice is not believed the second time: a person looks, and says what is true here."""
    faults = [Fault(kind=first, seconds=0.5), Fault(kind=second, seconds=0.5, nth=2)]
    stage = example("order", faults=faults, approver=Approves(doubt="did_not_happen"))
    played = await stage.play()
    lied_to = "success_not_stored" in (first, second if first == "error_not_stored" else "")
    assert len(stage.effects) == (not lied_to)
    assert played.result.verified == (not lied_to)


# --- the process dies


async def crash_after(turns: int, stage: Stage) -> bool:
    """Whether the run had not ended yet when its process died after this many turns."""
    live = stage.start()
    async for turn in live:
        turns -= 1
        if turns == 0 or turn.run.phase.kind == "ended":
            break
    await asyncio.sleep(0)
    await crash(live)
    return turns == 0 and await stage.store.result(RUN) is None


@pytest.mark.slow
@pytest.mark.parametrize("session", [Shop, partial(keep_session, Shop)], ids=["lost", "kept"])
@pytest.mark.parametrize("kind", ["stored_but_error", "error_not_stored"])
async def test_a_crash_after_any_turn_ends_with_exactly_one_order(
    kind: StoreKind, session: Callable[..., World]
) -> None:
    """Resumed in its old session or in a new one, in which everything but the order has to be done again."""
    turns = 1
    person = Approves(doubt="did_not_happen" if kind == "error_not_stored" else "stop")  # after the second error
    faults = [Fault(kind=kind)]
    while await crash_after(turns, stage := example("order", world=session, faults=faults, approver=person)):
        played = await stage.resume()
        assert played.ended == (True, True, "goal_reached")
        assert len(stage.effects) == 1
        turns += 1
    assert turns > 20


# --- only a person can tell


def without_probe(rules: tuple[Rule, ...]) -> list[Rule]:
    return without_evidence(rules, "probe")


def in_doubt(fault: Fault, *decisions: Decision) -> tuple[Stage, Answers]:
    person = Answers(*decisions)
    return example("order", faults=[fault], rules=without_probe, approver=person), person


HAPPENED, DID_NOT, STOP = (Decision(verdict=verdict) for verdict in ("happened", "did_not_happen", "stop"))


async def test_the_person_is_asked_whether_it_happened_and_shown_what_was_sent() -> None:
    stage, person = in_doubt(Fault(kind="stored_but_error"), HAPPENED)
    await stage.play()
    (question,) = person.questions
    assert (question.about, question.says) == ("happened", (PRESSED,))
    (consequence,) = question.consequences
    assert dict(consequence.commit.values)["reference"] == "PO-1001"
    assert consequence.commit.address == "https://shop.example/orders"
    assert question.detail == "there is no probe to decide it"
    assert question.unmet == ("expected the screen 'Thank you for your order': that is not to be seen",)


async def test_if_a_person_says_that_it_happened_the_run_continues() -> None:
    stage, _ = in_doubt(Fault(kind="stored_but_error"), HAPPENED)
    played = await stage.play()
    assert len(stage.effects) == 1
    assert played.ended == (True, True, "goal_reached")
    assert [step.doubtful for step in played.result.completed if step.says == PRESSED] == [False]
    assert PRESSED in [step.says for step in played.contexts[-1].completed]


async def test_if_a_person_says_that_it_did_not_happen_the_order_is_placed() -> None:
    stage, person = in_doubt(Fault(kind="error_not_stored"), DID_NOT)
    played = await stage.play()
    assert len(stage.effects) == 1
    assert played.ended == (True, True, "goal_reached")
    assert len(person.questions) == 1


@pytest.mark.parametrize("kind", ["stored_but_error", "error_not_stored"])
async def test_if_a_person_stops_the_run_the_order_stays_doubtful(kind: StoreKind) -> None:
    stage, _ = in_doubt(Fault(kind=kind), STOP)
    played = await stage.play()
    assert len(stage.effects) == (kind == "stored_but_error")
    assert played.ended == (False, False, "needs_human")
    assert [step.doubtful for step in played.result.completed if step.says == PRESSED] == [True]


async def test_an_unanswered_doubt_ends_the_run_as_needs_human() -> None:
    """An hour later it is still not known, and nothing was sent in the meantime."""
    stage = example("order", faults=[Fault(kind="stored_but_error")], rules=without_probe, approver=Posts())
    played = await stage.play()
    assert len(stage.effects) == 1
    assert played.ended == (False, False, "needs_human")
    assert played.result.final_detail == "no answer whether place_order happened"
    assert played.result.wall_seconds == 3600.0
    assert played.result.budget.wall_seconds == 0.0


async def test_each_doubt_is_a_question_of_its_own() -> None:
    """The first press did nothing, the second stored the order and showed 504: a word for each, and each counts once."""
    person = Answers(DID_NOT, HAPPENED)
    faults = [Fault(kind="no_effect", skill="place_order"), Fault(kind="stored_but_error")]
    stage = example("order", faults=faults, rules=without_probe, approver=person)
    played = await stage.play()
    assert len(stage.effects) == 1
    assert played.ended == (True, True, "goal_reached")
    assert played.completed.count(PRESSED) == 1
    assert [attempt.says for attempt in played.result.attempts] == [PRESSED]
