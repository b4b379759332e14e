"""Closeness to a goal by shared words: a rough judge that needs no model, and the bounds for any judge."""

import re

from midcourse.domain.detour import REACHED_CLOSENESS, Goal
from midcourse.domain.expectation import (
    Check,
    FingerprintChanged,
    SurfaceMatches,
    TextContains,
    ZoneHasState,
)
from midcourse.domain.observation import Observation

MAX_UNCHECKED_CLOSENESS = REACHED_CLOSENESS - 1
"""The highest closeness that words can show: only a check can show that the goal is reached."""

_STOP_WORDS = frozenset(
    {"a", "an", "and", "are", "be", "in", "is", "it", "of", "on", "or", "that", "the", "to", "visible", "with"}
)


def word_overlap(goal: Goal, seen: Observation) -> float:
    """Closeness from 0 to 9, by the share of the goal's words that are visible."""
    checks = goal.expect.checks if goal.expect else ()
    wanted = words_of(goal.says, goal.target.label if goal.target else "", *map(_text, checks))
    if not wanted:
        return 0.0
    shown = words_of(seen.surface.title, seen.surface.address, *(zone.label for zone in seen.zones))
    return MAX_UNCHECKED_CLOSENESS * len(wanted & shown) / len(wanted)


def words_of(*texts: str) -> frozenset[str]:
    found = {word for text in texts for word in re.findall(r"[^\W_]+", text.lower())}
    return frozenset(found - _STOP_WORDS)


def clamp_closeness(judged: float, *, checkable: bool) -> float:
    """A judge's value, limited to 0 to 10, or to 9 for a goal that a check can decide."""
    if judged != judged:  # not a number
        return 0.0
    return min(max(0.0, judged), MAX_UNCHECKED_CLOSENESS if checkable else REACHED_CLOSENESS)


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
