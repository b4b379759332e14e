"""CheckDone and Finish: is the task done, and what did the run come to?"""

import asyncio
from contextlib import suppress

from midcourse.domain.argument import Pairs
from midcourse.domain.budget import FREE
from midcourse.domain.command import CheckDone, Finish
from midcourse.domain.event import DoneChecked, Finished
from midcourse.domain.expectation import Probe
from midcourse.domain.observation import Observation, Unseen
from midcourse.domain.result import SUCCESSES, BudgetUsed, Result
from midcourse.domain.run import Run
from midcourse.perform.history import history_of
from midcourse.perform.learning import learn
from midcourse.perform.ports import Ports, say
from midcourse.perform.reuse import keep_what_worked
from midcourse.policy.horizon import fits
from midcourse.policy.spending import MICRO
from midcourse.policy.verify import describe, holds


async def check_done(ports: Ports, command: CheckDone) -> DoneChecked:
    condition = ports.task.done_when
    if condition is None:
        return DoneChecked(answers=command.id, verdict="undecided")
    if isinstance(condition, Probe):
        return await _ask_probe(ports, command, condition)
    if command.look:
        seen = await ports.look(command.id, command.timeout)
    else:
        seen = await ports.store.observation(ports.run_id, command.seen)
    cost = ports.look_cost if command.look else FREE
    if not isinstance(seen, Observation):
        detail = seen.detail if isinstance(seen, Unseen) else "nothing has been seen"
        return DoneChecked(answers=command.id, verdict="undecided", detail=detail, cost=cost)
    ref = seen.ref if command.look else None
    words = describe(condition)
    match holds(condition, seen):
        case True:
            return DoneChecked(answers=command.id, verdict="met", detail=f"seen: {words}", seen=ref, cost=cost)
        case False:
            detail = f"expected {words}; the screen is '{seen.surface.title}'"
            return DoneChecked(answers=command.id, verdict="unmet", detail=detail, seen=ref, cost=cost)
        case None:
            detail = f"nobody here can check: {words}"
            return DoneChecked(answers=command.id, verdict="undecided", detail=detail, seen=ref, cost=cost)


async def _ask_probe(ports: Ports, command: CheckDone, probe: Probe) -> DoneChecked:
    arguments = ports.fill_in(probe.arguments)
    if isinstance(arguments, str):
        return DoneChecked(answers=command.id, verdict="undecided", detail=arguments)
    try:
        finding = await asyncio.wait_for(ports.world.probe(probe.name, arguments), command.timeout)
    except Exception as error:
        return DoneChecked(answers=command.id, verdict="undecided", detail=say(error))
    if finding == "present":
        return DoneChecked(answers=command.id, verdict="met", detail=f"the probe '{probe.name}' found it")
    if finding == "unclear":
        return DoneChecked(answers=command.id, verdict="undecided", detail=f"the probe '{probe.name}' cannot tell")
    sent = [e.dispatched_at for e in await ports.store.ledger(ports.run_id) if e.dispatched_at is not None]
    early = max(sent, default=0.0) + probe.settles_after - ports.clock.now()
    if early > 0:
        return DoneChecked(answers=command.id, verdict="too_early", seconds=early)
    return DoneChecked(answers=command.id, verdict="unmet", detail=f"the probe '{probe.name}' found nothing")


async def finish(ports: Ports, command: Finish) -> Finished:
    run, _ = await ports.store.load(ports.run_id)
    await ports.store.save_result(await _result(ports, command, run))
    await keep_what_worked(ports, command, run)
    await learn(ports, ended=command.reason)
    with suppress(Exception):  # the result is written down: a world that clings to its session changes nothing
        await asyncio.wait_for(ports.world.close(), ports.task.limits.look_timeout_seconds)
    return Finished(answers=command.id)


async def _result(ports: Ports, command: Finish, run: Run) -> Result:
    history = await history_of(ports.store, ports.run_id, command.told)
    data, missing = _output(ports, history.data)
    return Result(
        run=run.id,
        goal=ports.task.goal,
        success=command.reason in SUCCESSES,
        verified=command.verified,
        final_reason=command.reason,
        final_detail=command.detail,
        replans=run.counts.extensions + run.counts.replans,
        extensions=run.counts.extensions,
        steps=run.counts.steps,
        executions=run.counts.executions,
        planner_calls=run.counts.planner_calls,
        wall_seconds=round(run.now - run.started_at, 3),
        completed=history.completed,
        attempts=history.attempts,
        budget=_budget_used(run),
        spent=run.spent,
        data=data,
        missing=missing,
        audit=await ports.store.audit_head(),
        reused=run.counts.reused,
    )


def _output(ports: Ports, data: Pairs) -> tuple[Pairs, tuple[str, ...]]:
    """What the task asked for, if it did: the fields that came back in the right type, and those that did not."""
    wanted = {field.name: field for field in ports.task.output}
    if not wanted:
        return data, ()
    found = tuple((name, value) for name, value in data if name in wanted and fits(value, wanted[name].type))
    names = {name for name, _ in found}
    return found, tuple(name for name, field in wanted.items() if field.required and name not in names)


def _budget_used(run: Run) -> BudgetUsed:
    limits, counts, spent = run.limits, run.counts, run.budget.spent
    return BudgetUsed(
        calls=spent.calls,
        max_calls=limits.max_calls,
        segments=counts.segments,
        max_segments=limits.max_segments,
        replans=counts.replans,
        max_replans=limits.max_replans,
        error_replans=counts.error_replans,
        max_error_replans=limits.max_error_replans,
        tokens=spent.tokens,
        max_tokens=limits.max_tokens,
        cost_usd=spent.microusd / MICRO,
        max_cost_usd=limits.max_cost_usd,
        wall_seconds=round(run.budget.active_seconds, 3),
        max_wall_seconds=limits.max_wall_seconds,
        overrun=run.overrun,
    )
