"""The outline horizon: coarse goals for the whole task, drawn, judged and rewritten before a plan is made.

It suggests and decides nothing: whatever becomes of it, the planner is asked next. Nothing of it may end a run or use up what the
plan needs; where that could be, it is left out.
"""

from midcourse.director.turn import Turn, can_wait, issue_aside
from midcourse.domain.command import DrawOutline, JudgeProgress
from midcourse.domain.event import Outlined, ProgressJudged
from midcourse.domain.move import Orient
from midcourse.domain.outline import Outline
from midcourse.domain.phase import Judging, Outlining
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.advice.monitor import current_advice
from midcourse.policy.advice.outline import has_new_advice, rewrite_goals, wants_outline
from midcourse.policy.advice.progress import apply_judgement
from midcourse.policy.identity import guidance_digest
from midcourse.policy.spending import remaining


def orient(run: Run, move: Orient) -> Turn:
    """How far is it, is there one, does it know what was said since? In this order, since guidance leaves finished goals alone."""
    seen, drawn, due = run.seen, run.outline, move.then.due
    if seen is None or seen.stale or move.then.amends or not wants_outline(run) or not can_wait(run):
        return run, move.then
    if drawn is None:
        drawing = _hearing(run, Outline(), seen.id)
        return issue_aside(
            drawing, Outlining(then=move), lambda n, time: _draw(run, n, time, None), due=due, otherwise=move.then
        )
    if drawn.goals and drawn.judged != seen.id and drawn.current <= len(drawn.goals):
        return issue_aside(
            run,
            Judging(then=move),
            lambda number, time: JudgeProgress(id=number, timeout=time, outline=drawn, seen=seen.id),
            due=due,
            otherwise=move.then,
        )
    if drawn.heard != guidance_digest(run.guidance) or has_new_advice(run, drawn):
        hearing = _hearing(run, drawn, seen.id)
        return issue_aside(
            hearing, Outlining(then=move), lambda n, time: _draw(run, n, time, drawn), due=due, otherwise=move.then
        )
    return run, move.then


def _hearing(run: Run, outline: Outline, seen: str) -> Run:
    heard = replace(outline, heard=guidance_digest(run.guidance), heeded=run.watch.spoken, judged=seen)
    return replace(run, outline=heard)


def outlined(run: Run, phase: Outlining, event: Outlined) -> Turn:
    """Whoever cannot draw one is not asked again before there is something new to say."""
    assert run.outline is not None, "an outline is being drawn"
    if event.verdict == "goals":
        run = replace(run, outline=rewrite_goals(run.outline, event.goals))
    return run, phase.then


def progress_judged(run: Run, phase: Judging, event: ProgressJudged) -> Turn:
    assert run.outline is not None, "there is an outline to judge"
    assert run.seen is not None, "it was judged from something"
    if event.verdict == "transport":
        return replace(run, outline=replace(run.outline, judged=run.seen.id)), phase.then
    return replace(run, outline=apply_judgement(run.outline, event.current, event.evidence, run.seen.id)), phase.then


def _draw(run: Run, number: int, time: float, drawn: Outline | None) -> DrawOutline:
    seen = run.seen.id if run.seen else ""
    return DrawOutline(
        id=number,
        timeout=time,
        seen=seen,
        outline=drawn,
        guidance=run.guidance,
        advice=current_advice(run),
        left=remaining(run),
    )
