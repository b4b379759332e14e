"""Lessons from failures: the failure in general form, its cause, its fix, and how often that worked."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.failure import Track
from midcourse.domain.replace import replace

IMPORTANCE = 0.8
TAGS = ("learning", "pattern", "fix")


@dataclass(frozen=True, kw_only=True)
class Untrusted:
    """Text from the world or from a model: shown as a quotation, never as an instruction."""

    text: str = ""

    def __str__(self) -> str:
        """The text in markers, so that it cannot be mistaken for trusted text."""
        return f"<untrusted>{self.text.replace('<', '‹').replace('>', '›')}</untrusted>" if self.text else ""


NO_TEXT = Untrusted()
NO_TRACK = Track()


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """What one agent has learned about a failure."""

    key: str
    """Digest of the failure and where it occurred (`policy/failure/signature.py`)."""
    signature: str
    agent: str = ""
    skill: str = ""
    """The skill that failed; empty in lessons from before this was kept."""
    reason: str = ""
    category: str = ""
    error_type: str = ""
    task: Untrusted = NO_TEXT
    """The goal of the latest run in which the failure occurred."""
    said: Untrusted = NO_TEXT
    """The message of one occurrence."""
    root_cause: Untrusted = NO_TEXT
    cause_by: str = ""
    """`rules` if no model or reflector explained it."""
    fix: Untrusted = NO_TEXT
    """The steps that fixed it last, with their arguments."""
    importance: float = IMPORTANCE
    tags: tuple[str, ...] = TAGS
    shared_by: str = ""
    """The person who shared it with the tenant's other agents. Empty: they see only numbers."""
    track: Track = NO_TRACK

    @property
    def explained(self) -> str:
        """The root cause, if a model or a reflector gave it."""
        return "" if self.cause_by == "rules" else self.root_cause.text


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """A lesson that fits a failure. `alike` is 1 for the same signature, less for a similar one."""

    lesson: Lesson
    alike: float = 1.0


Vector: TypeAlias = tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Embedding:
    """A text as a point of unit length. Points of different models cannot be compared."""

    model: str
    values: Vector


Verdict: TypeAlias = Literal["fixed", "unhelpful"]


@dataclass(frozen=True, kw_only=True)
class LessonVerdict:
    """Whether planning again fixed a failure in one run. A later verdict of the same run replaces it."""

    lesson: str
    verdict: Verdict | None
    """None: the run did not plan again, or ended for another reason."""
    fix: Untrusted = NO_TEXT


def update_lesson(known: Lesson, lesson: Lesson) -> Lesson:
    """The new lesson, with known values where it has none. The rules' explanation does not replace a model's."""
    explains = known if known.explained or not lesson.root_cause.text else lesson
    explains = lesson if lesson.explained else explains
    return replace(
        lesson,
        said=lesson.said if lesson.said.text else known.said,
        root_cause=explains.root_cause,
        cause_by=explains.cause_by,
        error_type=lesson.error_type or known.error_type,
        task=lesson.task if lesson.task.text else known.task,
        fix=lesson.fix if lesson.fix.text else known.fix,
        category=lesson.category or known.category,
        skill=lesson.skill or known.skill,
    )
