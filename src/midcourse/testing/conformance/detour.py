"""Conformance suites for detour planners and closeness judges: inputs to accept, and the shape of answers.

    class TestMine(DetourPlannerConformance):
        def make_planner(self) -> DetourPlanner:
            return MyPlanner()

Whether its tries lead anywhere is another question, and so is whether they aim at what is visible: a try is resolved
against the screen regardless of its author.
"""

import asyncio
from dataclasses import replace
from typing import get_args

from midcourse.codec import decode, encode
from midcourse.domain.budget import FREE
from midcourse.domain.detour import REACHED_CLOSENESS, Goal, Option
from midcourse.domain.events import TryVerdict
from midcourse.domain.expectation import Expectation, SurfaceMatches
from midcourse.domain.plan import Step, Target
from midcourse.ports.closeness import Closeness, ClosenessJudge, JudgingContext
from midcourse.ports.detour import DetourContext, DetourPlanner, PastTry, TryDraft
from midcourse.testing.conformance.planner import CATALOGUE, TASK, seen, zones

GOAL = Goal(says="'Settings' is open", expect=Expectation(checks=(SurfaceMatches(pattern="Settings"),)))
IN_WORDS = Goal(says="the settings are open", expect=Expectation(says="the settings are open"))
AGAIN = Goal(says="button 'Order' is visible", target=Target(surface="Shop", role="button", label="Order"))
CLICK = Step(
    version=3, index=0, zone="z0", skill="press", target=Target(surface="Main", role="button", label="Thing 0")
)
PAST = PastTry(
    label="8.1",
    step=CLICK,
    before="f1",
    after="f2",
    closeness_before=2.0,
    closeness_after=1.5,
    choice="revert",
    reverted=True,
)
FIRST = DetourContext(task=TASK, goal=GOAL, observation=seen("Main", *zones(7)), catalogue=CATALOGUE, label="8.1")
CONTEXTS = (
    FIRST,
    replace(FIRST, goal=IN_WORDS, label="8.2", closeness=2.0, tries=(PAST,), hint=Option(name="a menu", says="Try it")),
    replace(FIRST, goal=AGAIN, label="8.3", tries=(PAST, replace(PAST, label="8.2", step=None, failed="garbage"))),
    replace(FIRST, label="8.4", tries=(replace(PAST, reverted=False),), undo=replace(PAST, reverted=False)),
    replace(FIRST, observation=seen("Empty"), refused="zone 'z9' is not visible", guidance=("it is in Tools",)),
)


def check_draft(answer: object) -> None:
    assert isinstance(answer, TryDraft), "a try draft, for every context"
    assert answer.verdict in get_args(TryVerdict)
    assert (answer.step is not None) == (answer.verdict == "try"), "a step if it says so, and only then"
    assert FREE.within(answer.cost), "a cost is not negative"
    assert decode(TryDraft, encode(answer)) == answer, "it can be written down"


class DetourPlannerConformance:
    """Tests that every detour planner must pass. Subclass it as `Test…` and define `make_planner`."""

    def make_planner(self) -> DetourPlanner:
        raise NotImplementedError

    def test_it_answers_every_context(self) -> None:
        for context in CONTEXTS:
            check_draft(asyncio.run(self.make_planner().plan_try(context)))

    def test_it_can_be_asked_again_and_again(self) -> None:
        async def ask() -> None:
            planner = self.make_planner()
            for context in CONTEXTS * 2:
                check_draft(await planner.plan_try(context))

        asyncio.run(ask())


class ClosenessJudgeConformance:
    """Tests that every closeness judge must pass. Subclass it as `Test…` and define `make_judge`."""

    def make_judge(self) -> ClosenessJudge:
        raise NotImplementedError

    def test_it_judges_every_context(self) -> None:
        for goal in (GOAL, IN_WORDS, AGAIN):
            for observation in (
                seen("Main", *zones(7)),
                seen("Settings", *zones(2)),
                seen("Empty"),
                seen("", *zones(400)),
            ):
                context = JudgingContext(task=TASK, goal=goal, observation=observation)
                judged = asyncio.run(self.make_judge().judge(context))
                assert isinstance(judged, Closeness), "a closeness, for every context"
                assert judged.value is None or 0.0 <= judged.value <= REACHED_CLOSENESS
                assert FREE.within(judged.cost), "a cost is not negative"
