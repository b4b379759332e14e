"""The monitor: before a plan is made, somebody looks whether the path makes sense. What it says is told, and binds nobody.

Nothing of it may end a run or use up what the plan needs; where that could be, it is left out.
"""

from midcourse.director.turn import Turn, can_wait, issue_aside
from midcourse.domain.command import ReviewPath
from midcourse.domain.event import PathReviewed
from midcourse.domain.move import Orient, Review
from midcourse.domain.phase import Reviewing
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.admission import with_progress
from midcourse.policy.monitor import heard, wants_review
from midcourse.policy.outline import suggested
from midcourse.policy.spending import left


def review(run: Run, move: Review) -> Turn:
    seen, then = run.seen, Orient(then=move.then)
    if seen is None or seen.stale or move.then.amends or not wants_review(run) or not can_wait(run):
        return run, then
    return issue_aside(
        run,
        Reviewing(then=then),
        lambda number, time: ReviewPath(
            id=number, timeout=time, seen=seen.id, since=run.watch.since, outline=suggested(run), left=left(run)
        ),
        due=move.then.due,
        otherwise=then,
    )


def reviewed(run: Run, phase: Reviewing, event: PathReviewed) -> Turn:
    """Whoever could not be reached has nothing to say, and is not asked again before the next plan.

    A word is something new: who goes round may set out once more, knowing it, before that counts as a circle.
    """
    watch = heard(run, event.advice if event.verdict == "reviewed" else None)
    walked = with_progress(run) if watch.spoken > run.watch.spoken else run.walked
    return replace(run, watch=watch, walked=walked), phase.then
