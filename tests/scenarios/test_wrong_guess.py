"""A planner that guesses what the next screen is called: a wrong guess does not turn a step that worked into a failure."""

import pytest

from midcourse.domain.expectation import Expectation, Probe, SurfaceMatches, TextContains, ZoneHasState
from midcourse.domain.outcome import REFUSED_BY_SERVER, SIGNED_IN, Outcome
from midcourse.domain.plan import Draft
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.ports.world import Finding
from midcourse.testing import Approves
from midcourse.worlds.base import BaseWorld, Scene, Zone, probe, skill
from tests.scenarios.stage import FunctionPlanner, Played, Stage, plan

GUESS = Expectation(checks=(SurfaceMatches(pattern="Dashboard*"), TextContains(text="Welcome")))
ACCEPTED = Outcome(evidence="response")


class Desk(BaseWorld):
    """A site with a search, a box to tick, a sign-in and an order. `title` is what comes after a step."""

    def __init__(self, title: str = "Tickets", says: str = "2 found", answer: Outcome = ACCEPTED) -> None:
        super().__init__()
        self.title, self.says = "Start", "Please search"
        self.sent = 0
        self._next = (title, says)
        self._answer = answer

    def look(self) -> Scene:
        return Scene(
            self.title,
            Zone(id="search", role="button", label="Search"),
            Zone(id="order", role="button", label="Order"),
            Zone(id="gift", role="checkbox", label="Gift", state=(("checked", False),)),
            Zone(id="text", role="text", label=self.says),
        )

    @skill(effect="set_state")
    def click(self, zone: Zone) -> None:
        self.sent += 1
        self.title, self.says = self._next

    @skill(effect="irreversible")
    def send(self, zone: Zone) -> Outcome:
        self.sent += 1
        self.title, self.says = self._next
        return self._answer

    @probe
    def ordered(self) -> Finding:
        return "absent"


def one_step(step: Draft) -> FunctionPlanner:
    """Plans the step once, as the last one, and then says that all is done."""

    def think(context: PlanningContext) -> PlanDraft:
        return PlanDraft(verdict="done") if context.version > 1 else plan(step, final=True)

    return FunctionPlanner(think)


async def play(desk: Desk, step: Draft) -> tuple[Played, Approves]:
    approver = Approves(doubt="happened")
    return await Stage(world=desk, planner=one_step(step), approver=approver).play(), approver


SEARCH = Draft(zone="search", skill="click", expect=GUESS)
SEND = Draft(zone="order", skill="send", says="Send it", expect=GUESS)


@pytest.mark.parametrize("title", ["Tickets", "Start"], ids=["another screen", "in the same place"])
async def test_a_harmless_step_that_led_elsewhere_is_planned_on(title: str) -> None:
    desk = Desk(title)
    played, approver = await play(desk, SEARCH)
    assert [context.cause for context in played.contexts] == ["initial", "adaptive"]
    assert (played.result.attempts, played.result.budget.error_replans, played.result.budget.replans) == ((), 0, 0)
    assert len(played.result.completed) == 1
    assert (desk.sent, approver.questions, played.result.success) == (1, [], True)
    (_, again) = played.contexts
    assert again.why == (
        "led elsewhere: click 'Search' expected the screen 'Dashboard*' and the text 'Welcome'; "
        f"the screen is '{title}'"
    )


@pytest.mark.parametrize(
    ("desk", "expect", "reason"),
    [
        (Desk("Start", "Please search"), GUESS, "no_effect"),
        (Desk("Start", "An error occurred"), GUESS, "expectation_unmet"),
        (
            Desk("Start"),
            Expectation(checks=(ZoneHasState(role="checkbox", label="Gift", state="checked", value=True),)),
            "expectation_unmet",
        ),
    ],
    ids=["nothing changed", "it speaks of a failure", "what it names is there and is otherwise"],
)
async def test_a_harmless_step_that_did_not_do_it_fails(desk: Desk, expect: Expectation, reason: str) -> None:
    played, _ = await play(desk, Draft(zone="search", skill="click", expect=expect))
    assert {attempt.reason for attempt in played.result.attempts} == {reason}
    assert played.contexts[1].cause == "error"


@pytest.mark.parametrize("reason", ["", SIGNED_IN])
async def test_nobody_is_asked_about_what_the_server_accepted(reason: str) -> None:
    desk = Desk(answer=Outcome(evidence="response", reason=reason))
    played, approver = await play(desk, SEND)
    assert [question.about for question in approver.questions] == ["approve"]
    assert (desk.sent, played.result.attempts, played.result.budget.error_replans) == (1, (), 0)
    assert "send 'Order' expected the screen 'Dashboard*'" in played.contexts[1].why
    assert (played.result.success, played.result.verified) == (True, False)


@pytest.mark.parametrize(
    ("desk", "step"),
    [
        (Desk(answer=Outcome()), SEND),
        (Desk("Start", answer=ACCEPTED), SEND),
        (Desk(), Draft(zone="order", skill="send", expect=GUESS, probe=Probe(name="ordered"))),
        (Desk(answer=Outcome(status="unknown", evidence="response")), SEND),
    ],
    ids=["not accepted", "the same screen", "a probe does not find it", "the world is not sure"],
)
async def test_without_evidence_a_person_is_asked(desk: Desk, step: Draft) -> None:
    _, approver = await play(desk, step)
    assert [question.about for question in approver.questions] == ["approve", "happened"]
    assert desk.sent == 1


async def test_what_the_server_refused_has_failed() -> None:
    played, _ = await play(Desk(answer=Outcome(status="unknown", reason=REFUSED_BY_SERVER)), SEND)
    assert [attempt.reason for attempt in played.result.attempts] == [REFUSED_BY_SERVER]


async def test_what_was_accepted_is_sent_again_only_after_a_question_that_says_so() -> None:
    def insist(context: PlanningContext) -> PlanDraft:
        return plan(SEND, final=True) if context.version < 3 else PlanDraft(verdict="done")

    class Moved(Desk):
        """Its screens have one title and two addresses."""

        def look(self) -> Scene:
            return Scene("Shop", *super().look().zones, address=f"/{self.title}")

    desk, approver = Moved(), Approves()
    await Stage(world=desk, planner=FunctionPlanner(insist), approver=approver).play()
    assert [question.about for question in approver.questions][:2] == ["approve", "repeat"]


async def test_the_same_wrong_guess_does_not_go_on_for_ever() -> None:
    desk, planner = Desk("Start", "2 found"), FunctionPlanner(lambda context: plan(SEARCH, final=True))
    played = await Stage(world=desk, planner=planner).play()
    assert not played.result.success
    assert desk.sent <= 5
