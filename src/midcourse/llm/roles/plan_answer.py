"""A plan as a model writes it, and its conversion to a draft."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Literal, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from midcourse.domain.argument import Reference, Scalar, Source
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
from midcourse.domain.observation import Observation
from midcourse.domain.plan import REACH, REPLAN, Draft
from midcourse.domain.skill import Catalogue
from midcourse.llm.roles.named_values import Misfit, NamedValue, NamedValues, Written, read_arguments
from midcourse.llm.roles.plan_repair import repair_step
from midcourse.ports.planner import PlanDraft, PlanningContext

_REFERENCE = re.compile(r"\$(input|secret|file|result)\.(\S+)")
_ROLE = re.compile(r"([a-z]+):(\S.*)", re.DOTALL)
_STATE = re.compile(r"(.+) (\w+)=(.*)", re.DOTALL)
ADDRESS = "url"
"""The name of an argument that is an address, in skills and probes."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class ExpectAnswer(_Part):
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


class ProbeAnswer(_Part):
    name: str
    arguments: NamedValues = Field(default_factory=list[NamedValue])


OTHER_NAMES = {"zone_id": "zone", "action_type": "skill", "parameters": "arguments", "description": "says"}
"""Names that a model may have learned from another prompt, and ours."""
EXPECTED = "expected_change"
"""Another name for an expectation in words."""


class StepAnswer(_Part):
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


class PlanAnswer(_Part):
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


def plan_draft(answer: PlanAnswer, context: PlanningContext) -> PlanDraft:
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
            draft, repaired = step_draft(step, context.observation, context.catalogue)
        except Misfit as error:
            return PlanDraft(verdict="garbage", detail=f"step {number} ({step.skill}) has the wrong shape: {error}")
        drafts.append(draft)
        repairs += [f"step {number}: {repair}" for repair in repaired]
    return PlanDraft(
        steps=(*drafts, *_build_final_replan(answer)),
        final=answer.final,
        detail=answer.reason,
        repairs=tuple(repairs),
    )


def _build_final_replan(answer: PlanAnswer) -> tuple[Draft, ...]:
    """Build the request to plan again after the last step. A model need not write it: a plan is the last one only if it says so."""
    asks = answer.final or answer.steps[-1].zone in (REPLAN, REACH)
    return () if asks else (Draft(zone=REPLAN),)


def step_draft(step: StepAnswer, observation: Observation, catalogue: Catalogue) -> tuple[Draft, tuple[str, ...]]:
    """Convert a single step, and name its repairs. Raises `Misfit`."""
    origin = observation.surface.origin
    repaired = repair_step(step.zone, step.skill, _find_references(step.arguments, origin), observation, catalogue)
    draft = Draft(
        zone=repaired.zone,
        skill=repaired.skill,
        arguments=repaired.arguments,
        expect=_build_expectation(step.expect),
        probe=_build_probe(step.probe, origin, catalogue) if step.probe else None,
        transition=step.transition,
        says=step.says,
    )
    return draft, repaired.repairs


def _build_probe(answer: ProbeAnswer, origin: str, catalogue: Catalogue) -> Probe:
    known = catalogue.probe(answer.name)
    given = _find_references(answer.arguments, origin)
    return Probe(name=answer.name, arguments=read_arguments(given, known.parameters if known else ()))


def _find_references(given: list[NamedValue], origin: str) -> Iterator[tuple[str, Written | Reference]]:
    for each in given:
        value = _make_absolute(each.name, each.value, origin)
        found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        yield each.name, Reference(source=cast(Source, found[1]), name=found[2]) if found else value


def _make_absolute(name: str, value: Written, origin: str) -> Written:
    """Add the page's origin to an address without one: prompts show such addresses, so answers may contain them."""
    relative = name == ADDRESS and isinstance(value, str) and value.startswith("/") and not value.startswith("//")
    return f"{origin}{value}" if relative and origin.startswith(("http://", "https://")) else value


def _build_expectation(answer: ExpectAnswer | None) -> Expectation | None:
    checks = tuple(_build_checks(answer)) if answer else ()
    return Expectation(checks=checks, says=answer.says) if answer and (checks or answer.says) else None


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
