"""How far does this plan really see? Turns a planner's draft into steps for what is visible, and says what it mended.

Repairs are made only where they are certain: a step on something that is not there is dropped, nothing after a
transition is kept, and a transition is always followed by `__replan__`. A plan that lost a step is not the last one, and
nothing irreversible is kept behind the gap.
"""

from dataclasses import dataclass

from midcourse.domain.argument import Argument, Arguments, Reference
from midcourse.domain.budget import Limits
from midcourse.domain.observation import Observation
from midcourse.domain.plan import GLOBAL, REACH, REPLAN, Draft, Place, PlannedStep, Step, Target
from midcourse.domain.replace import replace
from midcourse.domain.skill import Catalogue, Parameter, Skill, ValueType
from midcourse.domain.task import Task
from midcourse.policy.approval.destination import unvouched
from midcourse.policy.approval.rules import as_planned, provisional_ruling
from midcourse.policy.evidence.verification import describe, in_words
from midcourse.policy.identity import call_digest
from midcourse.policy.spelling import nearest, unknown

PLACES: dict[str, Place] = {REPLAN: "replan", GLOBAL: "global", REACH: "reach"}
AIM = Skill(name="reach", effect="read", transition=True, on_zone=False)
"""What stands for a skill in a step that only says what has to be true after it."""
SHORT_ID = 4


@dataclass(frozen=True, kw_only=True)
class Resolved:
    steps: tuple[Step, ...]
    final: bool
    repairs: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class View:
    """What a draft is resolved against."""

    task: Task
    observation: Observation
    catalogue: Catalogue
    beyond: bool = False
    """Keep steps on what nobody has seen: what a fixed plan does, for comparison."""
    detours: bool = False
    """Whether somebody finds the way to what a step only names."""


def may_plan_beyond(limits: Limits, plans_made: int) -> bool:
    """Whether the next plan need not keep to what is visible."""
    return limits.visible_plans is not None and plans_made >= limits.visible_plans


def resolve(drafts: tuple[Draft, ...], final: bool | None, version: int, view: View) -> Resolved:
    """The steps of this draft that can be carried out from here, up to the next transition."""
    steps: list[Step] = []
    repairs: list[str] = []
    room = view.task.limits.max_plan_steps
    ended = gap = False
    for number, draft in enumerate(drafts, start=1):
        if draft.zone == REPLAN:
            dropped = len(drafts) - number
            if dropped:
                repairs.append(f"{dropped} steps after {REPLAN} dropped: nobody has seen that screen yet")
            ended = True
            break
        skill = AIM if draft.zone == REACH else view.catalogue.skill(draft.skill)
        problem = _unknown_skill(draft, view) if skill is None else step_problem(draft, skill, view)
        if skill is None or problem:
            repairs.append(f"step {number} ({draft.skill or 'no skill'}) dropped: {problem}")
            gap = True
            continue
        if gap and skill.effect == "irreversible":
            repairs.append(f"cut before step {number} ({skill.name}): a step that it may rely on was dropped")
            ended = True
            break
        if len(steps) == room:
            repairs.append(f"cut after {room} steps, {REPLAN} inserted")
            ended = True
            break
        steps.append(_step(draft, skill, version, len(steps), view))
        last = number == len(drafts)
        if steps[-1].transition and not view.beyond and not (last and final):
            if last or drafts[number].zone != REPLAN:
                repairs.append(f"{REPLAN} inserted after step {number}, which may change the screen")
            if not last and drafts[number].zone != REPLAN:
                repairs.append(f"{len(drafts) - number} steps after it dropped: nobody has seen that screen yet")
            ended = True
            break
    if (gap or final is False) and not ended and steps:
        why = "a step was dropped" if gap else "the plan says that it is not the last"
        repairs.append(f"{REPLAN} appended: {why}")
        ended = True
    if ended and steps:
        steps.append(_sentinel(version, len(steps), view))
    return Resolved(steps=tuple(steps), final=not ended, repairs=tuple(repairs))


