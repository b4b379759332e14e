"""Turns a segment of a plan into one that other runs can reuse, and back into steps. Only if nothing in it belongs to this run.

An argument is a reference, the very value of one input, or words of the task itself; a segment with any other is not kept.
Labels are those of the screen it is found by. What it expects of later screens must not contain what may be an input by
chance.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from midcourse.domain.argument import Argument, Pairs, Reference, Scalar
from midcourse.domain.failure import FailedStep
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.plan import GLOBAL, REPLAN, Draft, PlanVersion, Step
from midcourse.domain.records.plan_cache import KeptSegment, KeptStep
from midcourse.domain.replace import replace
from midcourse.domain.task import Task
from midcourse.policy.reuse.conditions import condition_texts, fill_placeholders, insert_placeholders_safely
from midcourse.policy.reuse.digests import segment_digest, surface_digest, task_digest, values_digest
from midcourse.policy.reuse.placeholders import Placeholders, Unclear, is_short, names_in, occurs, without_placeholders


@dataclass(frozen=True, kw_only=True)
class ReuseKey:
    """What a segment is kept under and found by: the task, the screen, and how far the run has come."""

    task: Task
    seen: Observation
    after: int
    """Irreversible steps that are finished."""
    task_digest: str
    surface_digest: str


def reuse_key(task: Task, seen: Observation, *, passed_on: Iterable[str] = (), after: int = 0) -> ReuseKey | Unclear:
    """`passed_on` are the inputs that earlier steps have told the world."""
    told = {name: value for name, value in task.inputs if name in passed_on}
    try:
        return ReuseKey(
            task=task,
            seen=seen,
            after=after,
            task_digest=task_digest(task, Placeholders(task.inputs)),
            surface_digest=surface_digest(seen, tuple(told.items())),
        )
    except Unclear as why:
        return why


# --- keeping


def build_segment(situation: ReuseKey, plan: PlanVersion | None, apart: Iterable[str]) -> KeptSegment | Unclear:
    """This plan as other runs may use it; without a plan, that here the task is done. Or why it is of no use to them."""
    task, blanks = situation.task, Placeholders(situation.task.inputs)
    own = tuple(sorted(apart))
    try:
        found_by = (situation.task_digest, situation.surface_digest, situation.after)
        steps = [step for step in plan.steps if step.zone != REPLAN] if plan else []
        return KeptSegment(
            id=segment_digest(*found_by, own, values_digest(task.inputs, own)),
            task=found_by[0],
            surface=found_by[1],
            after=situation.after,
            apart=own,
            apart_digest=values_digest(task.inputs, own),
            goal=blanks.insert(task.goal),
            title=_or_nothing(situation.seen.surface.title, blanks),
            steps=tuple(_kept_step(step, task, situation.seen, blanks) for step in steps),
            final=plan.final if plan else True,
            version=plan.version if plan else 0,
        )
    except Unclear as why:
        return why


def _kept_step(step: Step, task: Task, seen: Observation, blanks: Placeholders) -> KeptStep:
    target = step.target
    if step.zone != GLOBAL and len(_alike(seen, target.role, target.label)) != 1:
        raise Unclear(f"{target.role} '{target.label}' is on the screen more than once, or not at all")
    draft = Draft(
        zone=GLOBAL if step.zone == GLOBAL else "",
        skill=step.skill,
        arguments=tuple((name, _kept_argument(value, task, blanks)) for name, value in step.arguments),
        expect=step.expect and insert_placeholders_safely(step.expect, blanks),
        absent_when=step.absent_when and insert_placeholders_safely(step.absent_when, blanks),
        probe=step.probe and insert_placeholders_safely(step.probe, blanks),
        transition=step.transition,
        needs=step.needs,
        gives=step.gives,
        says=_or_nothing(step.says, blanks),
    )
    return KeptStep(role=target.role, label=blanks.insert(target.label), draft=draft)


def _kept_argument(value: Argument, task: Task, blanks: Placeholders) -> Argument:
    if isinstance(value, Reference):
        return value
    named = blanks.names_of(value)
    if len(named) == 1 and not is_short(value):
        return Reference(source="input", name=named[0])
    if named or not _is_constant(value, task, blanks):
        raise Unclear(f"{value!r} is neither the value of exactly one input nor in the words of the task")
    return value


def _is_constant(value: Scalar, task: Task, blanks: Placeholders) -> bool:
    """Whether the task contains it independently of its inputs."""
    if value is None or isinstance(value, bool) or not str(value).strip():
        return False
    text = str(value)
    if names_in(blanks.insert(text)) or not blanks.is_sure(text):
        return False
    said = (task.goal, *task.files, *(condition_texts(task.done_when) if task.done_when else ()))
    return any(occurs(text, without_placeholders(blanks.insert(words))) for words in said)


def _or_nothing(words: str, blanks: Placeholders) -> str:
    """Words for people: nothing hangs on them, so none are better than an old value."""
    try:
        return blanks.insert(words) if blanks.is_sure(words) else ""
    except Unclear:
        return ""


def find_passed_on(steps: Iterable[Step], inputs: Pairs) -> tuple[str, ...]:
    """The inputs that these steps tell the world, in arguments or by what they act on."""
    blanks = Placeholders(inputs)
    names = {name for step in steps for name in _names_of(step, blanks)}
    return tuple(sorted(names))


def _names_of(step: Step, blanks: Placeholders) -> Iterable[str]:
    for _, value in step.arguments:
        if isinstance(value, Reference):
            yield from (value.name,) if value.source == "input" else ()
        else:
            yield from blanks.names_of(value)
    try:
        yield from names_in(blanks.insert(step.target.label))
    except Unclear:
        return


# --- using


def is_applicable(segment: KeptSegment, situation: ReuseKey) -> bool:
    """Whether it was kept for this point of the task, and for the same values of the inputs that no step passes on."""
    own = values_digest(situation.task.inputs, segment.apart)
    return (segment.after, segment.apart_digest) == (situation.after, own)


def propose_steps(segment: KeptSegment, situation: ReuseKey) -> tuple[Draft, ...] | Unclear:
    """Its steps for the inputs of this task and the zones of this screen; or why there are none."""
    blanks = Placeholders(situation.task.inputs)
    try:
        steps = tuple(_draft(step, situation.seen, blanks) for step in segment.steps)
    except Unclear as why:
        return why
    return steps if segment.final else (*steps, Draft(zone=REPLAN))


def repeats_failed_step(drafts: Iterable[Draft], seen: Observation, attempts: Iterable[FailedStep]) -> bool:
    """Whether one of them does what has failed in this run already."""
    failed = {(attempt.skill, attempt.target) for attempt in attempts}
    labels = {zone.id: zone.label for zone in seen.zones}
    return any((draft.skill, labels.get(draft.zone, "")) in failed for draft in drafts)


def _draft(step: KeptStep, seen: Observation, blanks: Placeholders) -> Draft:
    draft = step.draft
    if draft.zone != GLOBAL:
        label = blanks.fill(step.label)
        alike = _alike(seen, step.role, label)
        if len(alike) != 1:
            raise Unclear(f"{step.role} '{label}' is on the screen {len(alike)} times")
        draft = replace(draft, zone=alike[0].id)
    return replace(
        draft,
        expect=draft.expect and fill_placeholders(draft.expect, blanks),
        absent_when=draft.absent_when and fill_placeholders(draft.absent_when, blanks),
        probe=draft.probe and fill_placeholders(draft.probe, blanks),
        says=blanks.fill(draft.says),
    )


def _alike(seen: Observation, role: str, label: str) -> list[Zone]:
    return [zone for zone in seen.zones if (zone.role, zone.label) == (role, label)]
