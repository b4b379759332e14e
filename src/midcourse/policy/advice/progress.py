"""Progress of an outline: forward with evidence on the screen, back only by a recorded regression.

A judge may be wrong, and its opinion may change with every screen. So a judgement counts only if it names something that is
on the screen, and going back takes two in a row.
"""

from midcourse.domain.observation import Observation
from midcourse.domain.outline import CoarseGoal, Outline, Regression
from midcourse.domain.replace import replace
from midcourse.policy.advice.outline import EXPLORING
from midcourse.policy.detour.closeness import words_of

SETBACKS = 2
"""Judgements in a row that it takes to go back. One is a doubt."""
MOST_REGRESSIONS = 5
"""How many are kept with the run; all are in its journal."""
LONGEST_EVIDENCE = 120


def apply_judgement(outline: Outline, current: int, evidence: str, seen: str) -> Outline:
    """After a judgement that goal number `current` is the one to work on, because of what is seen."""
    current = max(1, min(current, len(outline.goals) + 1))
    outline = replace(outline, judged=seen, idle=outline.idle + 1)
    evidence = evidence.strip()[:LONGEST_EVIDENCE]
    if not evidence:
        return outline
    if current > outline.current:
        return replace(_up_to(outline, current, evidence), setbacks=(), idle=0)
    if current == outline.current:
        return replace(outline, setbacks=())
    setbacks = (*outline.setbacks, current)
    if len(setbacks) < SETBACKS:
        return replace(outline, setbacks=setbacks)
    return _back(outline, max(setbacks), evidence, seen)


def _up_to(outline: Outline, current: int, evidence: str) -> Outline:
    return replace(
        outline,
        goals=tuple(
            replace(goal, evidence=goal.evidence or evidence) if number < current else goal
            for number, goal in enumerate(outline.goals, 1)
        ),
    )


def _back(outline: Outline, current: int, evidence: str, seen: str) -> Outline:
    """Only as far as all of them agree."""
    noted = Regression(before=outline.current, after=current, evidence=evidence, seen=seen)
    goals = tuple(
        replace(goal, evidence="") if number >= current else goal for number, goal in enumerate(outline.goals, 1)
    )
    return replace(
        outline,
        goals=goals,
        setbacks=(),
        idle=0,
        regressed=outline.regressed + 1,
        regressions=(*outline.regressions, noted)[-MOST_REGRESSIONS:],
    )


def is_seen(text: str, seen: Observation) -> bool:
    """Whether this is on the screen: evidence is what can be pointed at."""
    wanted = _plain(text)
    values = (str(value) for zone in seen.zones for _, value in zone.state if isinstance(value, str))
    shown = (seen.surface.title, seen.surface.address, *(zone.label for zone in seen.zones), *values)
    return bool(wanted) and any(wanted in _plain(one) for one in shown)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def find_evidence(goal: CoarseGoal, seen: Observation) -> str:
    """Without a model: what on the screen has every word of the goal between them, or nothing."""
    wanted = words_of(goal.says) - _SAYING
    named = {text: words_of(text) & wanted for text in (seen.surface.title, *(zone.label for zone in seen.zones))}
    found = frozenset[str]().union(*named.values())
    if not wanted or found != wanted:
        return ""
    return max(named, key=lambda text: len(named[text]))


_SAYING = frozenset((*EXPLORING, "for", "from", "into", "at", "through", "where", "how", "what", "which"))
"""Words of a goal that name nothing."""
