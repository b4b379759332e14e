"""Turns a planner's draft into steps for the visible screen, and reports every repair.

Repairs are made only where they are certain: a step on a zone that is not visible is dropped, nothing after a transition
is kept, and a transition is always followed by `__replan__`. A plan that lost a step is not the last one, and no step that
may send something is kept behind the gap: it may rely on the dropped step.
"""

from dataclasses import dataclass
from itertools import dropwhile, zip_longest

from midcourse.domain.argument import Argument, Arguments, Reference, is_json
from midcourse.domain.budget import Limits
from midcourse.domain.observation import Observation
from midcourse.domain.plan import GLOBAL, REACH, REPLAN, Draft, Place, PlannedStep, Step, Target
from midcourse.domain.replace import replace
from midcourse.domain.skill import Catalogue, Parameter, Skill, ValueType
from midcourse.domain.task import Task
from midcourse.policy.approval.destination import find_unvouched
from midcourse.policy.approval.rules import planned_consequence, provisional_ruling
from midcourse.policy.evidence.verification import describe, needs_reader
from midcourse.policy.identity import call_digest
from midcourse.policy.spelling import describe_unknown, suggest_nearest

PLACES: dict[str, Place] = {REPLAN: "replan", GLOBAL: "global", REACH: "reach"}
REACH_SKILL = Skill(name="reach", effect="read", transition=True, on_zone=False)
"""The skill of a `__reach__` step, which names only what must be true afterwards."""
SHORT_ID = 4


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """The steps of a draft that can be carried out, and the repairs that were made."""

    steps: tuple[Step, ...]
    final: bool
    repairs: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Scope:
    """The task, screen and skills that a draft is resolved against."""

    task: Task
    observation: Observation
    catalogue: Catalogue
    beyond: bool = False
    """Keep steps on screens that were not observed, as a fixed plan does. For comparisons in benchmarks."""
    detours: bool = False
    """Whether there is a detour planner to find what a step only names (`__reach__`)."""


def may_plan_beyond(limits: Limits, plans_made: int) -> bool:
    """Whether the next plan may contain steps on screens that were not observed yet."""
    return limits.visible_plans is not None and plans_made >= limits.visible_plans


def resolve(drafts: tuple[Draft, ...], final: bool | None, version: int, scope: Scope) -> Resolved:
    """Resolve the steps of this draft that can be carried out on this screen, up to the next transition."""
    candidates = [_build_candidate(number, draft, scope) for number, draft in enumerate(drafts, start=1)]
    # The earliest cut wins. Where two fall together, a transition comes first: it is about the step before the cut.
    cuts = (
        _cut_after_transition(candidates, final, scope),
        _cut_at_replan(candidates),
        _cut_behind_gap(candidates),
        _cut_for_length(candidates, scope.task.limits.max_plan_steps),
    )
    cut = min((found for found in cuts if found), key=lambda found: found.keep, default=None)
    reached = candidates[: cut.keep] if cut else candidates
    doable = [(candidate.draft, candidate.skill) for candidate in reached if candidate.skill and not candidate.problem]
    dropped = [candidate for candidate in reached if candidate.problem]
    repairs = [
        f"step {candidate.number} ({candidate.draft.skill or 'no skill'}) dropped: {candidate.problem}"
        for candidate in dropped
    ]
    steps = [_build_step(draft, skill, version, index, scope) for index, (draft, skill) in enumerate(doable)]
    if cut:
        repairs += cut.repairs
    elif steps and (dropped or final is False):
        why = "a step was dropped" if dropped else "the plan says that it is not the last"
        repairs.append(f"{REPLAN} appended: {why}")
    else:
        return Resolved(steps=tuple(steps), final=True, repairs=tuple(repairs))
    if steps:
        steps.append(_build_replan_step(version, len(steps), scope))
    return Resolved(steps=tuple(steps), final=False, repairs=tuple(repairs))


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    """A step of the draft, counted from 1, with its skill and the problem that forbids it. `__replan__` has neither."""

    number: int
    draft: Draft
    skill: Skill | None
    problem: str

    @property
    def is_replan(self) -> bool:
        return self.draft.zone == REPLAN


@dataclass(frozen=True, kw_only=True)
class _Cut:
    """A point where the plan ends before its draft: how many candidates are kept, and why the others are not."""

    keep: int
    repairs: tuple[str, ...]


