"""Progress of an outline: forward with evidence on the screen, back only by a recorded regression.

A judge may be wrong, and its judgement may change with every screen. So a judgement counts only if it names something that is
on the screen, and going back takes two in a row.
"""

from midcourse.domain.observation import Observation
from midcourse.domain.outline import CoarseGoal, Outline, Regression
from midcourse.domain.replace import replace
from midcourse.policy.advice.outline import EXPLORING
from midcourse.policy.detour.closeness import words_of

SETBACKS = 2
"""The number of judgements in a row that are needed to go back."""
MOST_REGRESSIONS = 5
"""The number of regressions that are kept with the run; all of them are in its journal."""
LONGEST_EVIDENCE = 120


def apply_judgement(outline: Outline, current: int, evidence: str, seen: str) -> Outline:
    """The outline after a judgement that goal number `current` is next, because of what is seen."""
    current = max(1, min(current, len(outline.goals) + 1))
    outline = replace(outline, judged=seen, idle=outline.idle + 1)
    evidence = evidence.strip()[:LONGEST_EVIDENCE]
    if not evidence:
        return outline
    if current > outline.current:
        return replace(_finish_goals_before(outline, current, evidence), setbacks=(), idle=0)
    if current == outline.current:
        return replace(outline, setbacks=())
    setbacks = (*outline.setbacks, current)
    if len(setbacks) < SETBACKS:
        return replace(outline, setbacks=setbacks)
    return _go_back_to(outline, max(setbacks), evidence, seen)


def _finish_goals_before(outline: Outline, current: int, evidence: str) -> Outline:
    return replace(
        outline,
        goals=tuple(
            replace(goal, evidence=goal.evidence or evidence) if number < current else goal
            for number, goal in enumerate(outline.goals, 1)
        ),
    )


def _go_back_to(outline: Outline, current: int, evidence: str, seen: str) -> Outline:
    """The outline with a regression to goal number `current`."""
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
    """Whether this text is on the screen."""
    wanted = _normalise(text)
    values = (str(value) for zone in seen.zones for _, value in zone.state if isinstance(value, str))
    shown = (seen.surface.title, seen.surface.address, *(zone.label for zone in seen.zones), *values)
    return bool(wanted) and any(wanted in _normalise(line) for line in shown)


def _normalise(text: str) -> str:
    return " ".join(text.lower().split())


def find_evidence(goal: CoarseGoal, seen: Observation) -> str:
    """Evidence for the goal without a model: the best text of a screen whose texts together have every word of the goal."""
    wanted = words_of(goal.says) - _FILLERS
    named = {text: words_of(text) & wanted for text in (seen.surface.title, *(zone.label for zone in seen.zones))}
    found = frozenset[str]().union(*named.values())
    if not wanted or found != wanted:
        return ""
    return max(named, key=lambda text: len(named[text]))


_FILLERS = frozenset((*EXPLORING, "for", "from", "into", "at", "through", "where", "how", "what", "which"))
"""Words of a goal that do not name what to find."""
