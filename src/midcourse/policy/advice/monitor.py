"""Rules that find loops and idle steps in the path of a run. They need no model.

Each rule is about what was done from which screen, and none about where it should lead.

    round and back, twice, in 1 to 4 steps?             repetition
    the same look with the same answer, four times?     repetition
    six steps without anything new that worked?         no progress

And of a plan from here, as far as it is known on which screen it acts, that is up to the first step that may change it:

    what failed on this screen, and nothing worked since?   repetition
    the last step of a second round?                        repetition
    the same look for the fourth time?                      repetition
"""

from collections.abc import Iterator, Sequence

from midcourse.domain.monitor import Advice, Proposed, Taken, Watch
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.failure.classification import OUT_OF_SIGHT, classify, may_pass

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
    return run.limits.monitor != "off" and run.counts.segments > 0 and run.watch.version != next_version(run)


def wants_objection(run: Run) -> bool:
    """Before a plan begins. A planner that has just been given advice is not given more."""
    told = run.watch.advice is not None and run.watch.said_at == _segments_before(run)
    return run.limits.monitor == "proposals" and not told


def next_version(run: Run) -> int:
    return run.counts.versions + 1


def record_review(run: Run, advice: Advice | None) -> Watch:
    """After a review for the next plan. What was spoken about is left alone from then on: advice takes time to show."""
    return _told(run, replace(run.watch, version=next_version(run)), advice, run.counts.segments)


def record_objection(run: Run, advice: Advice | None) -> Watch:
    """After a review of the plan there is. Its word is as good as one before that plan, which is yet to be made again."""
    return _told(run, run.watch, advice, _segments_before(run))


def _told(run: Run, watch: Watch, advice: Advice | None, said_at: int) -> Watch:
    if advice is None or not advice.says.strip():
        return watch
    short = replace(advice, says=advice.says.strip()[:LONGEST_ADVICE])
    return replace(watch, advice=short, said_at=said_at, since=run.next_id, spoken=watch.spoken + 1)


def _segments_before(run: Run) -> int:
    return run.counts.segments - 1


def current_advice(run: Run) -> Advice | None:
    """What the plan that is made next is to know."""
    return run.watch.advice if run.counts.segments < run.watch.said_at + LASTS else None


# --- the rules


def problem_with(path: Sequence[Taken], here: str) -> Advice | None:
    """The first that applies, for a path that has led to this screen."""
    path = since_progress(path)
    return _loop(path, here) or _probe(path) or _idle(path)


def objection_to(proposed: Sequence[Proposed], path: Sequence[Taken], here: str) -> Advice | None:
    """The objection to these steps on this screen. Steps behind one that may change the screen are not judged."""
    path = since_progress(path)
    known = [
        Taken(call=one.call, before=here, skill=one.skill, target=one.target, says=one.says, effect=one.effect)
        for one in proposed[: _known(proposed)]
    ]
    for place, one in enumerate(known):
        ahead = [*path, *known[: place + 1]]
        if found := _failed_here(path, one) or _closes_loop(ahead) or _probe(ahead):
            return found
    return None


def _known(proposed: Sequence[Proposed]) -> int:
    """How many steps act on the screen that there is now: looks, and what comes after them."""
    return next((n for n, one in enumerate(proposed, 1) if one.effect != "read"), len(proposed))


def since_progress(path: Sequence[Taken]) -> Sequence[Taken]:
    """The path after the last irreversible effect: twenty invoices through one form are not a loop."""
    last = max((n for n, one in enumerate(path) if one.effect == "irreversible" and one.status == "ok"), default=-1)
    return path[last + 1 :]


def loop_of(path: Sequence[Taken], here: str) -> int:
    """The number of steps in a repeated round that led back here; 0 if there is none. Waiting is not a loop."""
    return next((period for period in _rounds(path) if path[-period].before == here), 0)


def _rounds(path: Sequence[Taken]) -> Iterator[int]:
    """As many steps as each round has that this path ends with."""
    for period in range(1, LONGEST_LOOP + 1):
        latest = [_what(one) for one in path[-period * ROUNDS :]]
        if len(latest) < period * ROUNDS or latest != latest[:period] * ROUNDS:
            continue
        if any(one.effect != "read" for one in path[-period:]):
            yield period


def _loop(path: Sequence[Taken], here: str) -> Advice | None:
    period = loop_of(path, here)
    if not period:
        return None
    steps = ", then ".join(one.words for one in path[-period:])
    again = "changed nothing that can be seen" if period == 1 else "led back to the same screen"
    return Advice(problem="repetition", says=_short(f"Twice in a row this {again}: {steps}. Try something else."))


def _closes_loop(ahead: Sequence[Taken]) -> Advice | None:
    """The last step is not done yet: where it leads is known only from the round before, all of which worked."""
    period = next(
        (period for period in _rounds(ahead) if all(one.status == "ok" for one in ahead[-ROUNDS * period :])), 0
    )
    if not period:
        return None
    steps = ", then ".join(one.words for one in ahead[-period:])
    return Advice(problem="repetition", says=_short(f"This is the same round as the one before: {steps}."))


def _failed_here(path: Sequence[Taken], one: Taken) -> Advice | None:
    """Since anything worked. What may pass by waiting, or by looking again, is worth another plan."""
    worked = max((n for n, taken in enumerate(path) if taken.status == "ok" and taken.effect != "read"), default=-1)
    failed = [taken for taken in path[worked + 1 :] if taken.status != "ok" and _what(taken) == _what(one)]
    if not failed or (len(failed) == 1 and _excused(failed[0])):
        return None
    why = f" ({failed[-1].reason})" if failed[-1].reason else ""
    says = f"This failed on the same screen{why}, and nothing has worked since: {one.words}."
    return Advice(problem="repetition", says=_short(says))


def _excused(failed: Taken) -> bool:
    return failed.reason in OUT_OF_SIGHT or may_pass(failed.reason, classify(failed.reason))


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
