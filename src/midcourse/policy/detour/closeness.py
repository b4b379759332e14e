"""Closeness to a goal by shared words: a rough judge that needs no model, and the bounds for any judge."""

import re

from midcourse.domain.detour import THERE, Goal
from midcourse.domain.expectation import (
    Check,
    Expectation,
    FingerprintChanged,
    SurfaceMatches,
    TextContains,
    ZoneHasState,
)
from midcourse.domain.observation import Observation

NEAR = THERE - 1
"""As near as words can be: that it is there is for a check to say."""

_EMPTY = frozenset(
    {"a", "an", "and", "are", "be", "in", "is", "it", "of", "on", "or", "that", "the", "to", "visible", "with"}
)


def word_overlap(goal: Goal, seen: Observation) -> float:
    """From 0 to 9, by the share of the goal's words that are to be seen."""
    wanted = goal_words(goal)
    if not wanted:
        return 0.0
    shown = words_of(seen.surface.title, seen.surface.address, *(zone.label for zone in seen.zones))
    return NEAR * len(wanted & shown) / len(wanted)


def goal_words(goal: Goal) -> frozenset[str]:
    named = (goal.target.label,) if goal.target else ()
    return words_of(goal.says, *named, *_texts(goal.expect))


def words_of(*texts: str) -> frozenset[str]:
    found = {word for text in texts for word in re.findall(r"[^\W_]+", text.lower())}
    return frozenset(found - _EMPTY)


def clamp_closeness(judged: float, *, checkable: bool) -> float:
    """A judge's word as a number between 0 and 10. That it is there counts only where nothing better can be asked."""
    if judged != judged:  # not a number
        return 0.0
    return min(max(0.0, judged), NEAR if checkable else THERE)


def _texts(expect: Expectation | None) -> tuple[str, ...]:
    return tuple(_text(check) for check in expect.checks) if expect else ()


def _text(check: Check) -> str:
    match check:
        case TextContains():
            return check.text
        case SurfaceMatches():
            return check.pattern
        case ZoneHasState():
            return f"{check.label} {check.value}"
        case FingerprintChanged():
            return ""
        case _:
            return check.label
