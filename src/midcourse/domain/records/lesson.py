"""Lessons from failures: the failure without its particulars, its cause, its fix, and how often that worked."""

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
        """Marked, so that text from outside cannot be taken for ours by accident."""
        return f"<untrusted>{self.text.replace('<', '‹').replace('>', '›')}</untrusted>" if self.text else ""


NOTHING_SAID = Untrusted()
NO_TRACK = Track()


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """One failure as one agent knows it."""

    key: str
    """Of the failure and where it was met (`policy/failure/signature.py`)."""
    signature: str
    agent: str = ""
    reason: str = ""
    category: str = ""
    said: Untrusted = NOTHING_SAID
    """The message as it came once."""
    root_cause: Untrusted = NOTHING_SAID
    fix: Untrusted = NOTHING_SAID
    """The steps that fixed it last."""
    importance: float = IMPORTANCE
    tags: tuple[str, ...] = TAGS
    shared_by: str = ""
    """The person who shared it with the tenant's other agents. Empty: they see only numbers."""
    track: Track = NO_TRACK


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """A lesson that fits a failure. `alike` is 1 for the same signature, less for one that only sounds like it."""

    lesson: Lesson
    alike: float = 1.0


Vector: TypeAlias = tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Embedding:
    """A text as a point of unit length. Points of different models cannot be compared."""

    model: str
    values: Vector


Verdict: TypeAlias = Literal["mended", "in_vain"]


@dataclass(frozen=True, kw_only=True)
class Word:
    """The verdict of one run about a failure that it met: whether planning again fixed it. A later verdict of the same run
    replaces it.
    """

    lesson: str
    verdict: Verdict | None
    """None: the run did not plan again, or ended for another reason."""
    fix: Untrusted = NOTHING_SAID


def renew(known: Lesson, lesson: Lesson) -> Lesson:
    """The new lesson, with known values where it has none."""
    return replace(
        lesson,
        said=lesson.said if lesson.said.text else known.said,
        root_cause=lesson.root_cause if lesson.root_cause.text else known.root_cause,
        fix=lesson.fix if lesson.fix.text else known.fix,
        category=lesson.category or known.category,
    )
