"""A plan as a model writes it, and the draft that it comes to."""

import re
from typing import Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from midcourse.domain.argument import Argument, Arguments, Reference, Scalar
from midcourse.domain.budget import Cost
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
from midcourse.domain.plan import Draft
from midcourse.ports.planner import PlanDraft, PlanningContext

_REFERENCE = re.compile(r"\$(input|secret|file)\.(\S+)")


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


def drafted(answer: PlanAnswer, context: PlanningContext, repairs: tuple[str, ...], cost: Cost) -> PlanDraft:
    if answer.verdict != "steps":
        return PlanDraft(verdict=answer.verdict, detail=answer.reason, repairs=repairs, cost=cost)
    if not answer.steps:
        return PlanDraft(verdict="gave_up", detail=answer.reason or "the plan has no steps", repairs=repairs, cost=cost)
    return PlanDraft(
        steps=tuple(_draft(step) for step in answer.steps),
        final=answer.final,
        detail=answer.reason,
        repairs=repairs,
        cost=cost,
    )


def _draft(step: StepAnswer) -> Draft:
    return Draft(
        zone=step.zone,
        skill=step.skill,
        arguments=_arguments(step.arguments),
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
    return Reference(source=cast(Literal["input", "secret", "file"], found[1]), name=found[2])


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