def step_problem(draft: Draft | Step, skill: Skill, view: View) -> str:
    """Why this step cannot be done from what is seen, or nothing."""
    if draft.zone == REACH:
        return _aim_problem(draft, view)
    if skill.on_zone and not view.beyond and view.observation.zone(draft.zone) is None:
        return f"zone '{draft.zone}' is not visible{_meant(draft.zone, view.observation)}"
    if not skill.on_zone and draft.zone != GLOBAL:
        return f"'{skill.name}' acts on no zone; its target is {GLOBAL}"
    if draft.probe and view.catalogue.probe(draft.probe.name) is None:
        return unknown("probe", draft.probe.name, (one.name for one in view.catalogue.probes))
    return arguments_problem(draft.arguments, skill.parameters, view.task)


def _unknown_skill(draft: Draft, view: View) -> str:
    return unknown("skill", draft.skill, (skill.name for skill in view.catalogue.skills))


def _meant(zone: str, seen: Observation) -> str:
    """The id that was probably meant, in words: of a zone with that label, or one that looks alike. Short ids all look alike."""
    labelled = [f"'{other.id}'" for other in seen.zones if zone in (other.label, f"{other.role}:{other.label}")]
    near = " or ".join(labelled[:3]) or (len(zone) > SHORT_ID and nearest(zone, (other.id for other in seen.zones)))
    return f"; did you mean {near}?" if near else ""


def _aim_problem(draft: Draft | Step, view: View) -> str:
    if not view.detours:
        return "nobody here finds the way to what a plan only names"
    if draft.expect is None or not (draft.expect.checks or draft.expect.says.strip()):
        return "it does not say what has to be true afterwards"
    return ""


def arguments_problem(arguments: Arguments, parameters: tuple[Parameter, ...], task: Task) -> str:
    """Why these arguments do not fit the parameters, or nothing."""
    given = dict(arguments)
    if len(given) != len(arguments):
        return "an argument is given twice"
    known = {parameter.name: parameter for parameter in parameters}
    for name, value in arguments:
        if name not in known:
            return unknown("argument", name, known)
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
            return ""  # what it will be nobody knows yet
        if value.source == "argument":
            return "only a skill's probe can refer to an argument"
        names = task.secrets if value.source == "secret" else task.files
        return "" if value.name in names else f"no such {value.source}: '{value.name}'"
    if value is None:
        return f"'{parameter.name}' is missing" if parameter.required else ""
    if not fits(value, parameter.type):
        return f"'{parameter.name}' must be {parameter.type}, not {value!r}"
    if parameter.choices and value not in parameter.choices:
        return f"'{parameter.name}' must be one of {', '.join(map(str, parameter.choices))}"
    return ""


def fits(value: object, wanted: ValueType) -> bool:
    match wanted:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)


def _step(draft: Draft, skill: Skill, version: int, index: int, view: View) -> Step:
    zone = view.observation.zone(draft.zone)
    surface = view.observation.surface.title
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
        transition=skill.transition if draft.transition is None else draft.transition,
        expect=draft.expect,
        absent_when=draft.absent_when or skill.absent_when,
        probe=draft.probe or skill.probe,
        needs=_needed(draft),
        gives=draft.gives,
        says=draft.says or f"{skill.name} {target.label}".strip(),
        call=call_digest(skill.name, target, draft.arguments),
        asks=bool(unvouched(draft.arguments, skill.parameters, view.task)),
    )
    foreseen = as_planned(step, view.observation.surface.origin)
    return replace(step, ruled=provisional_ruling(view.task, foreseen))


def _needed(draft: Draft) -> tuple[str, ...]:
    """The results that it says it needs, and those that its arguments refer to."""
    referred = (value.name for _, value in draft.arguments if isinstance(value, Reference) and value.source == "result")
    return tuple(dict.fromkeys((*draft.needs, *referred)))


def _sentinel(version: int, index: int, view: View) -> Step:
    target = Target(surface=view.observation.surface.title, role="", label="")
    return Step(version=version, index=index, zone=REPLAN, target=target, says="Look again and plan the rest")


def short_form(step: Step, identity: str = "", consequence: str = "") -> PlannedStep:
    """What the director needs of a step."""
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
        reads=step.expect is not None and in_words(step.expect),
    )
