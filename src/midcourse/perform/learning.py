"""Lessons: recall similar failures from memory, and record what this run learned.

Memory is optional: it never fails a run, and calls to it have a short timeout.
"""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from midcourse.containment import CallAborted, Contained
from midcourse.domain.failure import Track
from midcourse.domain.moves import FinalReason
from midcourse.domain.observation import Observation
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import Step
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.records.lesson import Embedding, Lesson, Recalled, Untrusted
from midcourse.domain.replace import replace
from midcourse.perform.ports import Lessons, Ports
from midcourse.policy.failure.lessons import can_teach, judge_lessons
from midcourse.policy.failure.recovery import sample_fraction
from midcourse.policy.failure.signature import lesson_key, signature_of, trigram_embedding
from midcourse.ports.memory import Memory

T = TypeVar("T")

MEMORY_TIMEOUT_SECONDS = 5.0
"""Timeout of each call to memory, in seconds."""

FAILURES = ("failed", "no_effect", "unreachable")

LONGEST_EXCERPT = 500

SAME_TASK = 0.6
"""The minimum similarity of two tasks for a lesson of one to apply to the other."""


def find_lesson_key(ports: Ports, step: Step, seen: Observation, outcome: Outcome) -> str:
    """The lesson key of this outcome; empty if it is not a failure that lessons are kept for."""
    if outcome.status not in FAILURES or not can_teach(outcome.reason):
        return ""
    place = seen.surface.origin or ports.world.name
    signature = signature_of(outcome.reason, outcome.detail)
    return lesson_key(place, step.skill, step.target.role, step.target.label, signature)


async def load_track(ports: Ports, key: str) -> Track | None:
    """How often new plans fixed this failure in other runs. None: unknown."""
    if not key or ports.lessons is None:
        return None
    track = await _wait_briefly(ports.lessons.memory.track(key, besides=ports.run_id))
    if track is None or not track.fixed + track.not_fixed:
        return None
    return replace(track, sample=sample_fraction(ports.run_id, key))


@dataclass(frozen=True, kw_only=True)
class Reminder:
    """Lessons that fit the latest failure of a run, and the embedding of that failure."""

    similar: tuple[Recalled, ...] = ()
    point: Embedding | None = None


async def recall_lessons(ports: Ports, error_type: str = "other") -> Reminder:
    """Recall lessons by the exact signature of the latest failure, else by similarity, else by error type in similar tasks."""
    if ports.lessons is None or not (failed := await _load_failed(ports)):
        return Reminder()
    memory, point = ports.lessons.memory, await _embed(ports.lessons, failed[-1])
    fitting = await _wait_briefly(memory.recall(_signature(failed[-1]))) or ()
    if point is not None and not fitting:
        fitting = await _wait_briefly(memory.alike(point, above=ports.lessons.above)) or ()
    if not (advising := _select_with_advice(fitting)) and error_type != "other":
        found = await _wait_briefly(memory.of_task(error_type, _task_of(ports).text, above=SAME_TASK))
        advising = _select_with_advice(found or ())
    return Reminder(similar=advising, point=point)


def _select_with_advice(found: tuple[Recalled, ...]) -> tuple[Recalled, ...]:
    return tuple(recalled for recalled in found if recalled.lesson.fix.text or recalled.lesson.explained)


def _task_of(ports: Ports) -> Untrusted:
    return Untrusted(text=ports.sanitize(ports.task.goal)[:LONGEST_EXCERPT])


async def learn(
    ports: Ports,
    *,
    ended: FinalReason | None = None,
    point: Embedding | None = None,
    category: str = "",
    error_type: str = "",
    root_cause: str = "",
    cause_by: str = "",
) -> None:
    """Save the failures of this run and whether its plans fixed them. Idempotent.

    The other parameters describe the latest failure, as far as known; `cause_by` names the source of `root_cause`.
    """
    if ports.lessons is None or not (failed := await _load_failed(ports)):
        return
    cause = Untrusted(text=ports.sanitize(root_cause)[:LONGEST_EXCERPT])
    plans = (await ports.refresh_history()).plans
    lessons = {
        entry.lesson: replace(_build_lesson(ports, entry), skill=plans[entry.version].steps[entry.index].skill)
        for entry in failed
    }
    latest = lessons[failed[-1].lesson]
    lessons[latest.key] = replace(latest, category=category, error_type=error_type, root_cause=cause, cause_by=cause_by)
    point = point or await _embed(ports.lessons, failed[-1])
    await _wait_briefly(_save_verdicts(ports, ports.lessons.memory, lessons, (failed[-1].lesson, point), ended))


async def _load_failed(ports: Ports) -> list[LedgerEntry]:
    return [entry for entry in (await ports.refresh_history()).entries if entry.lesson]


async def _save_verdicts(
    ports: Ports,
    memory: Memory,
    lessons: Mapping[str, Lesson],
    placed: tuple[str, Embedding | None],
    ended: FinalReason | None,
) -> None:
    run_id = ports.run_id
    past = await ports.refresh_history()
    for judged in judge_lessons(tuple(past.plans.values()), past.entries, ended):
        await memory.save(lessons[judged.lesson], placed[1] if judged.lesson == placed[0] else None)
        match judged.verdict:
            case "fixed":
                await memory.credit(judged.lesson, run_id, Untrusted(text=ports.sanitize(judged.fix.text)))
            case "unhelpful":
                await memory.debit(judged.lesson, run_id)
            case None:
                pass


def _build_lesson(ports: Ports, entry: LedgerEntry) -> Lesson:
    outcome = entry.outcome or Outcome()
    return Lesson(
        key=entry.lesson,
        signature=_signature(entry),
        reason=outcome.reason,
        task=_task_of(ports),
        said=Untrusted(text=outcome.detail[:LONGEST_EXCERPT]),
    )


def _signature(entry: LedgerEntry) -> str:
    outcome = entry.outcome or Outcome()
    return signature_of(outcome.reason, outcome.detail)


async def _embed(lessons: Lessons, entry: LedgerEntry) -> Embedding | None:
    if entry.outcome is None:
        return None
    text = entry.outcome.detail or entry.outcome.reason
    if lessons.embedder is None:
        return trigram_embedding(text)
    return await _wait_briefly(lessons.embedder.embed(text))


async def _wait_briefly(call: Awaitable[T]) -> T | None:
    try:
        async with Contained(MEMORY_TIMEOUT_SECONDS):
            return await call
    except (TimeoutError, OSError, CallAborted):
        return None
