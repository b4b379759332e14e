"""A world that flips between two screens, and a planner that would follow it forever."""

import pytest

from midcourse.domain.expectation import Expectation, Probe, ZoneHasState
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.domain.task import Task
from midcourse.planners import SamePlan
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import Scripted
from midcourse.worlds.base import BaseWorld, Scene, Zone, probe, skill
from midcourse.worlds.simulated import Desktop
from tests.scenarios.stage import AGAIN, FunctionPlanner, Played, Stage, click, plan, press


class Swing(BaseWorld):
    """Two screens; the button of each leads to the other."""

    def __init__(self) -> None:
        super().__init__()
        self.screens = ("Overview", "Details")
        self.shown = 0

    def look(self) -> Scene:
        here, there = self.screens[self.shown % 2], self.screens[(self.shown + 1) % 2]
        return Scene(here, Zone(id="go", role="button", label=there))

    @skill(transition=True)
    def click(self, zone: Zone) -> None:
        self.shown += 1

    @skill(effect="read")
    def wait(self, seconds: int) -> None: ...


def screens_planned_on(played: Played) -> list[str]:
    return [context.observation.surface.title for context in played.contexts]


async def test_the_third_identical_plan_on_a_screen_ends_it() -> None:
    world = Swing()
    played = await Stage(world=world, planner=SamePlan([click("go"), AGAIN])).play()
    assert played.ended == (False, False, "replan_no_change")
    assert played.result.final_detail == "the same plan for the third time on the same screen: it goes in circles"
    assert screens_planned_on(played) == ["Overview", "Details"] * 2 + ["Overview"]
    assert world.shown == 4, "the third one is not carried out"
    assert played.final_run.counts.refusals == 2, "it counts as refused twice"


async def test_a_key_that_does_nothing_is_pressed_twice() -> None:
    """Seed 000 spends five replans on this."""
    planner = SamePlan([press("F5", transition=True), AGAIN])
    played = await Stage(world=Desktop(), planner=planner).play()
    assert played.ended == (False, False, "replan_no_change")
    assert played.result.executions == 2


async def test_without_admission_only_the_budget_ends_it() -> None:
    played = await Stage(
        world=Swing(), planner=SamePlan([click("go"), AGAIN]), settings={"replan_admission": False}
    ).play()
    assert played.ended == (False, False, "budget_exhausted")
    assert played.result.executions == 20


async def test_another_plan_on_the_same_screen_is_no_circle() -> None:
    """Three times round the same two screens, and each time with something else to do."""

    class Noting(Swing):
        @skill
        def note(self, text: str) -> None: ...

    def noted(number: int) -> Draft:
        return Draft(zone=GLOBAL, skill="note", arguments=(("text", str(number)),))

    rounds = [plan(noted(number), click("go"), AGAIN) for number in range(6)]
    played = await Stage(world=Noting(), planner=Scripted(*rounds, PlanDraft(verdict="done"))).play()
    assert played.ended == (True, False, "plan_complete")
    assert played.result.executions == 12


@pytest.mark.parametrize("rounds", [1, 2, 4])
async def test_waiting_is_no_circle(rounds: int) -> None:
    """A planner that waits for something does the same on the same screen, and that is right. Replans bound it."""
    wait = Draft(zone=GLOBAL, skill="wait", arguments=(("seconds", 1),), transition=True)
    planner = Scripted(*[plan(wait, AGAIN)] * rounds, PlanDraft(verdict="done"))
    played = await Stage(world=Swing(), planner=planner).play()
    assert played.ended == (True, False, "plan_complete")
    assert played.result.executions == rounds


class Nagging(Swing):
    """Between any two pages of a long form the same offer comes up, and is closed in the same way."""

    def look(self) -> Scene:
        if self.shown % 2:
            return Scene("Offer", Zone(id="go", role="button", label="No, thank you"))
        return Scene(
            "Form", Zone(id="go", role="button", label="Next"), Zone(id="page", role="text", label=str(self.shown))
        )


async def test_a_pop_up_that_comes_up_again_after_progress_is_no_circle() -> None:
    world = Nagging()
    planner = Scripted(*[plan(click("go"), AGAIN)] * 10, PlanDraft(verdict="done"))
    played = await Stage(world=world, planner=planner).play()
    assert played.ended == (True, False, "plan_complete")
    assert world.shown == 10


