"""Planners without a model: a playbook, which has rules for screens, and the same plan for every screen."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase

from midcourse.domain.expectation import Expectation
from midcourse.domain.fields import NONE, Several, keep_several
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.plan import GLOBAL, REPLAN, Draft
from midcourse.errors import TaskInvalid
from midcourse.policy.evidence.verification import holds, is_in_container
from midcourse.ports.planner import PlanDraft, PlanningContext


@dataclass(frozen=True, kw_only=True)
class ZonePattern:
    """`role:label` or `label`. The label may have wildcards; the role is exact, and empty or `*` means any.

    `role:label@container` is one in a container, such as a row, by the zones' state `within`; a zone that really has such a
    label comes first. A role is a word in small letters and is followed by no space, so `Time: now` is a label. `:http://x` says that
    what follows is a label, regardless of its characters.
    """

    role: str = ""
    label: str = ""

    @classmethod
    def parse(cls, text: str) -> "ZonePattern":
        role, colon, label = text.partition(":")
        is_role = role in ("", "*") or (role == role.lower() and role.replace("_", "").replace("-", "").isalnum())
        if colon and label and not label[0].isspace() and is_role:
            return cls(role="" if role == "*" else role, label=label)
        return cls(label=text)

    def __str__(self) -> str:
        """As it is parsed."""
        text = f"{self.role}:{self.label}" if self.role else self.label
        return text if ZonePattern.parse(text) == self else f":{self.label}"

    def fits(self, zone: Zone) -> bool:
        return self.role in ("", zone.role) and (
            fnmatchcase(zone.label, self.label) or is_in_container(zone, self.label)
        )

    def zone_in(self, seen: Observation) -> Zone | None:
        """The zone that matches, or None. Raises `Ambiguous` if several different zones match; for `*` alone it returns the first."""
        fitting = [zone for zone in seen.zones if self.fits(zone)]
        fitting = [zone for zone in fitting if fnmatchcase(zone.label, self.label)] or fitting
        looks = {(zone.role, zone.label, zone.state) for zone in fitting}
        if len(looks) > 1 and self.label.strip("*"):
            raise Ambiguous(
                f"'{self}' may be any of {len(fitting)} zones on '{seen.surface.title}': {_describe_zones(fitting)}"
            )
        return fitting[0] if fitting else None


class Ambiguous(Exception):
    """A pattern fits several zones; the message lists them."""


MOST_LISTED = 8


def _describe_zones(zones: list[Zone]) -> str:
    """Each zone as a pattern with its container, if that distinguishes it."""
    names = [f"{zone.role}:{zone.label}" + (f"@{zone.get('within')}" if zone.get("within") else "") for zone in zones]
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return f"{', '.join(names[:MOST_LISTED])}{more}"


@dataclass(frozen=True, kw_only=True)
class Once(Draft):
    """A draft that is left out once a step with the same `says` is completed."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.says:
            raise TaskInvalid("a step that is done once needs `says`: that is what it is recognised by")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What to do on a screen whose title matches `on`, while `when` holds: do these steps, or end the task.

    The zone of a step is a zone pattern, `__global__` or `__replan__`. A rule has exactly one answer: steps, `done` or
    `impossible`. For 'do this, and then it is done', write two rules.
    """

    on: str = "*"
    """Matches the surface's title."""
    when: Expectation | None = None
    steps: Several[Draft] = NONE
    final: bool | None = None
    done: bool = False
    impossible: str = ""

    def __post_init__(self) -> None:
        keep_several(self, "steps")
        if [bool(self.steps), self.done, bool(self.impossible)].count(True) != 1:
            raise TaskInvalid(f"the rule on '{self.on}' needs one of: steps, done, impossible")
        if self.when is not None and not self.when.checks:
            raise TaskInvalid(f"the rule on '{self.on}' has a condition in words only: nothing here can read it")

    def applies_to(self, seen: Observation) -> bool:
        return fnmatchcase(seen.surface.title, self.on) and (self.when is None or holds(self.when, seen, None) is True)

    def answer(self, context: PlanningContext) -> PlanDraft | None:
        """The plan of this rule for the context, or None."""
        if self.done:
            return PlanDraft(verdict="done", detail=f"the rule on '{self.on}' says so")
        if self.impossible:
            return PlanDraft(verdict="impossible", detail=self.impossible)
        completed = {step.says for step in context.completed}
        left = [step for step in self.steps if not (isinstance(step, Once) and step.says in completed)]
        try:
            visible = _select_visible(left, context.observation)
        except Ambiguous as problem:
            return PlanDraft(verdict="impossible", detail=str(problem))
        if all(step.zone == REPLAN for step in visible):
            return None
        if len(visible) < len(left) and visible[-1].zone != REPLAN:
            return PlanDraft(steps=(*visible, Draft(zone=REPLAN, says="Look again and plan the rest")), final=False)
        return PlanDraft(steps=tuple(visible), final=self.final)


def _select_visible(steps: Iterable[Draft], seen: Observation) -> list[Draft]:
    """The steps up to the first whose zone is not there or that says `__replan__`, aimed at zones by their ids."""
    visible: list[Draft] = []
    for step in steps:
        if step.zone in (GLOBAL, REPLAN):
            visible.append(_aim_step(step, step.zone))
            if step.zone == REPLAN:
                break
            continue
        zone = ZonePattern.parse(step.zone).zone_in(seen)
        if zone is None:
            break
        visible.append(_aim_step(step, zone.id))
    return visible


def _aim_step(step: Draft, zone: str) -> Draft:
    """Make a plain draft for this zone: only the playbook knows that a step is done once; it is not stored with the plan."""
    plain = {field.name: getattr(step, field.name) for field in fields(Draft)}
    return replace(Draft(**plain), zone=zone)


class Playbook:
    """Answers with the first rule that fits the screen and has something left to do on it.

    It does not learn from failed attempts: where a task can go wrong, write a rule for the screen it goes wrong on.
    """

    given = True

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)

    async def plan(self, context: PlanningContext) -> PlanDraft:
        rules = [rule for rule in self.rules if rule.applies_to(context.observation)]
        for rule in rules:
            answer = rule.answer(context)
            if answer is not None:
                return answer
        title = context.observation.surface.title
        if rules:
            return PlanDraft(verdict="gave_up", detail=f"no rule has anything left that can be done on '{title}'")
        return PlanDraft(verdict="gave_up", detail=f"no rule fits the screen '{title}'")


class SamePlan:
    """Proposes the same plan for every context. Zones are ids, as in any plan.

    Like a planner that ignores failed attempts, it repeats a mistake until the run is stopped.
    """

    given = True

    def __init__(self, drafts: Iterable[Draft], *, final: bool | None = None) -> None:
        self._plan = PlanDraft(steps=tuple(drafts), final=final)

    async def plan(self, context: PlanningContext) -> PlanDraft:
        return self._plan
