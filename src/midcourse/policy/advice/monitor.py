"""Rules that find loops and idle steps in the path of a run. They need no model.

Each rule considers which step was taken on which screen, and none where it should lead.

    the same 1 to 4 steps twice, back to one screen?    repetition
    the same look with the same answer, four times?     repetition
    six steps without anything new that worked?         no progress

Rules for a proposed plan, up to its first step that may change the screen:

    what failed on this screen, and nothing worked since?   repetition
    the last step of a second round?                        repetition
    the same look for the fourth time?                      repetition
"""

from collections.abc import Iterator, Sequence

from midcourse.domain.monitor import Advice, ProposedStep, TakenStep, Watch
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.failure.classification import OUT_OF_SIGHT, classify, may_pass

LONGEST_LOOP = 4
ROUNDS = 2
"""The number of rounds that count as a loop. After one more, admission ends the run; if there was advice, it allows one more try."""
ADVICE_LASTS = LONGEST_LOOP
"""The number of plans that receive a piece of advice: as many as a loop may have steps, since any of its screens may have the way out."""
MOST_PROBES = 4
IDLE_STEPS = 6
LONGEST_ADVICE = 300
"""The number of characters that are kept of a piece of advice, since it is part of the run's state."""


def wants_review(run: Run) -> bool:
    """Whether the monitor reviews the path before the next plan. It does so once per plan, as soon as there is a path.

    One that reviews proposals is shown the path with each of them.
    """
    if run.format >= 4 and run.limits.monitor == "proposals":
        return False
    return run.limits.monitor != "off" and run.counts.segments > 0 and run.watch.version != next_version(run)


def wants_objection(run: Run) -> bool:
    """Whether the monitor reviews a proposed plan. A planner that has just been given advice is not given more."""
    just_advised = run.watch.advice is not None and run.watch.said_at == _segments_before(run)
    return run.limits.monitor == "proposals" and not just_advised


def next_version(run: Run) -> int:
    return run.counts.versions + 1


def record_review(run: Run, advice: Advice | None, *, by_model: bool = False) -> Watch:
    """The watch after a review for the next plan. Steps before the advice are not reviewed again: it takes time to work.

    A model that finds nothing takes back what was said before. Rules do not: they look for loops in the steps since then.
    """
    watch = replace(run.watch, version=next_version(run))
    if run.format >= 4 and by_model and advice is None:
        return replace(watch, advice=None)
    return _add_advice(run, watch, advice, run.counts.segments)


def record_objection(run: Run, advice: Advice | None) -> Watch:
    """The watch after a review of the current plan. The advice counts as given before that plan, which is made again.

    A plan without an objection takes back an earlier one.
    """
    if run.format >= 4 and advice is None:
        return replace(run.watch, advice=None)
    return _add_advice(run, run.watch, advice, _segments_before(run))


def _add_advice(run: Run, watch: Watch, advice: Advice | None, said_at: int) -> Watch:
    if advice is None or not advice.says.strip():
        return watch
    short = replace(advice, says=advice.says.strip()[:LONGEST_ADVICE])
    return replace(watch, advice=short, said_at=said_at, since=run.next_id, spoken=watch.spoken + 1)


def _segments_before(run: Run) -> int:
    return run.counts.segments - 1


def current_advice(run: Run) -> Advice | None:
    """The advice for the next plan, if it is still in effect."""
    return run.watch.advice if run.counts.segments < run.watch.said_at + ADVICE_LASTS else None


# --- the rules


def find_problem(path: Sequence[TakenStep], here: str) -> Advice | None:
    """The advice of the first rule that applies to the path that led to this screen."""
    path = drop_before_progress(path)
    return _find_loop_advice(path, here) or _find_repeated_look(path) or _find_idle_steps(path)


def find_objection(proposed: Sequence[ProposedStep], path: Sequence[TakenStep], here: str) -> Advice | None:
    """The objection to these steps on this screen. Steps behind one that may change the screen are not judged."""
    path = drop_before_progress(path)
    on_screen = next((n for n, step in enumerate(proposed, 1) if step.effect != "read"), len(proposed))
    known = [
        TakenStep(call=step.call, before=here, skill=step.skill, target=step.target, says=step.says, effect=step.effect)
        for step in proposed[:on_screen]
    ]
    for place, step in enumerate(known):
        ahead = [*path, *known[: place + 1]]
        if found := _find_failure_here(path, step) or _find_closing_loop(ahead) or _find_repeated_look(ahead):
            return found
    return None


