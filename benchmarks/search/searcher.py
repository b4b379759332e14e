"""Planner of detours or whole runs without a model: follows words on the screen and remembers what it tried."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

from midcourse.domain.detour import Goal, Option
from midcourse.domain.expectation import SurfaceMatches
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.plan import GLOBAL, REACH, REPLAN, Draft
from midcourse.domain.skill import Catalogue
from midcourse.policy.detour.closeness import words_of
from midcourse.policy.detour.undo import find_key_skill
from midcourse.policy.evidence.verification import holds
from midcourse.ports.closeness import Closeness, JudgingContext
from midcourse.ports.detour import DetourContext, TryDraft
from midcourse.ports.planner import ONE_CALL, PlanDraft, PlanningContext

Related: TypeAlias = Callable[[str, str], float]
"""How much a label has to do with a goal, from 0 to 1."""

OPENS = ("menu", "menuitem", "button", "tab", "link", "row")
CLOSE_CALL = 0.1
SAME_TOPIC = 0.5
"""Relatedness up to which a label does not name the goal."""
LASTING = ("menu", "row", "tab")
"""What stays where it is when it has been clicked; so does a control that expands."""
GO_BACK = "go_back"
"""The skill that a browser has for it."""
CLOSES = ("ok", "cancel", "close")
VAGUE = ("more", "advanced…", "details…", "custom…", "more…", "defaults…", "rules…")
"""Labels that may lead anywhere."""
ESCAPE = Draft(zone=GLOBAL, skill="press", arguments=(("key", "Escape"),), says="Press Escape")
"""Unless the skill for it has another name here."""


def shares_words(label: str, goal: str) -> float:
    """The share of the goal's words that the label has."""
    wanted = words_of(goal)
    return len(wanted & words_of(label)) / len(wanted) if wanted else 0.0


@dataclass(frozen=True, kw_only=True)
class Searcher:
    """Tries what has most to do with the goal and was not tried here before. Sends nothing, and changes no field."""

    related: Related = shares_words
    options: int = 1
    """How many other ideas come with each try."""

    async def plan_try(self, context: DetourContext) -> TryDraft:
        if context.undo is not None:
            return _page_before(context)
        seen, useless = context.observation, _in_vain(context)
        ideas = [draft for draft in self.ideas(seen, describe_aim(context.goal)) if draft.zone not in useless]
        if context.hint is not None:
            hinted = [draft for draft in ideas if draft.zone == context.hint.name]
            ideas = (
                hinted + [draft for draft in ideas if draft not in hinted] if hinted else [*way_out(context), *ideas]
            )
        if not ideas:
            return TryDraft(step=escape(context.catalogue))
        return TryDraft(step=ideas[0], options=self._others(ideas, context))

    def _others(self, ideas: list[Draft], context: DetourContext) -> tuple[Option, ...]:
        """As promising as the first, and still there after it: a menu does not hide the others, a dialog does.

        Where something lies over the rest, the rest is what else there is: it does not help to close it, but it may lead on.
        """
        seen, aim = context.observation, describe_aim(context.goal)
        beneath = [zone for zone in seen.zones if zone.role in OPENS and zone.get("covered")]
        if beneath:
            best = sorted(beneath, key=lambda zone: -self._score(zone, aim))
            return tuple(Option(name=zone.id, says=zone.label) for zone in best[: self.options])
        zones = [zone for draft in ideas if (zone := seen.zone(draft.zone)) and _lasts(zone)]
        if not zones or zones[0].id != ideas[0].zone:
            return ()
        good = self._score(zones[0], aim) - CLOSE_CALL
        others = [zone for zone in zones[1:] if self._score(zone, aim) >= good]
        return tuple(Option(name=zone.id, says=zone.label) for zone in others[: self.options])

    def ideas(self, seen: Observation, aim: str) -> list[Draft]:
        """What could be done here, the most promising first."""
        scored = [(self._score(zone, aim), -place, zone) for place, zone in enumerate(seen.zones) if _may_open(zone)]
        return [_on(zone) for _, _, zone in sorted(scored, key=lambda one: one[:2], reverse=True)]

    def _score(self, zone: Zone, aim: str) -> float:
        """What is named like the goal; then what may hold anything; then what is only about the same."""
        if zone.label.lower() in VAGUE:
            return 0.3
        related = self.related(zone.label, aim)
        return related if _lasts(zone) or related > SAME_TOPIC else 0.4 * related


