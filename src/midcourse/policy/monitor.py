"""Is something fundamentally wrong with the path? By rules, which need no model and cost nothing.

Each rule is about what was done from which screen, and none about where it should lead: that is for others to know.

    round and back, twice, in 1 to 4 steps?             repetition
    the same look with the same answer, four times?     repetition
    six steps without anything new that worked?         no progress
"""

from collections.abc import Sequence

from midcourse.domain.monitor import Advice, Taken, Watch
from midcourse.domain.replace import replace
from midcourse.domain.run import Run

LONGEST_LOOP = 4
ROUNDS = 2
"""One more, and admission ends the run, unless there was a word on it: then it may be tried once more."""
LASTS = LONGEST_LOOP
"""Plans that are told a word: as many as a round may have, since the way out may be at any of its screens."""
MOST_PROBES = 4
IDLE_STEPS = 6
LONGEST_ADVICE = 300
"""Characters: it travels with the state of a run."""


def wants_review(run: Run) -> bool:
    """Before a plan, once there is a path to review."""
    return run.limits.monitor == "path" and run.counts.segments > 0 and run.watch.version != next_version(run)


def next_version(run: Run) -> int:
    return run.counts.versions + 1


def heard(run: Run, advice: Advice | None) -> Watch:
    """After a review for the next plan. What was spoken about is left alone from then on: advice takes time to show."""
    watch = replace(run.watch, version=next_version(run))
    if advice is None or not advice.says.strip():
        return watch
    short = replace(advice, says=advice.says.strip()[:LONGEST_ADVICE])
    return replace(watch, advice=short, said_at=run.counts.segments, since=run.next_id, spoken=watch.spoken + 1)


def said_now(run: Run) -> Advice | None:
    """What the plan that is made next is to know."""
    return run.watch.advice if run.counts.segments < run.watch.said_at + LASTS else None


# --- the rules


def problem_with(path: Sequence[Taken], here: str) -> Advice | None:
    """The first that applies, for a path that has led to this screen."""
    path = since_progress(path)
    return _loop(path, here) or _probe(path) or _idle(path)


def since_progress(path: Sequence[Taken]) -> Sequence[Taken]:
    """What came after the last effect that can happen only once: twenty invoices through one form are no loop."""
    last = max((n for n, one in enumerate(path) if one.effect == "irreversible" and one.status == "ok"), default=-1)
    return path[last + 1 :]


def loop_of(path: Sequence[Taken], here: str) -> int:
    """How many steps the round has that was gone so often and led back here; 0 if there is none. Waiting is no loop."""
    for period in range(1, LONGEST_LOOP + 1):
        latest = [_what(one) for one in path[-period * ROUNDS :]]
        turns = path[-period:]
        if len(latest) < period * ROUNDS or latest != latest[:period] * ROUNDS or turns[0].before != here:
            continue
        if any(one.effect != "read" for one in turns):
            return period
    return 0


def _loop(path: Sequence[Taken], here: str) -> Advice | None:
    period = loop_of(path, here)
    if not period:
        return None
    steps = ", then ".join(one.words for one in path[-period:])
    again = "changed nothing that can be seen" if period == 1 else "led back to the same screen"
    return Advice(problem="repetition", says=_short(f"Twice in a row this {again}: {steps}. Try something else."))


def _probe(path: Sequence[Taken]) -> Advice | None:
    if not path or path[-1].effect != "read":
        return None
    last = path[-1]
    times = sum(_what(one) == _what(last) for one in path)
    if times < MOST_PROBES:
        return None
    says = (
        f"Looked {times} times at the same, on the same screen: {last.words}. It says no more than it did. Act on it."
    )
    return Advice(problem="repetition", says=_short(says))


def _idle(path: Sequence[Taken]) -> Advice | None:
    """Nothing of it worked that had not been done from the same screen before."""
    if len(path) < IDLE_STEPS or any(_is_new(path, place) for place in range(len(path) - IDLE_STEPS, len(path))):
        return None
    failed = sum(one.status != "ok" for one in path[-IDLE_STEPS:])
    says = (
        f"The last {IDLE_STEPS} steps brought nothing new: {failed} failed, and the others had been done from the same screen "
        "before. Look for another way, or for another place to begin."
    )
    return Advice(problem="no_progress", says=says)


def _is_new(path: Sequence[Taken], place: int) -> bool:
    one = path[place]
    return one.status == "ok" and all(_what(earlier) != _what(one) for earlier in path[:place])


def _what(one: Taken) -> tuple[str, str]:
    return one.call, one.before


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_ADVICE else f"{text[: LONGEST_ADVICE - 1]}…"
