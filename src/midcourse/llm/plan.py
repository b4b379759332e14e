"""A plan as a model writes it, and the draft that it comes to."""

import re
from typing import Literal, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from midcourse.domain.argument import Argument, Arguments, Reference, Scalar, Source
from midcourse.domain.expectation import (
    Check,
    Expectation,
    FingerprintChanged,
    Probe,
    SurfaceMatches,
    TextContains,
    ZoneAppears,
    ZoneGone,
    ZoneHasState,
)
from midcourse.domain.observation import Observation
from midcourse.domain.plan import Draft
from midcourse.domain.skill import Catalogue
from midcourse.llm.mending import Mended, mended
from midcourse.ports.planner import PlanDraft, PlanningContext

_REFERENCE = re.compile(r"\$(input|secret|file|result)\.(\S+)")


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class CheckAnswer(_Part):
    kind: Literal[
        "zone_appears", "zone_gone", "zone_has_state", "text_contains", "surface_matches", "fingerprint_changed"
    ]
    label: str = Field(default="", description="of a zone; * stands for anything")
    role: str = ""
    state: str = ""
    value: Scalar = None
    text: str = Field(
        default="", description="text_contains: what is to be read; surface_matches: the title or address"
    )


class ExpectationAnswer(_Part):
    checks: list[CheckAnswer] = Field(default_factory=list[CheckAnswer])
    says: str = Field(default="", description="the same in words")


class ProbeAnswer(_Part):
    name: str
    arguments: dict[str, Scalar] = Field(default_factory=dict[str, Scalar])


class StepAnswer(_Part):
    zone: str = Field(description='a listed id, "__global__" or "__replan__"')
    skill: str = ""
    arguments: dict[str, Scalar] = Field(default_factory=dict[str, Scalar])
    says: str = Field(default="", description="what it does, for a person")
    expect: ExpectationAnswer | None = None
    absent_when: ExpectationAnswer | None = None
    probe: ProbeAnswer | None = None
    transition: bool | None = Field(default=None, description="whether the screen will be another one afterwards")


class PlanAnswer(_Part):
    verdict: Literal["steps", "done", "impossible", "gave_up"] = "steps"
    reason: str = ""
    steps: list[StepAnswer] = Field(default_factory=list[StepAnswer])
    final: bool | None = Field(default=None, description="whether the task is done after these steps")

    @model_validator(mode="before")
    @classmethod
    def _in_another_wrapping(cls, value: object) -> object:
        """A list of steps alone, or a plan under the name 'plan'. A piece of a plan is none: all it lacks has a default."""
        if isinstance(value, dict):
            inner = cast(dict[str, object], value)
            value = inner["plan"] if inner.keys() == {"plan"} else inner
        if isinstance(value, dict) and not value.keys() & cls.model_fields.keys():
            raise ValueError("there are neither steps nor a verdict")
        return {"steps": cast(object, value)} if isinstance(value, list) else cast(object, value)


def drafted(answer: PlanAnswer, context: PlanningContext) -> PlanDraft:
    if answer.verdict != "steps":
        return PlanDraft(verdict=answer.verdict, detail=answer.reason)
    if not answer.steps:
        return PlanDraft(verdict="gave_up", detail=answer.reason or "the plan has no steps")
    most = context.task.limits.max_plan_steps + 1  # what is beyond is cut off anyway, and says so
    steps = [(step, _mended(step, context)) for step in answer.steps[:most]]
    return PlanDraft(
        steps=tuple(_draft(step, each) for step, each in steps),
        final=answer.final,
        detail=answer.reason,
        repairs=tuple(f"step {n}: {repair}" for n, (_, each) in enumerate(steps, start=1) for repair in each.repairs),
    )


def _mended(step: StepAnswer, context: PlanningContext) -> Mended:
    return mended(step.zone, step.skill, _arguments(step.arguments), context.observation, context.catalogue)


def one_draft(step: StepAnswer, observation: Observation, catalogue: Catalogue) -> tuple[Draft, tuple[str, ...]]:
    """A single step, and what was put right in it."""
    found = mended(step.zone, step.skill, _arguments(step.arguments), observation, catalogue)
    return _draft(step, found), found.repairs


def _draft(step: StepAnswer, mended: Mended) -> Draft:
    return Draft(
        zone=mended.zone,
        skill=mended.skill,
        arguments=mended.arguments,
        expect=_expectation(step.expect),
        absent_when=_expectation(step.absent_when),
        probe=Probe(name=step.probe.name, arguments=_arguments(step.probe.arguments)) if step.probe else None,
        transition=step.transition,
        says=step.says,
    )


def _arguments(given: dict[str, Scalar]) -> Arguments:
    return tuple((name, _argument(value)) for name, value in given.items())


def _argument(value: Scalar) -> Argument:
    found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return value
    return Reference(source=cast(Source, found[1]), name=found[2])


def _expectation(answer: ExpectationAnswer | None) -> Expectation | None:
    if answer is None or not (answer.checks or answer.says):
        return None
    return Expectation(checks=tuple(map(_check, answer.checks)), says=answer.says)


def _check(answer: CheckAnswer) -> Check:
    match answer.kind:
        case "zone_appears":
            return ZoneAppears(label=answer.label, role=answer.role)
        case "zone_gone":
            return ZoneGone(label=answer.label, role=answer.role)
        case "zone_has_state":
            return ZoneHasState(state=answer.state, value=answer.value, label=answer.label, role=answer.role)
        case "text_contains":
            return TextContains(text=answer.text)
        case "surface_matches":
            return SurfaceMatches(pattern=answer.text)
        case "fingerprint_changed":
            return FingerprintChanged()
