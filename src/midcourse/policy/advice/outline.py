"""Outlines: which texts are coarse goals, when an outline is made, how its goals are rewritten, and which of them are finished.

A judge may be wrong, and its judgement may change with every screen. So a judgement counts only if it names something that is
on the screen, and going back takes two in a row.
"""

import re
from collections.abc import Sequence

from midcourse.domain.observation import Observation
from midcourse.domain.outline import CoarseGoal, Outline, Regression
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.advice.monitor import current_advice
from midcourse.policy.detour.closeness import words_of

MOST_GOALS = 10
LONGEST_GOAL = 160
"""The maximum number of characters of a goal, which is part of the run's state."""

EXPLORING = (
    "check",
    "discover",
    "explore",
    "find",
    "identify",
    "investigate",
    "learn",
    "locate",
    "look",
    "navigate",
    "reach",
    "review",
    "search",
    "see",
    "understand",
)
"""Words that a goal may begin with: it says what to explore."""

_ACTS = r"click|press|type|tap|hit|drag|drop|scroll|hover|enter|select|toggle|tick|paste|swipe|push"
_AS_ACT = re.compile(rf"(?:\b(?:and|then|to|by|or)\s+|[,;:]\s*)(?:{_ACTS})(?:s|ing|ping|ging|ling)?\b", re.IGNORECASE)
"""A word for an act, used as a verb. 'Find the press releases' and 'Learn the type of the account' do not match."""
_CLICK = re.compile(r"\b(?:(?:double|right|left)[- ]?)?click(?:s|ing|ed)?\b|\bkeystrokes?\b", re.IGNORECASE)
_KEY = re.compile(
    r"\b(?:ctrl|control|alt|cmd|command|shift|meta|option)\s*[+-]\s*\w|"
    r"\bF(?:[1-9]|1[0-2])\b|\b(?:enter|escape|esc|tab|return|arrow|space|backspace|delete)[ -]?(?:key|bar)\b|"
    r"\b(?:hot|arrow)[ -]?keys?\b",
    re.IGNORECASE,
)
_COORDINATE = re.compile(
    r"\(\s*\d+\s*[,;]\s*\d+\s*\)|\b[xy]\s*[=:]\s*\d|\bpixels?\b|\b\d+\s*px\b|\bcoordinates?\b", re.IGNORECASE
)


def why_not_coarse(text: str) -> str:
    """Why this is not a coarse goal, such as that it names an act or a place on the screen. Empty if it is one."""
    first = re.match(r"[^\W\d_]+", text.strip())
    if first is None or first[0].lower() not in EXPLORING:
        return f"'{text[:40]}' does not say what to explore"
    for what, pattern in (("a click", _CLICK), ("a key", _KEY), ("coordinates", _COORDINATE), ("an act", _AS_ACT)):
        if found := pattern.search(text):
            return f"'{text[:40]}' names {what}: {found[0].strip(' ,;:')}"
    return "" if len(text.strip()) <= LONGEST_GOAL else f"'{text[:40]}…' is longer than {LONGEST_GOAL} characters"