class Grumbling(BaseWorld):
    """Every switch works and leads to the same error page, which is left in the same way."""

    def __init__(self) -> None:
        super().__init__()
        self.on = [False] * 4
        self.error = False

    def look(self) -> Scene:
        if self.error:
            return Scene("Error", Zone(id="ok", role="button", label="OK"))
        switches = (Zone(id=f"s{n}", role="switch", label=f"Switch {n}", state=(("on", on),)) for n, on in self._all())
        return Scene("Panel", *switches)

    @skill
    def turn_on(self, zone: Zone) -> None:
        self.on[int(zone.id.removeprefix("s"))] = True
        self.error = True

    @skill(transition=True)
    def dismiss(self, zone: Zone) -> None:
        self.error = False

    def _all(self) -> list[tuple[int, bool]]:
        return list(enumerate(self.on))


async def test_an_error_that_interrupts_one_new_plan_after_another_is_no_circle() -> None:
    """None of these plans gets to its end, and each begins where the last one was broken off."""

    def turn_on(number: int) -> Draft:
        seen = ZoneHasState(label=f"Switch {number}", state="on", value=True)
        return Draft(zone=f"s{number}", skill="turn_on", expect=Expectation(checks=(seen,)))

    def rest(context: PlanningContext) -> PlanDraft:
        if context.observation.surface.title == "Error":
            return plan(Draft(zone="ok", skill="dismiss"), AGAIN)
        off = [n for n, zone in enumerate(context.observation.zones) if not zone.get("on")]
        return plan(*map(turn_on, off), final=True) if off else PlanDraft(verdict="done")

    world = Grumbling()
    played = await Stage(
        world=world, planner=FunctionPlanner(rest), settings={"max_error_replans": 8, "max_replans": 8}
    ).play()
    assert world.on == [True] * 4
    assert played.ended == (True, False, "plan_complete")


class Counters(BaseWorld):
    """Every letter is followed by an error that has to be dismissed; and every second one is refused at first."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.sent: list[str] = []
        self.error = False

    def look(self) -> Scene:
        if self.error:
            return Scene("Something went wrong", Zone(id="ok", role="button", label="OK"))
        return Scene("Post office", Zone(id="counter", role="counter", label="Letters"))

    @skill(effect="irreversible", probe=Probe(name="is_sent", arguments=(("to", "Ann"),)))
    def send(self, zone: Zone, to: str) -> None:
        self.asked.append(to)
        self.error = True
        if to in self.asked[:-1] or len(self.sent) % 2 == 0:
            self.sent.append(to)

    @probe
    def is_sent(self, to: str) -> bool:
        return to in self.sent

    @skill(transition=True)
    def click(self, zone: Zone) -> None:
        self.error = False


async def test_the_same_way_out_of_the_same_error_is_no_circle_while_effects_are_brought_about() -> None:
    """Seen in the kill trial: a plan that was refused at first and then went well looked like nothing new."""
    people = ("Ann", "Bob", "Cyd", "Dan")

    def send(to: str) -> Draft:
        asked = Probe(name="is_sent", arguments=(("to", to),))
        return Draft(zone="counter", skill="send", arguments=(("to", to),), probe=asked, says=to)

    def rest(context: PlanningContext) -> PlanDraft:
        if context.observation.zone("ok"):
            return plan(click("ok"), AGAIN)
        done = {step.says for step in context.completed}
        left = [send(to) for to in people if to not in done]
        return plan(*left) if left else PlanDraft(verdict="done")

    world = Counters()
    generous = {"max_error_replans": 20, "max_replans": 20, "max_step_retries": 5, "approvals": "never"}
    played = await Stage(world=world, planner=FunctionPlanner(rest), settings=generous).play()
    assert (played.result.final_reason, world.sent) == ("plan_complete", list(people))


async def test_a_planner_that_says_done_too_soon_is_shown_the_screen_again() -> None:
    """Seen in the kill trial: forty plans from the screen as it was, before what came late was to be seen."""

    class Late(BaseWorld):
        checks = 0

        def look(self) -> Scene:
            return Scene("Here" if self.checks else "Elsewhere", Zone(id="lamp", role="lamp", label="Lamp"))

        @probe
        def is_lit(self) -> bool:
            self.checks += 1
            return self.checks > 1

        @skill
        def press(self, zone: Zone) -> None: ...

    class Says:
        def __init__(self) -> None:
            self.saw: list[str] = []

        async def plan(self, context: PlanningContext) -> PlanDraft:
            self.saw.append(context.observation.surface.title)
            return PlanDraft(verdict="done")

    planner = Says()
    task = Task(goal="Have the lamp lit", done_when=Probe(name="is_lit"))
    played = await Stage(world=Late(), planner=planner, task=task).play()
    assert played.result.final_reason == "goal_reached"
    assert planner.saw == ["Elsewhere", "Here"]
