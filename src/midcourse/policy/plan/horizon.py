"""Turns a planner's draft into the steps that can be carried out on the visible screen, and reports every repair.

Repairs are made only where they are certain:

1. A step that cannot be done here is dropped: its skill is unknown, its target not visible, or its arguments are wrong.
2. The plan ends at the first of these: a step that may change the screen, `__replan__`, a step that may send something
   behind a dropped one, on which it may rely, and the greatest length.
   Only steps that name the screen they are for (`on`) may follow a transition: they are resolved when it is seen (design/0046).
3. An expectation that holds already on this screen is dropped: it would prove nothing, and would be missed after the act.
4. A plan that ended early or lost a step is not the last one: it ends in `__replan__`, and the rest is planned from there.
"""

import re
from dataclasses import dataclass
from itertools import dropwhile, zip_longest

from midcourse.domain.argument import Reference
from midcourse.domain.budget import Limits
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.plan import GLOBAL, REACH, REPLAN, Draft, Place, PlannedStep, Step, Target
from midcourse.domain.replace import replace
from midcourse.domain.skill import Catalogue, Effect, Skill
from midcourse.domain.task import Task
from midcourse.policy.approval.rules import planned_consequence, provisional_ruling
from midcourse.policy.arguments import find_argument_problem, find_unvouched
from midcourse.policy.evidence.verification import describe, holds, needs_reader, why_no_evidence
from midcourse.policy.grounding import read_name
from midcourse.policy.identity import call_digest
from midcourse.policy.spelling import describe_unknown, suggest_nearest

PLACES: dict[str, Place] = {REPLAN: "replan", GLOBAL: "global", REACH: "reach"}
REACH_SKILL = Skill(name="reach", effect="read", transition=True, on_zone=False)
"""The skill of a `__reach__` step, which names only what must be true afterwards."""
SHORT_ID = 4
LONGEST_NAME = 40
"""Characters of the name of a result."""
_NOT_IN_NAME = re.compile(r"[^\w.-]+")
UNSENT: tuple[Effect, ...] = ("read", "set_state")
"""Effects of skills that may be planned for such a screen: they send nothing by their class."""


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """The steps of a draft that can be carried out, and the repairs that were made."""

    steps: tuple[Step, ...]
    final: bool
    repairs: tuple[str, ...]
    unproven: str = ""
    """Why nothing could show that a step happened which cannot be undone, in words for the planner; empty if there is no such step."""


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
    listed: frozenset[str] = frozenset()
    """Addresses that earlier screens listed as links, which a step may go to like those that this screen lists."""


def may_plan_beyond(limits: Limits, plans_made: int) -> bool:
    """Whether the next plan may contain steps on screens that were not observed yet."""
    return limits.visible_plans is not None and plans_made >= limits.visible_plans


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    """A step of the draft, counted from 1, with its skill and the problem that forbids it. `__replan__` has neither."""

    number: int
    draft: Draft
    skill: Skill | None = None
    problem: str = ""
    held: bool = False
    """Whether it names a zone of a screen that was not observed yet."""

    @property
    def doable(self) -> Skill | None:
        """The skill, if the step can be done here."""
        return None if self.problem else self.skill


@dataclass(frozen=True, kw_only=True)
class _End:
    """Where the plan ends before its draft does."""

    kept: int
    """The number of candidates before it."""
    repairs: tuple[str, ...] = ()


def resolve(drafts: tuple[Draft, ...], final: bool | None, version: int, scope: Scope) -> Resolved:
    """Resolve the steps of this draft that can be carried out on this screen, up to the next transition."""
    candidates = [_check_draft(number, draft, scope) for number, draft in enumerate(drafts, start=1)]
    ends = (
        None if scope.beyond else _end_after_transition(candidates, final),
        _end_at_replan(candidates),
        _end_behind_gap(candidates),
        _end_at_length(candidates, scope.task.limits.max_plan_steps),
    )
    # The earliest end wins. Where two fall together, a transition comes first: it is about the step before the end.
    end = min((found for found in ends if found), key=lambda found: found.kept, default=None)
    reached = candidates[: end.kept] if end else candidates
    unproven = _explain_unproven(reached, scope.observation)
    reached, useless = _drop_useless_expectations(reached, scope.observation)
    doable = [(candidate.draft, skill) for candidate in reached if (skill := candidate.doable)]
    dropped = [candidate for candidate in reached if candidate.problem]
    steps = [_build_step(draft, skill, version, index, scope) for index, (draft, skill) in enumerate(doable)]
    repairs = [f"step {c.number} ({c.draft.skill or 'no skill'}) dropped: {c.problem}" for c in dropped] + useless
    if end:
        repairs += end.repairs
    elif steps and (dropped or final is False):
        why = "a step was dropped" if dropped else "the plan says that it is not the last"
        repairs.append(f"{REPLAN} appended: {why}")
    else:
        return Resolved(steps=tuple(steps), final=True, repairs=tuple(repairs), unproven=unproven)
    if steps:
        here = Target(surface=scope.observation.surface.title, role="", label="")
        says = "Look again and plan the rest"
        steps.append(Step(version=version, index=len(steps), zone=REPLAN, target=here, says=says))
    return Resolved(steps=tuple(steps), final=False, repairs=tuple(repairs), unproven=unproven)


