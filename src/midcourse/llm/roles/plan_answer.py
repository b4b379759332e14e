"""A plan as a model writes it, and its conversion to a draft.

Repairs need no guess: another spelling of the same thing, if it is unambiguous. A zone by its label, a skill in other letters, a number
for a text. Any other mistake is left: such a step is dropped when the draft is resolved, and the model is informed.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeVar, cast

from pydantic import Field, model_validator

from midcourse.domain.argument import Argument, Arguments, OutputValue, Reference, Scalar, Source, json_text
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
from midcourse.domain.replace import replace
from midcourse.domain.skill import Catalogue, Parameter, Skill
from midcourse.llm.answer_parser import Answer
from midcourse.llm.prompt.screen import resolve_address
from midcourse.llm.roles.named_values import (
    CitedValue,
    CitedValues,
    Misfit,
    NamedValue,
    NamedValues,
    Structure,
    Written,
    read_arguments,
    read_value,
)
from midcourse.policy.grounding import read_name
from midcourse.ports.planner import PlanDraft, PlanningContext

T = TypeVar("T")

_REFERENCE = re.compile(r"\$(input|secret|file|result)\.(\S+)")
_STATE = re.compile(r"(.+) (\w+)=(.*)", re.DOTALL)
ADDRESS = "url"
"""The name of an argument that is an address, in skills and probes."""


EXPECTATIONS = ("page", "text", "appears", "gone", "state", "says")
"""Names of what a step may expect; all that it names has to be true. `page` is a title or an address. `appears`, `gone` and `state`
name a zone as LABEL or ROLE:LABEL, and `state` adds NAME=VALUE to it, as in `checkbox:Gift checked=true`. * stands for anything.
`says` is in words, for what nothing else can tell.
"""
MOST_NOTE = 300
"""Characters of a note that are kept, since it is a part of the run's state."""


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
    expect: NamedValues = Field(default_factory=list[NamedValue])
    probe: ProbeAnswer | None = None
    transition: bool | None = None
    result_name: str = Field(default="", alias="as")
    """The name under which its result is kept, for `$result.NAME`."""
    on: str = ""
    """The title or address of the screen on which it is to be done, if that is not the present one. Its zone is ROLE:LABEL then."""

    @model_validator(mode="before")
    @classmethod
    def _rename_fields(cls, value: object) -> object:
        """Accept a step with `zone_id`, `action_type`, `parameters`, `expected_change` and `description`. Our own names win."""
        if not isinstance(value, dict):
            return value
        given = _drop_nulls(cast(dict[str, object], value))
        renamed = {OTHER_NAMES[name]: each for name, each in given.items() if name in OTHER_NAMES}
        if isinstance(words := given.get(EXPECTED), str) and words.strip():
            renamed["expect"] = {"says": words}
        return {**renamed, **given} if renamed else given


def _drop_nulls(given: dict[str, object]) -> dict[str, object]:
    """Every field may be left out, and null means the same."""
    return {name: each for name, each in given.items() if each is not None}


class PlanAnswer(Answer):
    reason: str = ""
    """Comes first, since a model thinks by writing it: what it writes after it can follow from it."""
    verdict: Literal["steps", "done", "impossible", "gave_up", "ask"] = "steps"
    steps: list[StepAnswer] = Field(default_factory=list[StepAnswer])
    final: bool | None = None
    answer: str = ""
    """What the user is told."""
    data: CitedValues = Field(default_factory=list[CitedValue])
    note: str = ""
    """What the next call should know."""

    @model_validator(mode="before")
    @classmethod
    def _unwrap(cls, value: object) -> object:
        """Accept a list of steps alone, or a plan under the name 'plan'. Refuse a fragment, although every field has a default."""
        if isinstance(value, dict):
            inner = cast(dict[str, object], value)
            value = inner["plan"] if inner.keys() == {"plan"} else inner
        if isinstance(value, dict) and not value.keys() & cls.model_fields.keys():
            raise ValueError("there are neither steps nor a verdict")
        if isinstance(value, list):
            return {"steps": cast(list[object], value)}
        return _drop_nulls(cast(dict[str, object], value)) if isinstance(value, dict) else value


def build_plan_draft(answer: PlanAnswer, context: PlanningContext) -> PlanDraft:
    draft = _build_steps_draft(answer, context)
    output = {field.name: field for field in context.task.output}
    data = tuple(
        OutputValue(name=each.name, value=_read_output(each.value, output.get(each.name)), source=each.source)
        for each in answer.data
    )
    return replace(draft, answer=answer.answer.strip(), data=data, note=answer.note.strip()[:MOST_NOTE])


def _read_output(value: Written, field: Parameter | None) -> Scalar:
    """Read the value as the field's type. What cannot be read as it stays as text, and is refused for its type later."""
    try:
        read = read_value(value, field)
        return str(read) if field and field.type == "string" and isinstance(read, int | float) else read
    except Misfit:
        return value.text if isinstance(value, Structure) else value


def _build_steps_draft(answer: PlanAnswer, context: PlanningContext) -> PlanDraft:
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
    expected = [(each.name, _read_expected(each)) for each in step.expect]
    repairs += [f"'expect' has no '{name}'" for name, _ in expected if name not in EXPECTATIONS]
    repairs += [
        f"'state' in 'expect' must be LABEL NAME=VALUE, so '{text}' is not checked"
        for name, text in expected
        if name == "state" and text and not _STATE.fullmatch(text)
    ]
    checks = tuple(check for name, text in expected if text and (check := _build_check(name, text)))
    says = "; ".join(text for name, text in expected if name == "says" and text)
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
        result_name=step.result_name.removeprefix("$result."),
        on=step.on,
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
    # The name of a zone on another screen is kept: here the same name may be something else.
    zone = step.zone if step.on and step.zone else _find_zone(step.zone, skill, seen)
    arguments = _repair_arguments(written, skill)
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
    for each in given:
        value = each.value
        if each.name == ADDRESS and isinstance(value, str):
            value = resolve_address(value, seen.surface)
        found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        yield each.name, Reference(source=cast(Source, found[1]), name=found[2]) if found else value


def _read_expected(given: NamedValue) -> str:
    """Return the value as text. Raises `Misfit`."""
    if isinstance(given.value, Structure):
        raise Misfit(f"'{given.name}' in 'expect' takes one text, not a list or an object")
    return given.value if isinstance(given.value, str) else "" if given.value is None else json_text(given.value)


def _build_check(name: str, text: str) -> Check | None:
    """Return the check of one named value; None if it is in words or has no meaning."""
    match name:
        case "page":
            return SurfaceMatches(pattern=text)
        case "text":
            return TextContains(text=text)
        case "appears":
            role, label = read_name(text) or ("", text)
            return ZoneAppears(label=label, role=role)
        case "gone":
            role, label = read_name(text) or ("", text)
            return ZoneGone(label=label, role=role)
        case "state" if found := _STATE.fullmatch(text):
            role, label = read_name(found[1]) or ("", found[1])
            return ZoneHasState(state=found[2], value=_parse_scalar(found[3]), label=label, role=role)
        case _:
            return None


def _parse_scalar(text: str) -> Scalar:
    try:
        value: object = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str | int | float | bool) else text