def _build_candidate(number: int, draft: Draft, scope: Scope) -> _Candidate:
    if draft.zone == REPLAN:
        return _Candidate(number=number, draft=draft, skill=None, problem="")
    skill = REACH_SKILL if draft.zone == REACH else scope.catalogue.skill(draft.skill)
    problem = _unknown_skill(draft, scope) if skill is None else step_problem(draft, skill, scope)
    return _Candidate(number=number, draft=draft, skill=skill, problem=problem)


def _cut_after_transition(candidates: list[_Candidate], final: bool | None, scope: Scope) -> _Cut | None:
    """Cut after the first step that may change the screen, unless it is the last step of the last plan."""
    if scope.beyond:
        return None
    for candidate, after in zip_longest(candidates, candidates[1:]):
        if (
            candidate.skill is None
            or candidate.problem
            or not _is_transition(candidate.draft, candidate.skill)
            or (after is None and final)
        ):
            continue
        if after and after.is_replan:
            return _Cut(keep=candidate.number, repairs=())
        inserted = f"{REPLAN} inserted after step {candidate.number}, which may change the screen"
        unseen = _describe_unseen(len(candidates) - candidate.number, "it")
        return _Cut(keep=candidate.number, repairs=(inserted, unseen) if after else (inserted,))
    return None


def _cut_at_replan(candidates: list[_Candidate]) -> _Cut | None:
    """Cut where the draft itself says `__replan__`."""
    replan = next((candidate for candidate in candidates if candidate.is_replan), None)
    if replan is None:
        return None
    behind = len(candidates) - replan.number
    return _Cut(keep=replan.number - 1, repairs=(_describe_unseen(behind, REPLAN),) if behind else ())


def _describe_unseen(steps: int, after: str) -> str:
    counted = "1 step" if steps == 1 else f"{steps} steps"
    return f"{counted} after {after} dropped: that screen was not observed yet"


def _cut_behind_gap(candidates: list[_Candidate]) -> _Cut | None:
    """Cut before the first step after a dropped one whose skill is declared irreversible or a transition.

    In a browser, forms are mostly sent by `click` and `press`, which are transitions; the draft's word that a click leaves
    the screen as it is does not count here, since the planner wrote it for a plan with all its steps.
    """
    for candidate in dropwhile(lambda candidate: not candidate.problem, candidates):
        skill = candidate.skill
        if skill and not candidate.problem and (skill.effect == "irreversible" or skill.transition):
            why = f"cut before step {candidate.number} ({skill.name}): a step that it may rely on was dropped"
            return _Cut(keep=candidate.number - 1, repairs=(why,))
    return None


def _cut_for_length(candidates: list[_Candidate], most: int) -> _Cut | None:
    doable = [candidate for candidate in candidates if candidate.skill and not candidate.problem]
    if len(doable) <= most:
        return None
    return _Cut(keep=doable[most].number - 1, repairs=(f"cut after {most} steps, {REPLAN} inserted",))


def step_problem(draft: Draft | Step, skill: Skill, scope: Scope) -> str:
    """Why this step cannot be done on the visible screen, or an empty string."""
    if draft.zone == REACH:
        return _aim_problem(draft, scope)
    if skill.on_zone and not scope.beyond and scope.observation.zone(draft.zone) is None:
        return f"zone '{draft.zone}' is not visible{_suggest_zone(draft.zone, scope.observation)}"
    if not skill.on_zone and draft.zone != GLOBAL:
        return f"'{skill.name}' does not act on a zone; its target is {GLOBAL}"
    if draft.probe and scope.catalogue.probe(draft.probe.name) is None:
        return describe_unknown("probe", draft.probe.name, (probe.name for probe in scope.catalogue.probes))
    return arguments_problem(draft.arguments, skill.parameters, scope.task)


def _unknown_skill(draft: Draft, scope: Scope) -> str:
    return describe_unknown("skill", draft.skill, (skill.name for skill in scope.catalogue.skills))


def _suggest_zone(zone: str, seen: Observation) -> str:
    """A suggestion: the id of a zone with that label, or a similar id. Short ids are all similar, so they are not compared."""
    labelled = [f"'{other.id}'" for other in seen.zones if zone in (other.label, f"{other.role}:{other.label}")]
    near = " or ".join(labelled[:3]) or (
        len(zone) > SHORT_ID and suggest_nearest(zone, (other.id for other in seen.zones))
    )
    return f"; did you mean {near}?" if near else ""


