"""A plan as a model writes it, and its conversion to a draft.

Repairs need no guess: another spelling of the same thing, if it is unambiguous. A zone by its label, a skill in other letters, a number
for a text. Any other mistake is left: such a step is dropped when the draft is resolved, and the model is informed.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeVar, cast

from pydantic import Field, model_validator

from midcourse.domain.argument import Argument, Arguments, Reference, Scalar, Source
from midcourse.domain.expectation import (
    Check,
    Expectation,
    Probe,
    SurfaceMatches,
    TextContains,
    ZoneAppears,
    ZoneGone,
    ZoneHasState,
)
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.plan import GLOBAL, REACH, REPLAN, Draft
from midcourse.domain.skill import Catalogue, Parameter, Skill
from midcourse.llm.answer_parser import Answer
from midcourse.llm.roles.named_values import Misfit, NamedValue, NamedValues, Written, read_arguments
from midcourse.ports.planner import PlanDraft, PlanningContext

T = TypeVar("T")

_REFERENCE = re.compile(r"\$(input|secret|file|result)\.(\S+)")
_ROLE = re.compile(r"([a-z]+):(\S.*)", re.DOTALL)
_STATE = re.compile(r"(.+) (\w+)=(.*)", re.DOTALL)
ADDRESS = "url"
"""The name of an argument that is an address, in skills and probes."""


class ExpectAnswer(Answer):
    """What is to be true, all of it. `appears`, `gone` and `state` name a zone as LABEL or ROLE:LABEL; * stands for anything."""

    page: str = ""
    """Title or address."""
    text: str = ""
    appears: str = ""
    gone: str = ""
    state: str = ""
    """ZONE NAME=VALUE, such as `checkbox:Gift checked=true`."""
    says: str = ""
    """The same in words, if nothing else can tell it."""


class ProbeAnswer(Answer):
    name: str
    arguments: NamedValues = Field(default_factory=list[NamedValue])


OTHER_NAMES = {"zone_id": "zone", "action_type": "skill", "parameters": "arguments", "description": "says"}
"""Names that a model may have learned from another prompt, and ours."""
EXPECTED = "expected_change"
"""Another name for an expectation in words."""


class StepAnswer(Answer):
    zone: str = ""
    skill: str = ""
    arguments: NamedValues = Field(default_factory=list[NamedValue])
    says: str = ""
    expect: ExpectAnswer | None = None
    probe: ProbeAnswer | None = None
    transition: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _rename_fields(cls, value: object) -> object:
        """Accept a step with `zone_id`, `action_type`, `parameters`, `expected_change` and `description`. Our own names win."""
        if not isinstance(value, dict):
            return value
        given = cast(dict[str, object], value)
        renamed = {OTHER_NAMES[name]: each for name, each in given.items() if name in OTHER_NAMES}
        if isinstance(words := given.get(EXPECTED), str) and words.strip():
            renamed["expect"] = {"says": words}
        return {**renamed, **given} if renamed else given


class PlanAnswer(Answer):
    verdict: Literal["steps", "done", "impossible", "gave_up", "ask"] = "steps"
    reason: str = ""
    steps: list[StepAnswer] = Field(default_factory=list[StepAnswer])
    final: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _unwrap(cls, value: object) -> object:
        """Accept a list of steps alone, or a plan under the name 'plan'. Refuse a fragment, although every field has a default."""
        if isinstance(value, dict):
            inner = cast(dict[str, object], value)
            value = inner["plan"] if inner.keys() == {"plan"} else inner
        if isinstance(value, dict) and not value.keys() & cls.model_fields.keys():
            raise ValueError("there are neither steps nor a verdict")
        return {"steps": cast(object, value)} if isinstance(value, list) else cast(object, value)


def build_plan_draft(answer: PlanAnswer, context: PlanningContext) -> PlanDraft:
    if answer.verdict != "steps":
        return PlanDraft(verdict=answer.verdict, detail=answer.reason)
    if not answer.steps:
        return PlanDraft(verdict="gave_up", detail=answer.reason or "the plan has no steps")
    # One more than allowed, so that `policy/plan/horizon.py` still cuts the plan and reports it.
    most = context.task.limits.max_plan_steps + 1
    drafts: list[Draft] = []
    repairs: list[str] = []
    for number, step in enumerate(answer.steps[:most], start=1):
        try:
            draft, repaired = build_step_draft(step, context.observation, context.catalogue)
        except Misfit as error:
            return PlanDraft(verdict="garbage", detail=f"step {number} ({step.skill}) has the wrong shape: {error}")
        drafts.append(draft)
        repairs += [f"step {number}: {repair}" for repair in repaired]
    # A model need not write the request to plan again after the last step: a plan is the last one only if it says so.
    if not answer.final and answer.steps[-1].zone not in (REPLAN, REACH):
        drafts.append(Draft(zone=REPLAN))
    return PlanDraft(
        steps=tuple(drafts),
        final=answer.final,
        detail=answer.reason,
        repairs=tuple(repairs),
    )


def build_step_draft(step: StepAnswer, observation: Observation, catalogue: Catalogue) -> tuple[Draft, tuple[str, ...]]:
    """Convert a single step, and name its repairs. Raises `Misfit`."""
    zone, skill, arguments, repairs = _repair_step(step, observation, catalogue)
    checks = tuple(_build_checks(step.expect)) if step.expect else ()
    says = step.expect.says if step.expect else ""
    probe = None
    if step.probe:
        known, given = catalogue.probe(step.probe.name), _find_references(step.probe.arguments, observation)
        probe = Probe(name=step.probe.name, arguments=read_arguments(given, known.parameters if known else ()))
    draft = Draft(
        zone=zone,
        skill=skill,
        arguments=arguments,
        expect=Expectation(checks=checks, says=says) if checks or says else None,
        probe=probe,
        transition=step.transition,
        says=step.says,
    )
    return draft, tuple(repairs)


def _repair_step(step: StepAnswer, seen: Observation, catalogue: Catalogue) -> tuple[str, str, Arguments, list[str]]:
    """Return zone, skill and arguments of the step, and its repairs. Raises `Misfit`."""
    if step.zone == REPLAN or (step.skill == REPLAN and catalogue.skill(step.skill) is None):
        return REPLAN, "", (), []
    skill = catalogue.skill(step.skill) or _find_only(
        catalogue.skills, lambda skill: _normalize(skill.name) == _normalize(step.skill)
    )
    written = read_arguments(_find_references(step.arguments, seen), skill.parameters if skill else ())
    if skill is None:
        return step.zone, step.skill, written, []
    zone, arguments = _find_zone(step.zone, skill, seen), _repair_arguments(written, skill)
    repairs = [f"skill '{step.skill}' is {skill.name}"] if skill.name != step.skill else []
    repairs += [f"zone '{step.zone}' is {zone}"] if step.zone and zone != step.zone else []
    if repr(arguments) != repr(written):  # compared as text, because 3 == 3.0
        repairs.append(f"arguments of {skill.name} were written in another way")
    return zone, skill.name, arguments, repairs


def _normalize(name: str) -> str:
    return name.strip().casefold().replace("-", "_").replace(" ", "_")


def _find_zone(name: str, skill: Skill, seen: Observation) -> str:
    if not skill.on_zone:
        return name or GLOBAL
    if not name or seen.zone(name) is not None:
        return name

    def list_names(zone: Zone) -> tuple[str, ...]:
        as_listed = f'{zone.role} "{zone.label}"'
        return zone.label, f"{zone.role}:{zone.label}", as_listed, f"{zone.id} {as_listed}"

    labelled = _find_only(seen.zones, lambda zone: name in list_names(zone))
    return labelled.id if labelled else name


def _repair_arguments(arguments: Arguments, skill: Skill) -> Arguments:
    known = {parameter.name: parameter for parameter in skill.parameters}
    kept: list[tuple[str, Argument]] = []
    for name, value in arguments:
        parameter = known.get(name)
        if value is None and (parameter is None or not parameter.required):
            continue  # null for a parameter that may be left out
        kept.append((name, value if parameter is None else _repair_value(value, parameter)))
    return tuple(kept)


def _repair_value(value: Argument, parameter: Parameter) -> Argument:
    if isinstance(value, bool) or value is None:
        return value
    if parameter.type == "string" and isinstance(value, str | int):
        text = str(value)
        if not parameter.choices or text in parameter.choices:
            return text
        fitting = _find_only(
            parameter.choices, lambda choice: isinstance(choice, str) and _normalize(choice) == _normalize(text)
        )
        return text if fitting is None else fitting
    if parameter.type == "integer" and isinstance(value, float) and float.is_integer(value) and abs(value) < 2**53:
        return int(value)
    return value


def _find_only(items: Iterable[T], fits: Callable[[T], bool]) -> T | None:
    """Return the item that fits, if there is exactly one."""
    found = [item for item in items if fits(item)]
    return found[0] if len(found) == 1 else None


def _find_references(given: list[NamedValue], seen: Observation) -> Iterator[tuple[str, Written | Reference]]:
    origin = seen.surface.origin
    for each in given:
        value = each.value
        if each.name == ADDRESS and isinstance(value, str) and value.startswith("/") and not value.startswith("//"):
            # Prompts show addresses of the page's origin without it, so answers may contain such addresses.
            value = f"{origin}{value}" if origin.startswith(("http://", "https://")) else value
        found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        yield each.name, Reference(source=cast(Source, found[1]), name=found[2]) if found else value


def _build_checks(answer: ExpectAnswer) -> Iterable[Check]:
    if answer.page:
        yield SurfaceMatches(pattern=answer.page)
    if answer.text:
        yield TextContains(text=answer.text)
    if answer.appears:
        role, label = _split_zone(answer.appears)
        yield ZoneAppears(label=label, role=role)
    if answer.gone:
        role, label = _split_zone(answer.gone)
        yield ZoneGone(label=label, role=role)
    if found := _STATE.fullmatch(answer.state):
        role, label = _split_zone(found[1])
        yield ZoneHasState(state=found[2], value=_parse_scalar(found[3]), label=label, role=role)


def _split_zone(text: str) -> tuple[str, str]:
    """Return role and label; the role is empty if the text has none."""
    found = _ROLE.fullmatch(text)
    return (found[1], found[2]) if found else ("", text)


def _parse_scalar(text: str) -> Scalar:
    try:
        value: object = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str | int | float | bool) else text