# --- 1. what can be done here


def _check_draft(number: int, draft: Draft, scope: Scope) -> _Candidate:
    if draft.zone == REPLAN:
        return _Candidate(number=number, draft=draft)
    skill = REACH_SKILL if draft.zone == REACH else scope.catalogue.skill(draft.skill)
    if skill is None:
        problem = describe_unknown("skill", draft.skill, (skill.name for skill in scope.catalogue.skills))
    else:
        problem = find_step_problem(draft, skill, scope)
    held = skill is not None and _is_held(draft, skill, scope)
    return _Candidate(number=number, draft=draft, skill=skill, problem=problem, held=held)


def _is_held(draft: Draft, skill: Skill, scope: Scope) -> bool:
    return bool(draft.on) and skill.on_zone and draft.zone != REACH and scope.observation.zone(draft.zone) is None


def _find_held_problem(draft: Draft, skill: Skill) -> str:
    """Why this step cannot be planned for a screen that was not observed yet, or an empty string."""
    if read_name(draft.zone) is None:
        return f"on another screen a zone is named as role:label, and not '{draft.zone}'"
    if skill.effect not in UNSENT:
        return f"{skill.name} cannot be planned for a screen that was not observed yet"
    return ""


def find_step_problem(draft: Draft, skill: Skill, scope: Scope) -> str:
    """Why this step cannot be done on the visible screen, or an empty string."""
    seen = scope.observation
    if draft.zone == REACH:
        if not scope.detours:
            return "detours are off, so a step cannot only name its target"
        if draft.expect is None or not (draft.expect.checks or draft.expect.says.strip()):
            return "it does not say what must be true afterwards (expect)"
        return ""
    held = _is_held(draft, skill, scope)
    if held and (problem := _find_held_problem(draft, skill)):
        return problem
    if skill.on_zone and not held and not scope.beyond and seen.zone(draft.zone) is None:
        labelled = [f"'{zone.id}'" for zone in seen.zones if draft.zone in (zone.label, f"{zone.role}:{zone.label}")]
        near = " or ".join(labelled[:3])
        if not near and len(draft.zone) > SHORT_ID:  # short ids are all similar
            near = suggest_nearest(draft.zone, (zone.id for zone in seen.zones))
        return f"zone '{draft.zone}' is not visible{f'; did you mean {near}?' if near else ''}"
    if not skill.on_zone and draft.zone != GLOBAL:
        return f"'{skill.name}' does not act on a zone; its target is {GLOBAL}"
    if draft.probe and scope.catalogue.probe(draft.probe.name) is None:
        return describe_unknown("probe", draft.probe.name, (probe.name for probe in scope.catalogue.probes))
    return find_argument_problem(draft.arguments, skill.parameters, scope.task)


def _drop_useless_expectations(candidates: list[_Candidate], seen: Observation) -> tuple[list[_Candidate], list[str]]:
    """The candidates without expectations that hold already, and a repair for each.

    Behind a step that acts, the screen may be another one by then: there the expectation is compared when the step is tried. So it is
    while a dialog is open, which may hide what is expected to go.
    """
    if any(zone.role in ("dialog", "alertdialog") for zone in seen.zones):
        return candidates, []
    kept: list[_Candidate] = []
    repairs: list[str] = []
    acted = False
    for candidate in candidates:
        skill, expect = candidate.doable, candidate.draft.expect
        if skill and expect and candidate.draft.zone != REACH and not (acted or candidate.held) and holds(expect, seen):
            repairs.append(
                f"step {candidate.number} ({skill.name}): dropped expect, {describe(expect)}: it holds already"
            )
            candidate = replace(candidate, draft=replace(candidate.draft, expect=None))
        acted = acted or bool(skill and skill.effect != "read")
        kept.append(candidate)
    return kept, repairs


def _explain_unproven(candidates: list[_Candidate], seen: Observation) -> str:
    """Why the expectation of a step that cannot be undone is no evidence, if it has no probe either."""
    for candidate in candidates:
        skill, draft = candidate.doable, candidate.draft
        if skill is None or skill.effect != "irreversible" or draft.probe or skill.probe or draft.expect is None:
            continue
        if why := why_no_evidence(draft.expect, seen):
            return f"step {candidate.number} ({skill.name}) cannot be undone, and its expect, {why}"
    return ""


# --- 2. how far the plan reaches


