"""The outline horizon: coarse goals for the whole task, drawn, judged and rewritten before a plan is made.

It suggests and decides nothing: whatever becomes of it, the planner is asked next. Nothing of it may end a run or use up what the
plan needs; where that could be, it is left out.
"""

from collections.abc import Callable

from midcourse.director.turn import Rest, Turn, issue
from midcourse.domain.command import Command, DrawOutline, JudgeProgress
from midcourse.domain.event import Outlined, ProgressJudged
from midcourse.domain.move import Orient
from midcourse.domain.outline import Outline
from midcourse.domain.phase import Judging, Outlining
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.identity import guidance_digest
from midcourse.policy.outline import rewritten, wants_outline
from midcourse.policy.progress import judged
from midcourse.policy.spending import affords, left, seconds_left, worst_plan

SHARE = 0.25
"""Of the time that is left, for any one of its commands."""


def orient(run: Run, move: Orient) -> Turn:
    """How far is it, is there one, does it know what was said since? In this order, since guidance leaves finished goals alone."""
    seen, drawn = run.seen, run.outline
    if seen is None or seen.stale or move.then.amends or not wants_outline(run) or not _can_wait(run):
        return run, move.then
    if drawn is None:
        drawing = replace(run, outline=Outline(heard=guidance_digest(run.guidance), judged=seen.id))
        return _issue(drawing, Outlining(then=move), lambda n, time: _draw(run, n, time, None))
    if drawn.goals and drawn.judged != seen.id and drawn.current <= len(drawn.goals):
        return _issue(
            run,
            Judging(then=move),
            lambda number, time: JudgeProgress(id=number, timeout=time, outline=drawn, seen=seen.id),
        )
    if drawn.heard != guidance_digest(run.guidance):
        hearing = replace(run, outline=replace(drawn, heard=guidance_digest(run.guidance), judged=seen.id))
        return _issue(hearing, Outlining(then=move), lambda n, time: _draw(run, n, time, drawn))
    return run, move.then


def outlined(run: Run, phase: Outlining, event: Outlined) -> Turn:
    """Whoever cannot draw one is not asked again before there is something new to say."""
    assert run.outline is not None, "an outline is being drawn"
    if event.verdict == "goals":
        run = replace(run, outline=rewritten(run.outline, event.goals))
    return run, phase.then


def progress_judged(run: Run, phase: Judging, event: ProgressJudged) -> Turn:
    assert run.outline is not None, "there is an outline to judge"
    assert run.seen is not None, "it was judged from something"
    if event.verdict == "transport":
        return replace(run, outline=replace(run.outline, judged=run.seen.id)), phase.then
    return replace(run, outline=judged(run.outline, event.current, event.evidence, run.seen.id)), phase.then


def _draw(run: Run, number: int, time: float, drawn: Outline | None) -> DrawOutline:
    seen = run.seen.id if run.seen else ""
    return DrawOutline(id=number, timeout=time, seen=seen, outline=drawn, guidance=run.guidance, left=left(run))


def _can_wait(run: Run) -> bool:
    """Whether the plan that this is for can be made afterwards all the same."""
    worst = worst_plan(run.limits)
    return affords(run, worst.plus(worst)) and seconds_left(run) > 0


def _issue(run: Run, phase: Outlining | Judging, make: Callable[[int, float], Command]) -> Turn:
    due = phase.then.then.due
    time = seconds_left(run) if due is None else min(seconds_left(run), due - run.now)
    if time <= 0:
        return run, phase.then.then
    seconds = min(run.limits.plan_timeout_seconds, SHARE * time)
    then, rest = issue(run, phase, make, seconds=seconds, worst=worst_plan(run.limits))
    return (then, rest) if isinstance(rest, Rest) else (run, phase.then.then)