class Replanner:
    """The searcher as the planner of a whole run: one act, then look again. It remembers what it tried on which screen.

    `aims_first`: it asks for a detour before it tries for itself.
    """

    def __init__(self, searcher: Searcher, goal: Goal, *, aims_first: bool = False) -> None:
        self._searcher = searcher
        self._goal = goal
        self._aims = aims_first
        self._tried: dict[str, list[str]] = {}

    async def plan(self, context: PlanningContext) -> PlanDraft:
        seen = context.observation
        if self._goal.expect and holds(self._goal.expect, seen):
            return PlanDraft(verdict="done", detail="it is there")
        if self._aims and context.detours and context.cause == "initial":
            return PlanDraft(steps=(Draft(zone=REACH, expect=self._goal.expect, says=self._goal.says),), final=True)
        tried = self._tried.setdefault(seen.fingerprint, [])
        ideas = [draft for draft in self._searcher.ideas(seen, describe_aim(self._goal)) if draft.says not in tried]
        draft = next(iter((*ideas, *way_out(context))))
        tried.append(draft.says)
        return PlanDraft(steps=(replace(draft, transition=True), Draft(zone=REPLAN)))


class RandomTries:
    """Tries anything that sends nothing."""

    def __init__(self, seed: int) -> None:
        self._chance = Random(f"tries {seed}")

    async def plan_try(self, context: DetourContext) -> TryDraft:
        ideas = [_on(zone) for zone in context.observation.zones if _may_open(zone)]
        return TryDraft(step=self._chance.choice([*ideas, *way_out(context), escape(context.catalogue)]))


class NoisyJudge:
    """Knows how far away the goal is, and says so with noise to order: 0 is the truth, 1 is nothing but noise.

    What it makes of a state it makes of it every time, as a model would.
    """

    def __init__(self, steps: Callable[[], int], *, noise: float = 0.0, seed: int = 0) -> None:
        self._steps = steps
        self._noise = noise
        self._seed = seed

    async def judge(self, context: JudgingContext) -> Closeness:
        truth = max(0.0, 10.0 - 1.5 * self._steps())
        error = Random(f"{self._seed} {context.observation.fingerprint}").uniform(0.0, 9.0)
        return Closeness(value=(1.0 - self._noise) * truth + self._noise * error, cost=ONE_CALL)


def describe_aim(goal: Goal) -> str:
    """What to look for: a title or a label that the goal names, or else its words."""
    checks = goal.expect.checks if goal.expect else ()
    named = [check.pattern for check in checks if isinstance(check, SurfaceMatches)]
    named += [label for check in checks if (label := getattr(check, "label", ""))]
    named += [goal.target.label] if goal.target else []
    return named[0] if named else goal.says


def _in_vain(context: DetourContext) -> set[str]:
    """Zones that are not worth another try: they never helped, or not in this state, or just now."""
    tried, helped, not_here = set[str](), set[str](), set[str]()
    renumbered = Counter[tuple[str, str]]()
    for past in context.tries:
        if past.step is None:
            continue
        tried.add(past.step.zone)
        if past.closeness_after > past.closeness_before:
            helped.add(past.step.zone)
        elif past.before == context.observation.fingerprint:
            not_here.add(past.step.zone)
            gone = context.observation.zone(past.step.zone) is None
            renumbered[past.step.target.role, past.step.target.label] += gone
    path = [past.step.zone for past in context.tries if past.step and not past.reverted]
    return (tried - helped) | not_here | set(path[-1:]) | _again(context.observation, renumbered)


def _again(seen: Observation, tried: Counter[tuple[str, str]]) -> set[str]:
    """The same under other ids: a page that was loaded again counts its zones from the start. Of several alike, the first were tried."""
    found = set[str]()
    for zone in seen.zones:
        if tried[zone.role, zone.label] > 0:
            tried[zone.role, zone.label] -= 1
            found.add(zone.id)
    return found


def _page_before(context: DetourContext) -> TryDraft:
    """Where there are pages, a link is taken back by going back."""
    if context.catalogue.skill(GO_BACK) is None:
        return TryDraft(verdict="gave_up", detail="no idea how to take that back")
    return TryDraft(step=Draft(zone=GLOBAL, skill=GO_BACK, says="Go back"))


def escape(catalogue: Catalogue) -> Draft:
    press = find_key_skill(catalogue)
    return replace(ESCAPE, skill=press[0].name, arguments=((press[1], "Escape"),)) if press else ESCAPE


def way_out(context: DetourContext | PlanningContext) -> list[Draft]:
    """A control that closes what is open and changes nothing."""
    zones = (zone for zone in context.observation.zones if zone.label.lower() in CLOSES[1:] and _is_free(zone))
    return [_on(zone) for zone in zones] or [escape(context.catalogue)]


def _may_open(zone: Zone) -> bool:
    return zone.role in OPENS and zone.label.lower() not in CLOSES and _is_free(zone)


def _is_free(zone: Zone) -> bool:
    return not zone.get("disabled") and not zone.get("covered")


def _lasts(zone: Zone) -> bool:
    return zone.role in LASTING or zone.get("expanded") is not None


def _on(zone: Zone) -> Draft:
    if zone.role == "row":
        return Draft(zone=zone.id, skill="right_click", says=f"Right-click {zone.label}")
    return Draft(zone=zone.id, skill="click", says=f"Click {zone.label}")