def _aim_problem(draft: Draft | Step, scope: Scope) -> str:
    if not scope.detours:
        return "detours are off, so a step cannot only name its target"
    if draft.expect is None or not (draft.expect.checks or draft.expect.says.strip()):
        return "it does not say what must be true afterwards (expect)"
    return ""


def arguments_problem(arguments: Arguments, parameters: tuple[Parameter, ...], task: Task) -> str:
    """Why these arguments do not fit the parameters, or an empty string."""
    given = dict(arguments)
    if len(given) != len(arguments):
        return "an argument is given twice"
    known = {parameter.name: parameter for parameter in parameters}
    for name, value in arguments:
        if name not in known:
            return describe_unknown("argument", name, known)
        problem = _value_problem(value, known[name], task)
        if problem:
            return problem
    missing = [parameter.name for parameter in parameters if parameter.required and parameter.name not in given]
    return f"missing argument: '{missing[0]}'" if missing else ""


def _value_problem(value: Argument, parameter: Parameter, task: Task) -> str:
    if isinstance(value, Reference):
        if value.source == "input":
            inputs = dict(task.inputs)
            if value.name not in inputs:
                return f"no such input: '{value.name}'"
            return _value_problem(inputs[value.name], parameter, task)
        if value.source == "result":
            return ""  # its value is not known yet
        if value.source == "argument":
            return "only a skill's probe can refer to an argument"
        names = task.secrets if value.source == "secret" else task.files
        return "" if value.name in names else f"no such {value.source}: '{value.name}'"
    if value is None:
        return f"'{parameter.name}' is missing" if parameter.required else ""
    if not fits_type(value, parameter.type):
        written = " as text, such as '[1, 2]' or '\"a\"'" if parameter.type == "json" else ""
        return f"'{parameter.name}' must be {parameter.type}{written}, not {value!r}"
    if parameter.choices and value not in parameter.choices:
        return f"'{parameter.name}' must be one of {', '.join(map(str, parameter.choices))}"
    return ""


def fits_type(value: object, wanted: ValueType) -> bool:
    match wanted:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "json":
            return is_json(value)


def _build_step(draft: Draft, skill: Skill, version: int, index: int, scope: Scope) -> Step:
    zone = scope.observation.zone(draft.zone)
    surface = scope.observation.surface.title
    target = Target(surface=surface, role=zone.role if zone else "", label=zone.label if zone else "")
    if draft.zone == REACH and draft.expect:
        target = Target(surface="", role="", label=describe(draft.expect))
    step = Step(
        version=version,
        index=index,
        zone=draft.zone,
        skill=skill.name,
        arguments=draft.arguments,
        target=target,
        effect=skill.effect,
        transition=_is_transition(draft, skill),
        expect=draft.expect,
        absent_when=draft.absent_when or skill.absent_when,
        probe=draft.probe or skill.probe,
        needs=_needed_results(draft),
        gives=draft.gives,
        says=draft.says or f"{skill.name} {target.label}".strip(),
        call=call_digest(skill.name, target, draft.arguments),
        asks=bool(find_unvouched(draft.arguments, skill.parameters, scope.task)),
    )
    planned = planned_consequence(step, scope.observation.surface.origin)
    return replace(step, ruled=provisional_ruling(scope.task, planned, skill))


def _is_transition(draft: Draft, skill: Skill) -> bool:
    return skill.transition if draft.transition is None else draft.transition


def _needed_results(draft: Draft) -> tuple[str, ...]:
    """Names of the results that the draft declares to need, and those that its arguments refer to."""
    referred = (value.name for _, value in draft.arguments if isinstance(value, Reference) and value.source == "result")
    return tuple(dict.fromkeys((*draft.needs, *referred)))


def _build_replan_step(version: int, index: int, scope: Scope) -> Step:
    target = Target(surface=scope.observation.surface.title, role="", label="")
    return Step(version=version, index=index, zone=REPLAN, target=target, says="Look again and plan the rest")


def short_form(step: Step, identity: str = "", consequence: str = "") -> PlannedStep:
    """The part of a step that the director needs."""
    return PlannedStep(
        version=step.version,
        index=step.index,
        place=PLACES.get(step.zone, "zone"),
        skill=step.skill,
        effect=step.effect,
        transition=step.transition,
        call=step.call,
        identity=identity,
        consequence=consequence,
        asks=step.asks,
        ruled=step.ruled,
        reads=step.expect is not None and needs_reader(step.expect),
    )