def select_goals(texts: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The distinct goals among these texts, and why the others are not goals."""
    stripped = dict.fromkeys(" ".join(_NUMBER.sub("", text).split()) for text in texts)
    refused = {text: why_not_coarse(text) for text in stripped}
    goals = tuple(text for text, why in refused.items() if not why)
    return goals[:MOST_GOALS], tuple(why for why in refused.values() if why)


_NUMBER = re.compile(r"^\s*(?:step\s*)?\d*\s*[.:)]\s*", re.IGNORECASE)
"""Matches the number of a list item, which is removed because the outline numbers its goals itself."""


def rewrite_goals(outline: Outline, goals: tuple[str, ...]) -> Outline:
    """The outline with these goals in place of the unfinished ones. Without a new goal it stays the same."""
    kept = outline.goals[: outline.finished]
    known = {goal.says for goal in kept}
    new = tuple(CoarseGoal(says=says) for says in goals if says not in known)[: MOST_GOALS - len(kept)]
    return replace(outline, goals=(*kept, *new), setbacks=(), idle=0) if new else outline


# --- when an outline is used

STUCK_AFTER = 2
"""Plans in a row without progress after which a run counts as stuck."""
LONG_RUN = 6
"""Plans after which one such plan is enough: most runs that recover after it have recovered by then."""
IDLE_AFTER = 3
"""Judgements without progress after which an automatic outline is no longer used.

These three were tuned on seeds below 1,000 only."""


def wants_outline(run: Run) -> bool:
    """Whether an outline is made, or the current one stays in use."""
    match run.limits.outline if run.has_outliner else "off":
        case "off":
            return False
        case "on":
            return True
        case "auto":
            if run.outline:
                return run.outline.idle < IDLE_AFTER
            # Its goals are places on screens, and a world of functions shows none.
            if run.format >= 4 and run.seen is not None and not run.seen.zones:
                return False
            idle = run.progress.idle if run.format >= 4 else run.counts.replans
            return idle >= (1 if run.counts.segments >= LONG_RUN else STUCK_AFTER) or run.watch.spoken > 0


def has_new_advice(run: Run, outline: Outline) -> bool:
    """Whether a monitor has given advice since the goals were made."""
    return current_advice(run) is not None and outline.advice_seen != run.watch.spoken


def active_outline(run: Run) -> Outline | None:
    """The outline that the planner is given, if any."""
    return run.outline if run.outline and run.outline.goals and wants_outline(run) else None


def format_outline(outline: Outline) -> str:
    """The outline as text for the planner: numbered, with what is finished and what is next."""
    marks = [f"{n}. {goal.says}{' [finished]' if goal.finished else ''}" for n, goal in enumerate(outline.goals, 1)]
    count, current = len(outline.goals), outline.current
    done = "None is" if current == 1 else "Goal 1 is" if current == 2 else f"Goals 1 to {current - 1} are"
    progress = f"{done} finished; goal {current} of {count} is next."
    return "\n".join((*marks, progress if current <= count else f"All {count} goals are finished."))


# --- which goals are finished

SETBACKS = 2
"""The number of judgements in a row that are needed to go back."""
MOST_REGRESSIONS = 5
"""The number of regressions that are kept with the run; all of them are in its journal."""
LONGEST_EVIDENCE = 120


def apply_judgement(outline: Outline, current: int, evidence: str, seen: str) -> Outline:
    """The outline after a judgement that goal number `current` is next, because of what is seen."""
    current = max(1, min(current, len(outline.goals) + 1))
    outline = replace(outline, idle=outline.idle + 1)
    evidence = evidence.strip()[:LONGEST_EVIDENCE]
    if not evidence:
        return outline
    if current > outline.current:
        goals = tuple(
            replace(goal, evidence=goal.evidence or evidence) if number < current else goal
            for number, goal in enumerate(outline.goals, 1)
        )
        return replace(outline, goals=goals, setbacks=(), idle=0)
    if current == outline.current:
        return replace(outline, setbacks=())
    setbacks = (*outline.setbacks, current)
    if len(setbacks) < SETBACKS:
        return replace(outline, setbacks=setbacks)
    current = max(setbacks)
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


def find_place(goal: CoarseGoal, seen: Observation) -> str:
    """The title of the screen, a heading or a dialog that has every word of the goal: the run is there. A link to it is no proof."""
    wanted = words_of(goal.says) - _FILLERS
    named = (zone.label for zone in seen.zones if zone.role in ("heading", "dialog"))
    return next((text for text in (seen.surface.title, *named) if wanted and wanted <= words_of(text)), "")


_FILLERS = frozenset((*EXPLORING, "for", "from", "into", "at", "through", "where", "how", "what", "which"))
"""Words of a goal that do not name what to find."""
