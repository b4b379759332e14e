"""Lessons: look up a failure in memory, and record what this run learned about it.

Memory is optional help: it never fails a run, and is waited for only briefly.
"""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from midcourse.domain.failure import Track
from midcourse.domain.move import FinalReason
from midcourse.domain.observation import Observation
from midcourse.domain.outcome import Outcome
from midcourse.domain.plan import Step
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.records.lesson import Embedding, Lesson, Recalled, Untrusted
from midcourse.domain.replace import replace
from midcourse.perform.history import past_of
from midcourse.perform.ports import Lessons, Ports
from midcourse.policy.failure.lessons import judge_lessons, teaches
from midcourse.policy.failure.recovery import sample_of
from midcourse.policy.failure.signature import lesson_key, signature_of, trigram_embedding
from midcourse.ports.memory import Memory

T = TypeVar("T")

PATIENCE = 5.0
"""Seconds that a run waits for its memory, at most, each time it asks."""

FAILURES = ("failed", "no_effect", "unreachable")

LONGEST_SAID = 500


def lesson_of(ports: Ports, step: Step, seen: Observation, outcome: Outcome) -> str:
    """By what this outcome is known to memory, if it is a failure that teaches anything."""
    if outcome.status not in FAILURES or not teaches(outcome.reason):
        return ""
    place = seen.surface.origin or ports.world.name
    signature = signature_of(outcome.reason, outcome.detail)
    return lesson_key(place, step.skill, step.target.role, step.target.label, signature)


async def track_of(ports: Ports, key: str) -> Track | None:
    """How new plans fared against this failure in other runs."""
    if not key or ports.lessons is None:
        return None
    track = await _patiently(ports.lessons.memory.track(key, besides=ports.run_id))
    if track is None or not track.mended + track.unmended:
        return None
    return replace(track, lot=sample_of(ports.run_id, key))


@dataclass(frozen=True, kw_only=True)
class Reminded:
    """What fits the latest failure of a run, and where that one is among them."""

    similar: tuple[Recalled, ...] = ()
    point: Embedding | None = None


async def remind(ports: Ports) -> Reminded:
    """By the exact signature of the latest failure, else by what sounds like it."""
    if ports.lessons is None or not (failed := await _failed(ports)):
        return Reminded()
    memory, point = ports.lessons.memory, await _point(ports.lessons, failed[-1])
    fitting = await _patiently(memory.recall(_signature(failed[-1]))) or ()
    if point is not None and not fitting:
        fitting = await _patiently(memory.alike(point, above=ports.lessons.above)) or ()
    telling = tuple(one for one in fitting if one.lesson.fix.text or one.lesson.root_cause.text)
    return Reminded(similar=telling, point=point)


async def learn(
    ports: Ports,
    *,
    ended: FinalReason | None = None,
    point: Embedding | None = None,
    category: str = "",
    root_cause: str = "",
) -> None:
    """Save the failures of this run, and tell what its plans did about them. Saying it again changes nothing.

    Of the latest failure `point`, `category` and `root_cause` are known, it may be.
    """
    if ports.lessons is None or not (failed := await _failed(ports)):
        return
    cause = Untrusted(text=ports.plain(root_cause)[:LONGEST_SAID])
    lessons = {entry.lesson: _lesson(entry) for entry in failed}
    lessons[failed[-1].lesson] = replace(_lesson(failed[-1]), category=category, root_cause=cause)
    point = point or await _point(ports.lessons, failed[-1])
    await _patiently(_tell(ports, ports.lessons.memory, lessons, (failed[-1].lesson, point), ended))


async def _failed(ports: Ports) -> list[LedgerEntry]:
    return [entry for entry in (await past_of(ports)).entries if entry.lesson]


async def _tell(
    ports: Ports,
    memory: Memory,
    lessons: Mapping[str, Lesson],
    placed: tuple[str, Embedding | None],
    ended: FinalReason | None,
) -> None:
    run_id = ports.run_id
    past = await past_of(ports)
    for word in judge_lessons(tuple(past.plans.values()), past.entries, ended):
        await memory.save(lessons[word.lesson], placed[1] if word.lesson == placed[0] else None)
        match word.verdict:
            case "mended":
                await memory.credit(word.lesson, run_id, word.fix)
            case "in_vain":
                await memory.debit(word.lesson, run_id)
            case None:
                pass


def _lesson(entry: LedgerEntry) -> Lesson:
    outcome = entry.outcome or Outcome()
    said = Untrusted(text=outcome.detail[:LONGEST_SAID])
    return Lesson(key=entry.lesson, signature=_signature(entry), reason=outcome.reason, said=said)


def _signature(entry: LedgerEntry) -> str:
    outcome = entry.outcome or Outcome()
    return signature_of(outcome.reason, outcome.detail)


async def _point(lessons: Lessons, entry: LedgerEntry) -> Embedding | None:
    if entry.outcome is None:
        return None
    text = entry.outcome.detail or entry.outcome.reason
    if lessons.embedder is None:
        return trigram_embedding(text)
    return await _patiently(lessons.embedder.embed(text))


async def _patiently(call: Awaitable[T]) -> T | None:
    try:
        return await asyncio.wait_for(call, PATIENCE)
    except (TimeoutError, OSError):
        return None
