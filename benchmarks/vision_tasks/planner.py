"""The planner of the picture arm: the same rules, with a new look before every step whose target may have moved."""

from dataclasses import dataclass, field

from benchmarks.miniwob_tasks.planner import Rule, Spoken
from benchmarks.miniwob_tasks.screen import NotSeen
from benchmarks.miniwob_tasks.step import LOOK
from benchmarks.vision_tasks.screen import PicturedScreen
from midcourse.domain.observation import Zone
from midcourse.domain.plan import REPLAN, Draft
from midcourse.domain.replace import replace
from midcourse.ports.planner import PlanDraft, PlanningContext

STILL = "type"
"""The skill after which everything is where it was."""


@dataclass(frozen=True)
class _Due:
    """A step of the rule's plan, and its target: the nth zone of this role and label."""

    step: Draft
    role: str
    label: str
    nth: int


@dataclass
class PicturePlanner:
    """An element keeps its id when it moves; a position does not. So the rule's plan is carried out up to the first click, and
    the next step's target is found again in the next picture, by role and label."""

    rule: Rule
    episodes: Spoken
    _due: list[_Due] = field(default_factory=list[_Due])
    _more: bool = False

    async def plan(self, context: PlanningContext) -> PlanDraft:
        seen = PicturedScreen([zone for zone in context.observation.zones if zone.pictured])
        if any(zone.label.strip().upper() == "START" for zone in seen.zones):
            return PlanDraft(verdict="done", detail="the page offers to start the next episode")
        try:
            if not self._due:
                steps = self.rule(self.episodes.utterance, seen)
                self._more = any(step.zone == REPLAN for step in steps)
                self._due = [_due(step, seen) for step in steps if step.zone != REPLAN]
            return self._next(seen)
        except (NotSeen, IndexError, ValueError) as missing:  # rules count on a screen that is complete
            self._due = []
            return PlanDraft(verdict="gave_up", detail=str(missing))

    def _next(self, seen: PicturedScreen) -> PlanDraft:
        steps: list[Draft] = []
        while self._due:
            due = self._due[0]
            steps.append(replace(due.step, zone=_target(due, seen).id))
            self._due.pop(0)
            if due.step.skill != STILL:
                break
        return PlanDraft(steps=(*steps, LOOK) if self._due or self._more else tuple(steps))


def _due(step: Draft, seen: PicturedScreen) -> _Due:
    zone = next(zone for zone in seen.zones if zone.id == step.zone)
    alike = [one for one in seen.zones if (one.role, one.label) == (zone.role, zone.label)]
    ticks = step.skill == "check"  # at a position there is only the click
    return _Due(replace(step, skill="click") if ticks else step, zone.role, zone.label, alike.index(zone))


def _target(due: _Due, seen: PicturedScreen) -> Zone:
    alike = [zone for zone in seen.zones if (zone.role, zone.label) == (due.role, due.label)]
    return alike[due.nth] if due.nth < len(alike) else seen.get(due.label, due.role)