def _end_after_transition(candidates: list[_Candidate], final: bool | None) -> _End | None:
    """End after a step that may change the screen, unless it is the last one of the last plan, or steps for later screens follow."""
    crossed = False
    for candidate, after in zip_longest(candidates, candidates[1:]):
        if crossed and not candidate.held and candidate.draft.zone != REPLAN:
            unseen = _describe_unseen(len(candidates) - candidate.number + 1, "those for the next screen")
            return _End(kept=candidate.number - 1, repairs=(unseen,))
        if candidate.doable is None or not _is_transition(candidate.draft, candidate.doable):
            continue
        crossed = True
        if after and after.held:
            continue
        if after is None and final:
            continue
        if after and after.draft.zone == REPLAN:
            return _End(kept=candidate.number)
        inserted = f"{REPLAN} inserted after step {candidate.number}, which may change the screen"
        unseen = _describe_unseen(len(candidates) - candidate.number, "it")
        return _End(kept=candidate.number, repairs=(inserted, unseen) if after else (inserted,))
    return None


def _end_at_replan(candidates: list[_Candidate]) -> _End | None:
    """End where the draft itself says `__replan__`."""
    replan = next((candidate for candidate in candidates if candidate.draft.zone == REPLAN), None)
    if replan is None:
        return None
    behind = len(candidates) - replan.number
    return _End(kept=replan.number - 1, repairs=(_describe_unseen(behind, REPLAN),) if behind else ())


def _describe_unseen(steps: int, after: str) -> str:
    counted = "1 step" if steps == 1 else f"{steps} steps"
    return f"{counted} after {after} dropped: that screen was not observed yet"


def _end_behind_gap(candidates: list[_Candidate]) -> _End | None:
    """End before the first step after a dropped one whose skill is declared irreversible or a transition.

    In a browser, forms are mostly sent by `click` and `press`, which are transitions; the draft's word that a click leaves
    the screen as it is does not count here, since the planner wrote it for a plan with all its steps.
    """
    for candidate in dropwhile(lambda candidate: not candidate.problem, candidates):
        skill = candidate.doable
        if skill and (skill.effect == "irreversible" or skill.transition):
            why = f"cut before step {candidate.number} ({skill.name}): a step that it may rely on was dropped"
            return _End(kept=candidate.number - 1, repairs=(why,))
    return None


def _end_at_length(candidates: list[_Candidate], most: int) -> _End | None:
    doable = [candidate for candidate in candidates if candidate.doable]
    if len(doable) <= most:
        return None
    return _End(kept=doable[most].number - 1, repairs=(f"cut after {most} steps, {REPLAN} inserted",))


def _is_transition(draft: Draft, skill: Skill) -> bool:
    return skill.transition if draft.transition is None else draft.transition


# --- 3. the steps


def find_group(zone: Zone | None) -> str:
    """The dialog, row or group that a zone belongs to, as far as its world says so."""
    return str(zone.get("within") or "") if zone else ""


def _hint_of(zone: Zone | None) -> str:
    """What a control without a name may be, so that people and models can tell which one it was."""
    hint = zone.get("hint") if zone else None
    return f"({hint})" if hint else ""


def _build_step(draft: Draft, skill: Skill, version: int, index: int, scope: Scope) -> Step:
    zone = scope.observation.zone(draft.zone)
    surface = scope.observation.surface.title
    target = Target(surface=surface, role=zone.role if zone else "", label=zone.label if zone else "")
    held = _is_held(draft, skill, scope)
    if held and (name := read_name(draft.zone)):
        target = Target(surface=draft.on, role=name[0], label=name[1])
    if draft.zone == REACH and draft.expect:
        target = Target(surface="", role="", label=describe(draft.expect))
    # The draft may name results that it needs. Those that its arguments refer to are needed even if it does not name them.
    values = (value for _, value in draft.arguments)
    referred = (value.name for value in values if isinstance(value, Reference) and value.source == "result")
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
        needs=tuple(dict.fromkeys((*draft.needs, *referred))),
        gives=draft.gives,
        says=draft.says or f"{skill.name} {target.label or _hint_of(zone)}".strip(),
        unsaid=not draft.says.strip(),
        result_name=_clean_name(draft.result_name),
        on=draft.on if held else "",
        call=call_digest(skill.name, target, draft.arguments, within=find_group(zone)),
        asks=bool(find_unvouched(draft.arguments, skill.parameters, scope.task, scope.observation, scope.listed)),
    )
    planned = planned_consequence(step, scope.observation.surface.origin)
    return replace(step, ruled=provisional_ruling(scope.task, planned, skill))


def _clean_name(name: str) -> str:
    """The name of a result in letters that can follow `$result.` in an argument."""
    return _NOT_IN_NAME.sub("_", name.strip().removeprefix("$").removeprefix("result.")).strip("_.")[:LONGEST_NAME]


def build_planned_step(step: Step) -> PlannedStep:
    """The part of a step that the director needs."""
    return PlannedStep(
        version=step.version,
        index=step.index,
        place=PLACES.get(step.zone, "zone"),
        skill=step.skill,
        effect=step.effect,
        transition=step.transition,
        call=step.call,
        asks=step.asks,
        ruled=step.ruled,
        on=step.on,
        reads=step.expect is not None and needs_reader(step.expect),
    )
