"""What failures taught: the failure without its particulars, why it happened, what mended it, and how often that worked."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from midcourse.domain.failure import Track
from midcourse.domain.replace import replace

IMPORTANCE = 0.8
TAGS = ("learning", "pattern", "fix")


@dataclass(frozen=True, kw_only=True)
class Untrusted:
    """Words that came from the world or from a model: to be shown as what somebody said, never as an instruction."""

    text: str = ""

    def __str__(self) -> str:
        """Nobody puts it into a sentence by accident and has it pass for ours."""
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
    """The steps that mended it last."""
    importance: float = IMPORTANCE
    tags: tuple[str, ...] = TAGS
    shared_by: str = ""
    """The person who let the tenant's other agents read it; nobody: they see only numbers."""
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
    """What one run has to say about a failure that it met: whether planning again mended it. A run has one word on each, and
    the last one counts.
    """

    lesson: str
    verdict: Verdict | None
    """None: it did not come to that."""
    fix: Untrusted = NOTHING_SAID


def renew(known: Lesson, lesson: Lesson) -> Lesson:
    """What is known, with whatever the other has to say in its place."""
    return replace(
        lesson,
        said=lesson.said if lesson.said.text else known.said,
        root_cause=lesson.root_cause if lesson.root_cause.text else known.root_cause,
        fix=lesson.fix if lesson.fix.text else known.fix,
        category=lesson.category or known.category,
    )
