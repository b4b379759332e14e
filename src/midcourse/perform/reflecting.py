"""ReflectOn, and what a plan after a failure is told: the failure, why it happened, what may help, and how far the run has come.

Whoever is asked to explain a failure may be wrong, late or talk nonsense: then the rules explain it.
"""

from collections.abc import Iterable
from functools import partial

from midcourse.domain.budget import bill
from midcourse.domain.command import ReflectOn
from midcourse.domain.event import Reflected
from midcourse.domain.failure import FailedStep, Failure
from midcourse.domain.reflection import MOST_KEPT, Analysis, Fix, Reflection, ReplanningContext
from midcourse.domain.replace import replace
from midcourse.perform.answering import NoAnswer, answer_of
from midcourse.perform.history import History, history_of
from midcourse.perform.learning import LONGEST_SAID, learn, remind
from midcourse.perform.ports import Ports
from midcourse.policy.failure.reflection import explain_failure
from midcourse.policy.spending import worst_plan
from midcourse.ports.reflector import Explanation, ReflectionContext

MOST_SAID = 5
"""Contributing factors, and changes: more is no explanation, and a run has to stay small."""


async def reflect_on(ports: Ports, command: ReflectOn) -> Reflected:
    explained = await _explained(ports, command)
    found = explained.reflection if explained.verdict == "reflected" else None
    kept = _kept(ports, found, command.failure) if found else None
    return Reflected(
        answers=command.id,
        verdict="garbage" if explained.verdict == "reflected" and kept is None else explained.verdict,
        reflection=kept,
        detail=explained.detail,
        cost=explained.cost,
        spent=bill("reflector", explained.cost, command.version, explained.model),
    )


async def _explained(ports: Ports, command: ReflectOn) -> Explanation:
    answer = await answer_of(partial(_ask, ports), command, Explanation, command.timeout)
    if isinstance(answer, NoAnswer):
        return Explanation(verdict=answer.verdict, detail=answer.detail, cost=worst_plan(ports.task.limits))
    return answer


async def _ask(ports: Ports, command: ReflectOn) -> Explanation:
    failure = replace(command.failure, detail=ports.mask_text(command.failure.detail))
    history = await history_of(ports, command.told)
    reminded = await remind(ports)
    context = ReflectionContext(
        task=ports.public_task,
        failure=failure,
        failed=failed_step(failure, history),
        attempts=history.attempts[-MOST_KEPT:],
        completed=history.completed[-MOST_KEPT:],
        similar=reminded.similar,
        observation=await ports.store.observation(ports.run_id, command.seen) if command.seen else None,
        version=command.version,
        left=command.left,
        worst=worst_plan(ports.task.limits),
    )
    return await ports.reflector.reflect(context)


def _kept(ports: Ports, found: Reflection, failure: Failure) -> Reflection | None:
    """As it may be passed on and written down. What kind of failure it is has been decided; who explains it cannot change that."""
    analysis, fix = found.analysis, found.fix
    if not analysis.root_cause.strip():
        return None
    if not fix.message.strip():
        fix = explain_failure(failure).fix
    return Reflection(
        analysis=Analysis(
            error_type=failure.found.error_type,
            severity=analysis.severity,
            root_cause=_short(ports, analysis.root_cause),
            contributing_factors=_few(ports, analysis.contributing_factors),
            preventable=analysis.preventable,
        ),
        fix=Fix(message=_short(ports, fix.message), changes=_few(ports, fix.changes)),
        by=found.by,
    )


def _few(ports: Ports, texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(_short(ports, text) for text in texts if text.strip())[:MOST_SAID]


def _short(ports: Ports, text: str) -> str:
    return ports.plain(text.strip())[:LONGEST_SAID]


async def replanning_context(
    ports: Ports, failure: Failure, history: History, reflection: Reflection | None = None
) -> ReplanningContext:
    failed = failed_step(failure, history)
    reminded = await remind(ports)
    reflection = reflection or explain_failure(failure, failed, history.attempts)
    cause = "" if reflection.by == "rules" else reflection.analysis.root_cause  # rules find it anew each time
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
