"""What a plan after a failure is told: the failure, why it happened, what may help, and how far the run has come."""

from midcourse.domain.failure import FailedStep, Failure
from midcourse.domain.reflection import MOST_KEPT, ReplanningContext
from midcourse.perform.history import History
from midcourse.perform.learning import learn, remind
from midcourse.perform.ports import Ports
from midcourse.policy.reflect import reflect


async def replanning_context(ports: Ports, failure: Failure, history: History) -> ReplanningContext:
    failed = failed_step(failure, history)
    reminded = await remind(ports)
    reflection = reflect(failure, failed, history.attempts)
    cause = reflection.analysis.root_cause if reflection.by == "model" else ""  # rules find it anew each time
    await learn(ports, point=reminded.point, category=failure.found.category, root_cause=cause)
    return ReplanningContext(
        failure=failure,
        analysis=reflection.analysis,
        fix=reflection.fix,
        by=reflection.by,
        similar=reminded.similar,
        failed=failed,
        results=history.data,
        completed=history.completed[-MOST_KEPT:],
        attempts=history.attempts[-MOST_KEPT:],
    )


def failed_step(failure: Failure, history: History) -> FailedStep | None:
    """The latest try of the step that failed, if it was a step."""
    tries = (attempt for attempt in reversed(history.attempts) if _of(attempt, failure))
    return next(tries, None)


def _of(attempt: FailedStep, failure: Failure) -> bool:
    return (attempt.version, attempt.index) == (failure.version, failure.index)