def drop_before_progress(path: Sequence[TakenStep]) -> Sequence[TakenStep]:
    """The path after the last irreversible effect: twenty invoices through one form are not a loop."""
    last = max((n for n, step in enumerate(path) if step.effect == "irreversible" and step.status == "ok"), default=-1)
    return path[last + 1 :]


def find_loop(path: Sequence[TakenStep], here: str) -> int:
    """The number of steps in a repeated round that led back here; 0 if there is none. Waiting is not a loop."""
    return next((period for period in _find_repeated_rounds(path) if path[-period].before == here), 0)


def _find_repeated_rounds(path: Sequence[TakenStep]) -> Iterator[int]:
    """The lengths of the repeated rounds that this path ends with."""
    for period in range(1, LONGEST_LOOP + 1):
        latest = [_step_key(step) for step in path[-period * ROUNDS :]]
        if len(latest) < period * ROUNDS or latest != latest[:period] * ROUNDS:
            continue
        if any(step.effect != "read" for step in path[-period:]):
            yield period


def _find_loop_advice(path: Sequence[TakenStep], here: str) -> Advice | None:
    period = find_loop(path, here)
    if not period:
        return None
    steps = ", then ".join(step.words for step in path[-period:])
    again = "changed nothing that can be seen" if period == 1 else "led back to the same screen"
    return Advice(problem="repetition", says=_shorten(f"Twice in a row this {again}: {steps}. Try something else."))


def _find_closing_loop(ahead: Sequence[TakenStep]) -> Advice | None:
    """The advice against a step that would repeat a round. Where it leads is known only if all of the previous round worked."""
    period = next(
        (
            period
            for period in _find_repeated_rounds(ahead)
            if all(step.status == "ok" for step in ahead[-ROUNDS * period :])
        ),
        0,
    )
    if not period:
        return None
    steps = ", then ".join(step.words for step in ahead[-period:])
    return Advice(problem="repetition", says=_shorten(f"This is the same round as the one before: {steps}."))


def _find_failure_here(path: Sequence[TakenStep], step: TakenStep) -> Advice | None:
    """The advice against a step that failed on this screen since anything worked. A first transient failure is excused."""
    worked = max((n for n, taken in enumerate(path) if taken.status == "ok" and taken.effect != "read"), default=-1)
    failed = [taken for taken in path[worked + 1 :] if taken.status != "ok" and _step_key(taken) == _step_key(step)]
    if not failed:
        return None
    reason = failed[0].reason
    if len(failed) == 1 and (reason in OUT_OF_SIGHT or may_pass(reason, classify(reason))):
        return None
    why = f" ({failed[-1].reason})" if failed[-1].reason else ""
    says = f"This failed on the same screen{why}, and nothing has worked since: {step.words}."
    return Advice(problem="repetition", says=_shorten(says))


def _find_repeated_look(path: Sequence[TakenStep]) -> Advice | None:
    if not path or path[-1].effect != "read":
        return None
    last = path[-1]
    times = sum(_step_key(step) == _step_key(last) for step in path)
    if times < MOST_PROBES:
        return None
    says = (
        f"Looked {times} times at the same, on the same screen: {last.words}. It says no more than it did. Act on it."
    )
    return Advice(problem="repetition", says=_shorten(says))


def _find_idle_steps(path: Sequence[TakenStep]) -> Advice | None:
    """The advice after steps none of which both worked and was new on its screen."""
    if len(path) < IDLE_STEPS or any(_is_new(path, place) for place in range(len(path) - IDLE_STEPS, len(path))):
        return None
    failed = sum(step.status != "ok" for step in path[-IDLE_STEPS:])
    says = (
        f"The last {IDLE_STEPS} steps brought nothing new: {failed} failed, and the others had been done from the same screen "
        "before. Look for another way, or for another place to begin."
    )
    return Advice(problem="no_progress", says=says)


def _is_new(path: Sequence[TakenStep], place: int) -> bool:
    step = path[place]
    return step.status == "ok" and all(_step_key(earlier) != _step_key(step) for earlier in path[:place])


def _step_key(step: TakenStep) -> tuple[str, str]:
    return step.call, step.before


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST_ADVICE else f"{text[: LONGEST_ADVICE - 1]}…"
