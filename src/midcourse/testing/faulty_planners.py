"""Planners that make mistakes: the mistakes of a model, and answers that are not plans."""

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any, Literal, TypeAlias, cast

from midcourse.domain.argument import Argument, Reference
from midcourse.domain.budget import Cost
from midcourse.domain.expectation import Expectation, Probe, SurfaceMatches, TextContains, ZoneHasState
from midcourse.domain.plan import GLOBAL, REPLAN, Draft
from midcourse.domain.replace import replace as unchecked
from midcourse.ports.planner import PlanDraft, Planner, PlanningContext

Mistake: TypeAlias = Literal["dropped_last", "absent_zone", "swapped", "repeated_completed", "wrong_type"]

ABSENT_ZONE = "zone-that-is-not-there"


class Erring:
    """Passes on the plans of another planner, and makes one mistake in some of them. `mistakes` lists the mistakes in order.

    `rate` is the share of plans that get a mistake. A plan without steps gets none, and a plan with a single step is not emptied.
    The same seed makes the same mistakes if the calls are the same.
    """

    def __init__(self, planner: Planner, rate: float, seed: int) -> None:
        self._planner = planner
        self._rate = rate
        self._random = Random(seed)
        self._given: dict[tuple[str, str], Draft] = {}
        self.mistakes: list[Mistake] = []

    async def plan(self, context: PlanningContext) -> PlanDraft:
        answer = await self._planner.plan(context)
        spoiled = self._add_mistake(answer, context) if self._random.random() < self._rate else answer
        self._given |= {(step.skill, step.says): step for step in answer.steps if step.zone != REPLAN}
        return spoiled

    def _add_mistake(self, answer: PlanDraft, context: PlanningContext) -> PlanDraft:
        real = [index for index, step in enumerate(answer.steps) if step.zone != REPLAN]
        possible: dict[Mistake, Callable[[], list[Draft]]] = {}
        steps = list(answer.steps)
        if real:
            possible["absent_zone"] = lambda: self._use_absent_zone(steps, real)
        if len(real) > 1:
            possible["dropped_last"] = lambda: [step for index, step in enumerate(steps) if index != real[-1]]
            possible["swapped"] = lambda: self._swap_steps(steps, real)
        if any(steps[index].arguments for index in real):
            possible["wrong_type"] = lambda: self._change_type(steps, real)
        again = self._list_completed(context)
        if real and again:
            possible["repeated_completed"] = lambda: [self._random.choice(again), *steps]
        if not possible:
            return answer
        mistake = self._random.choice(sorted(possible))
        self.mistakes.append(mistake)
        return replace(answer, steps=tuple(possible[mistake]()))

    def _use_absent_zone(self, steps: list[Draft], real: list[int]) -> list[Draft]:
        index = self._random.choice(real)
        return [*steps[:index], replace(steps[index], zone=ABSENT_ZONE), *steps[index + 1 :]]

    def _swap_steps(self, steps: list[Draft], real: list[int]) -> list[Draft]:
        first, other = self._random.sample(real, 2)
        steps[first], steps[other] = steps[other], steps[first]
        return steps

    def _change_type(self, steps: list[Draft], real: list[int]) -> list[Draft]:
        index = self._random.choice([index for index in real if steps[index].arguments])
        arguments = list(steps[index].arguments)
        place = self._random.randrange(len(arguments))
        name, value = arguments[place]
        arguments[place] = (name, -1 if isinstance(value, str | Reference) else "not a number")
        return [*steps[:index], replace(steps[index], arguments=tuple(arguments)), *steps[index + 1 :]]

    def _list_completed(self, context: PlanningContext) -> list[Draft]:
        """Steps that are completed and could be done again from here."""
        again = [self._given.get((step.skill, step.says)) for step in context.completed]
        return [draft for draft in again if draft and (draft.zone == GLOBAL or context.observation.zone(draft.zone))]


