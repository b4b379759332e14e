"""Turns a segment of a plan into one that other runs can reuse, and back into steps, if nothing in it is specific to this run.

An argument must be a reference, exactly the value of one input, or words of the task itself; else the segment is not kept.
Labels are those of the screen that it is found by. Its expectations must not contain what may be an input by chance.

It is found by digests of its task and screen that do not depend on the values of inputs. The digest of a screen covers everything
visible on it except what the run itself has entered. Until a step has passed an input on, its value on the screen is the
application's own, such as one of many options, and counts.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from midcourse.domain.argument import Argument, Pairs, Reference, Scalar
from midcourse.domain.failure import FailedStep
from midcourse.domain.observation import Observation, Zone
from midcourse.domain.plan import GLOBAL, REPLAN, Draft, PlanVersion, Step
from midcourse.domain.records.plan_cache import KeptSegment, KeptStep
from midcourse.domain.replace import replace
from midcourse.domain.task import Task
from midcourse.policy.identity import digest_of
from midcourse.policy.reuse.placeholders import (
    Placeholders,
    Unclear,
    fill_placeholders,
    find_texts,
    insert_placeholders,
    is_short,
    names_in,
    occurs,
    without_placeholders,
)

PASSING = ("focused", "seen", "hint", "marked")
"""States that do not make a screen a different one."""

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TIMES = re.compile(
    "|".join(
        (
            r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\s*[ap]\.?m\b\.?)?",
            r"\b\d{4}-\d{2}-\d{2}\b",
            r"\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b",
            r"\b\d+\s+(?:second|minute|hour|day|week|month|year)s?\s+ago\b",
            rf"\b{_MONTH}\s+\d{{1,2}},?\s+\d{{4}}\b",
            rf"\b\d{{1,2}}\s+{_MONTH}\s+\d{{4}}\b",
        )
    ),
    re.IGNORECASE,
)
"""Clocks and dates, which worlds leave out of their fingerprints as well."""

_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")


@dataclass(frozen=True, kw_only=True)
class ReuseKey:
    """What a segment is kept under and found by: the task, the screen, and how far the run has come."""

    task: Task
    seen: Observation
    after: int
    """The number of finished irreversible steps."""
    task_digest: str
    surface_digest: str


def reuse_key(task: Task, seen: Observation, *, passed_on: Iterable[str] = (), after: int = 0) -> ReuseKey | Unclear:
    """The key of a situation. `passed_on` are the inputs that earlier steps have passed to the world."""
    passed = {name: value for name, value in task.inputs if name in passed_on}
    try:
        return ReuseKey(
            task=task,
            seen=seen,
            after=after,
            task_digest=task_digest(task, Placeholders(task.inputs)),
            surface_digest=surface_digest(seen, tuple(passed.items())),
        )
    except Unclear as why:
        return why


# --- keeping


def build_segment(situation: ReuseKey, plan: PlanVersion | None, apart: Iterable[str]) -> KeptSegment | Unclear:
    """The plan as a reusable segment, or why it is not reusable. Without a plan, the segment says that the task is done here."""
    task, placeholders = situation.task, Placeholders(situation.task.inputs)
    own = tuple(sorted(apart))
    try:
        found_by = (situation.task_digest, situation.surface_digest, situation.after)
        steps = [step for step in plan.steps if step.zone != REPLAN] if plan else []
        return KeptSegment(
            id=digest_of("segment", *found_by, own, values_digest(task.inputs, own)),
            task=found_by[0],
            surface=found_by[1],
            after=situation.after,
            apart=own,
            apart_digest=values_digest(task.inputs, own),
            goal=placeholders.insert(task.goal),
            title=_insert_or_empty(situation.seen.surface.title, placeholders),
            steps=tuple(_build_kept_step(step, task, situation.seen, placeholders) for step in steps),
            final=plan.final if plan else True,
            version=plan.version if plan else 0,
        )
    except Unclear as why:
        return why


def _build_kept_step(step: Step, task: Task, seen: Observation, placeholders: Placeholders) -> KeptStep:
    target = step.target
    if step.on:  # a segment is reused on an equal screen, which this one cannot be compared with
        raise Unclear(f"{step.skill} {step.zone} is for another screen")
    if step.zone != GLOBAL and len(_find_zones(seen, target.role, target.label)) != 1:
        raise Unclear(f"{target.role} '{target.label}' is on the screen more than once, or not at all")
    draft = Draft(
        zone=GLOBAL if step.zone == GLOBAL else "",
        skill=step.skill,
        arguments=tuple((name, _build_kept_argument(value, task, placeholders)) for name, value in step.arguments),
        expect=step.expect and insert_placeholders(step.expect, placeholders, safely=True),
        absent_when=step.absent_when and insert_placeholders(step.absent_when, placeholders, safely=True),
        probe=step.probe and insert_placeholders(step.probe, placeholders, safely=True),
        transition=step.transition,
        needs=step.needs,
        gives=step.gives,
        says="" if step.unsaid else _insert_or_empty(step.says, placeholders),
        result_name=step.result_name,
    )
    return KeptStep(role=target.role, label=placeholders.insert(target.label), draft=draft)


def _build_kept_argument(value: Argument, task: Task, placeholders: Placeholders) -> Argument:
    if isinstance(value, Reference):
        return value
    named = placeholders.names_of(value)
    if len(named) == 1 and not is_short(value):
        return Reference(source="input", name=named[0])
    if named or not _is_constant(value, task, placeholders):
        raise Unclear(f"{value!r} is neither the value of exactly one input nor in the words of the task")
    return value


def _is_constant(value: Scalar, task: Task, placeholders: Placeholders) -> bool:
    """Whether the task contains it independently of its inputs."""
    if value is None or isinstance(value, bool) or not str(value).strip():
        return False
    text = str(value)
    if names_in(placeholders.insert(text)) or not placeholders.is_sure(text):
        return False
    texts = (task.goal, *task.files, *(find_texts(task.done_when) if task.done_when else ()))
    return any(occurs(text, without_placeholders(placeholders.insert(words))) for words in texts)


def _insert_or_empty(words: str, placeholders: Placeholders) -> str:
    """Text for people, with placeholders; empty if unclear, since no text is better than an old value."""
    try:
        return placeholders.insert(words) if placeholders.is_sure(words) else ""
    except Unclear:
        return ""


def find_passed_on(steps: Iterable[Step], inputs: Pairs) -> tuple[str, ...]:
    """Names of the inputs that these steps pass to the world, in arguments or by what they act on."""
    placeholders = Placeholders(inputs)
    names = {name for step in steps for name in _names_of(step, placeholders)}
    return tuple(sorted(names))


def _names_of(step: Step, placeholders: Placeholders) -> Iterable[str]:
    for _, value in step.arguments:
        if isinstance(value, Reference):
            yield from (value.name,) if value.source == "input" else ()
        else:
            yield from placeholders.names_of(value)
    try:
        yield from names_in(placeholders.insert(step.target.label))
    except Unclear:
        return


# --- using


def is_applicable(segment: KeptSegment, situation: ReuseKey) -> bool:
    """Whether the segment was kept for this point of the task, and for the same values of the inputs that no step passes on."""
    own = values_digest(situation.task.inputs, segment.apart)
    return (segment.after, segment.apart_digest) == (situation.after, own)


def propose_steps(segment: KeptSegment, situation: ReuseKey) -> tuple[Draft, ...] | Unclear:
    """The segment's steps for the inputs of this task and the zones of this screen, or why there are none."""
    placeholders = Placeholders(situation.task.inputs)
    try:
        steps = tuple(_draft(step, situation.seen, placeholders) for step in segment.steps)
    except Unclear as why:
        return why
    return steps if segment.final else (*steps, Draft(zone=REPLAN))


