"""The monitor: before a plan is made, somebody looks whether the path makes sense, and before it begins, whether the plan does.
What it says is told, and binds nobody.

Nothing of it may end a run or use up what the plan needs; where that could be, it is left out.
"""

from midcourse.director.turn import Turn, can_wait, issue_aside
from midcourse.domain.command import ReviewPath
from midcourse.domain.event import PathReviewed
from midcourse.domain.move import Begin, Orient, Propose, Review
from midcourse.domain.phase import Reviewing
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.advice.monitor import record_objection, record_review, wants_review
from midcourse.policy.advice.outline import active_outline
from midcourse.policy.plan.admission import with_progress
from midcourse.policy.spending import remaining


def review(run: Run, move: Review) -> Turn:
    seen, then = run.seen, Orient(then=move.then)
    if seen is None or seen.stale or move.then.amends or not wants_review(run) or not can_wait(run):
        return run, then
    return issue_aside(
        run,
        Reviewing(then=then),
        lambda number, time: ReviewPath(
            id=number,
            timeout=time,
            seen=seen.id,
            since=run.watch.since,
            outline=active_outline(run),
            left=remaining(run),
        ),
        due=move.then.due,
        otherwise=then,
    )


def propose(run: Run, move: Propose) -> Turn:
    """The same question is put once more if there is a word, and what comes of it is not looked at again."""
    seen, plan = run.seen, run.segment
    if seen is None or seen.stale or plan is None or not can_wait(run, plans=2):
        return run, Begin()
    again = replace(move.asked, refused="", objected=True)
    return issue_aside(
        run,
        Reviewing(then=Orient(then=again), drafted=True),
        lambda number, time: ReviewPath(
            id=number,
            timeout=time,
            seen=seen.id,
            since=run.watch.since,
            version=plan.version,
            made_by=plan.made_by,
            outline=active_outline(run),
            left=remaining(run),
        ),
        due=move.asked.due,
        otherwise=Begin(),
    )


def reviewed(run: Run, phase: Reviewing, event: PathReviewed) -> Turn:
    """Whoever could not be reached has nothing to say, and is not asked again before the next plan.

    A word is something new: who goes round may set out once more, knowing it, before that counts as a circle.
    """
    advice = event.advice if event.verdict == "reviewed" else None
    if phase.drafted:
        watch = record_objection(run, advice)
        return replace(run, watch=watch), phase.then.then if watch.spoken > run.watch.spoken else Begin()
    watch = record_review(run, advice)
    walked = with_progress(run) if watch.spoken > run.watch.spoken else run.walked
    return replace(run, watch=watch, walked=walked), phase.then
