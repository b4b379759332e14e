"""ReviewPath: a monitor is told the path, and may be wrong, late or talk nonsense; nothing worse comes of it."""

from collections.abc import Mapping
from itertools import groupby, takewhile

from midcourse.domain.budget import bill
from midcourse.domain.command import ReviewPath
from midcourse.domain.event import PathReviewed
from midcourse.domain.monitor import Proposed, Taken
from midcourse.domain.observation import Observation
from midcourse.domain.plan import REPLAN, PlanVersion
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.replace import replace
from midcourse.perform.answering import NoAnswer, answer_of
from midcourse.perform.history import NO_ANSWER, past_of
from midcourse.perform.ports import Ports
from midcourse.policy.spending import worst_plan
from midcourse.ports.monitor import Finding, MonitorContext

LONGEST_PATH = 24
"""Steps: enough for whoever looks for loops, and not too much to tell a model before every plan."""


async def review_path(ports: Ports, command: ReviewPath) -> PathReviewed:
    seen = await ports.store.observation(ports.run_id, command.seen)
    if seen is None:
        return PathReviewed(answers=command.id, verdict="transport", detail="the observation to review from is gone")
    found = await _found(ports, command, seen)
    advice = found.advice
    return PathReviewed(
        answers=command.id,
        verdict=found.verdict,
        advice=replace(advice, says=ports.plain(advice.says)) if advice and advice.says.strip() else None,
        detail=found.detail,
        cost=found.cost,
        spent=bill("monitor", found.cost, model=found.model),
    )


async def _found(ports: Ports, command: ReviewPath, seen: Observation) -> Finding:
    worst = worst_plan(ports.task.limits)
    context = MonitorContext(
        task=ports.public_task,
        observation=seen,
        path=await path_of(ports, command.since),
        proposed=await proposed_by(ports, command),
        outline=command.outline,
        left=command.left,
        worst=worst,
    )
    answer = await answer_of(ports.monitor.review, context, Finding, command.timeout)
    if isinstance(answer, NoAnswer):
        return Finding(verdict="transport", detail=answer.detail, cost=worst)
    return answer


async def path_of(ports: Ports, since: int) -> tuple[Taken, ...]:
    """The latest steps of plans from this command on, oldest first: a step and its retries are one, as the last of them went.

    Not what detours try: they look after themselves.
    """
    past = await past_of(ports)
    plans = past.plans
    later = takewhile(lambda entry: entry.command >= since, reversed(past.entries))
    tries = [entry for entry in later if plans[entry.version].cause != "detour"][::-1]
    steps = [tuple(group) for _, group in groupby(tries, key=lambda entry: (entry.version, entry.index))][
        -LONGEST_PATH:
    ]
    seen = {step[0].seen: await ports.store.observation(ports.run_id, step[0].seen) for step in steps}
    return tuple(_taken(ports, plans, step[-1], seen[step[0].seen]) for step in steps)


async def proposed_by(ports: Ports, command: ReviewPath) -> tuple[Proposed, ...]:
    """The steps of the plan that is about to begin, up to where it is planned again."""
    plan = await ports.store.plan(ports.run_id, command.version, command.made_by) if command.version else None
    return tuple(
        Proposed(
            call=step.call,
            skill=step.skill,
            target=ports.mask_text(step.target.label),
            says=ports.mask_text(step.says),
            effect=step.effect,
        )
        for step in (plan.steps if plan else ())
        if step.zone != REPLAN
    )


def _taken(ports: Ports, plans: Mapping[int, PlanVersion], entry: LedgerEntry, seen: Observation | None) -> Taken:
    step, outcome = plans[entry.version].steps[entry.index], entry.outcome or NO_ANSWER
    return Taken(
        call=entry.call,
        before=seen.fingerprint if seen else "",
        skill=step.skill,
        target=ports.mask_text(step.target.label),
        surface=seen.surface.title if seen else "",
        says=ports.mask_text(step.says),
        effect="irreversible" if entry.identity else step.effect,
        status=outcome.status,
        reason=outcome.reason,
    )