def repeats_failed_step(drafts: Iterable[Draft], seen: Observation, attempts: Iterable[FailedStep]) -> bool:
    """Whether one of the drafts repeats a step that failed in this run."""
    failed = {(attempt.skill, attempt.target) for attempt in attempts}
    labels = {zone.id: zone.label for zone in seen.zones}
    return any((draft.skill, labels.get(draft.zone, "")) in failed for draft in drafts)


def _draft(step: KeptStep, seen: Observation, placeholders: Placeholders) -> Draft:
    draft = step.draft
    if draft.zone != GLOBAL:
        label = placeholders.fill(step.label)
        alike = _find_zones(seen, step.role, label)
        if len(alike) != 1:
            raise Unclear(f"{step.role} '{label}' is on the screen {len(alike)} times")
        draft = replace(draft, zone=alike[0].id)
    return replace(
        draft,
        expect=draft.expect and fill_placeholders(draft.expect, placeholders),
        absent_when=draft.absent_when and fill_placeholders(draft.absent_when, placeholders),
        probe=draft.probe and fill_placeholders(draft.probe, placeholders),
        says=placeholders.fill(draft.says),
    )


def _find_zones(seen: Observation, role: str, label: str) -> list[Zone]:
    return [zone for zone in seen.zones if (zone.role, zone.label) == (role, label)]


# --- what a segment is found by


def task_digest(task: Task, placeholders: Placeholders) -> str:
    """Identifies a task: goal, world, `done_when` and the names of its inputs. Raises `Unclear`."""
    done_when = None if task.done_when is None else repr(insert_placeholders(task.done_when, placeholders))
    return digest_of(
        "task",
        placeholders.insert(task.goal),
        task.world,
        sorted(name for name, _ in task.inputs),
        sorted(field.name for field in task.output),
        done_when,
        sorted(task.secrets),
        sorted(task.files),
    )


def surface_digest(seen: Observation, passed_on: Pairs) -> str:
    """Identifies a screen, regardless of the values of the inputs that have been passed on so far. Raises `Unclear`."""
    placeholders = Placeholders(passed_on)
    surface = seen.surface
    address = _decode_address(surface.address)
    zones = sorted(_describe_zone(zone, placeholders) for zone in seen.zones)
    return digest_of("surface", _text(surface.title, placeholders), _text(address, placeholders), zones)


def _decode_address(address: str) -> str:
    def decode_byte(found: re.Match[bytes]) -> bytes:
        return bytes.fromhex(found[1].decode())

    return _PERCENT.sub(decode_byte, address.replace("+", " ").encode()).decode(errors="replace")


def values_digest(inputs: Pairs, names: Iterable[str]) -> str:
    given = dict(inputs)
    return digest_of("values", [[name, repr(given.get(name))] for name in sorted(names)])


def _describe_zone(zone: Zone, placeholders: Placeholders) -> list[str]:
    states = sorted(
        f"{name}={_text(value, placeholders) if isinstance(value, str) else placeholders.insert_in_value(value)!r}"
        for name, value in zone.state
        if name not in PASSING
    )
    return [zone.role, _text(zone.label, placeholders), *states]


def _text(text: str, placeholders: Placeholders) -> str:
    """The text with placeholders. Inputs come first: a date that is the value of an input is not a clock."""
    return _TIMES.sub("#", placeholders.insert(text))