# Texts that often break programs: NUL stops PostgreSQL, a lone surrogate stops UTF-8, 'not a number' stops JSON.
_TEXTS = (
    "",
    " ",
    "\x00",
    "\x1b[2J",
    "\n" * 40,
    "\ud800",
    "'; DROP TABLE runs; --",
    "__global__ ",
    "x" * 5000,
    "\u202eevas",
)
_VALUES: tuple[Argument, ...] = (
    *_TEXTS,
    None,
    True,
    -1,
    2**80,
    1e308,
    float("nan"),
    float("inf"),
    Reference(source="secret", name="root_password"),
    Reference(source="input", name="\x00"),
)
_COSTS = (Cost(calls=1), Cost(), Cost(calls=7, tokens=90_000), Cost(calls=-5, microusd=-1), Cost(calls=1, tokens=2**70))
_VERDICTS = ("steps", "done", "impossible", "gave_up", "refused", "garbage", "transport", "", "STEPS", "\x00")
_TIMES = (1, 1, 1, 1, 1, 100)
_NO_PLANS: tuple[object, ...] = (None, "done", 0, [], {"steps": []}, PlanDraft, unchecked(PlanDraft(), steps=None))


class Garbage:
    """Answers with invalid plans of every kind. One call in ten raises, and one in ten returns something other than a plan.

    Each answer may end the plan, never the process. `polite=True` leaves out the last two.
    """

    def __init__(self, seed: int, *, polite: bool = False) -> None:
        self._random = Random(seed)
        self._polite = polite

    async def plan(self, context: PlanningContext) -> PlanDraft:
        mood = "polite" if self._polite else self._random.choice(["raises", "other", *["polite"] * 8])
        if mood == "raises":
            raise self._random.choice((RuntimeError("\x00"), TimeoutError(), KeyError("choices"), RecursionError()))
        if mood == "other":
            return cast(PlanDraft, self._random.choice(_NO_PLANS))
        return PlanDraft(
            verdict=cast(Any, self._random.choice(("steps", self._random.choice(_VERDICTS)))),
            steps=tuple(self._step(context) for _ in range(self._random.choice((0, 1, 3, 3, 10))))
            * self._random.choice(_TIMES),
            final=self._random.choice((None, True, False)),
            detail=self._random.choice(_TEXTS),
            cost=self._random.choice((Cost(calls=1), Cost(calls=1), Cost(calls=1), self._random.choice(_COSTS))),
        )

    def _step(self, context: PlanningContext) -> Draft:
        pick = self._random.choice
        zones = [zone.id for zone in context.observation.zones]
        skills = [skill.name for skill in context.catalogue.skills]
        return Draft(
            zone=pick((*_TEXTS, ABSENT_ZONE, GLOBAL, GLOBAL, REPLAN, *zones)),
            skill=pick((*_TEXTS, "no_such_skill", *skills, *skills)),
            arguments=tuple((self._name(context), pick(_VALUES)) for _ in range(pick((0, 0, 1, 2, 5)))),
            expect=pick((None, None, self._expectation())),
            absent_when=pick((None, None, self._expectation())),
            probe=pick((None, None, Probe(name=pick(_TEXTS), settles_after=pick((-1.0, 0.0, 1e12, float("nan")))))),
            transition=pick((None, True, False)),
            says=pick(_TEXTS),
        )

    def _name(self, context: PlanningContext) -> str:
        known = [parameter.name for skill in context.catalogue.skills for parameter in skill.parameters]
        return self._random.choice((*_TEXTS, *known, *known))

    def _expectation(self) -> Expectation:
        text = self._random.choice((*_TEXTS, "[", "[!", "*" * 50))
        checks = (TextContains(text=text), SurfaceMatches(pattern=text), ZoneHasState(state=text, value=text))
        return Expectation(checks=self._random.choice(((), checks, checks * 20)), says=text)
