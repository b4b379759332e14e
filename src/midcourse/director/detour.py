"""Detours: try, judge the result, then retain, explore, revert or cancel, until a step is in reach or given up.

A state is judged once: the closeness after a try is also the closeness before the next try. A detour does nothing irreversible, so it needs no
approvals.
"""

from midcourse.director.outage import ask_later
from midcourse.director.turn import REFUSALS, Turn, count, find_current_view, issue, remember, seen_fingerprint
from midcourse.domain import commands, events, moves, phases
from midcourse.domain.detour import Cancel, Detour, Reverting, Tried
from midcourse.domain.plan import PlannedStep
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.detour.choice import choose_next, find_dead_end, find_restored, revert_from
from midcourse.policy.failure.recovery import retry_delay
from midcourse.policy.spending import remaining_cost, worst_plan


def require_detour(run: Run) -> Detour:
    assert run.detour is not None, "no detour is under way"
    return run.detour


def reach(run: Run, move: moves.Reach) -> Turn:
    detour = Detour(step=move.step, number=move.step.index + 1, began_under=seen_fingerprint(run))
    return count(replace(run, detour=detour), detours=1), moves.Weigh()


# --- a try


def plan_try(run: Run, move: moves.Try) -> Turn:
    detour = require_detour(run)
    if not move.undo and detour.under != seen_fingerprint(run):
        return run, moves.Weigh()  # the world has changed since
    undo = detour.path[-1].version if move.undo else 0
    return issue(
        run,
        phases.Trying(asked=move),
        lambda number, time: commands.PlanTry(
            id=number,
            timeout=time,
            version=run.counts.versions + 1,
            goal=(detour.step.version, detour.step.index),
            label=_next_label(detour),
            seen=run.seen.id if run.seen else "",
            closeness=detour.closeness or 0.0,
            tries=tuple(replace(tried, options=()) for tried in detour.tries),
            hint=None if undo else detour.hint,
            undo=undo,
            refused=detour.refused,
            guidance=run.guidance,
            left=remaining_cost(run),
            turn=move.tries,
        ),
        seconds=run.limits.plan_timeout_seconds,
        worst=worst_plan(run.limits),
    )


def on_try_planned(run: Run, phase: phases.Trying, event: events.TryPlanned) -> Turn:
    asked = phase.asked
    if event.verdict == "transport":
        again = replace(asked, tries=asked.tries + 1)
        return ask_later(run, again, "the model that plans detours", event.detail, event.wait, has_other=True)
    if asked.undo:
        return _undo(run, event.step, event.answers) if event.step else _cancel(run, "revert_unverified", event.detail)
    if event.verdict in ("gave_up", "rejected"):
        return _cancel(run, "no_way", event.detail)
    return _try(run, event)


def _try(run: Run, event: events.TryPlanned) -> Turn:
    detour, step, here = require_detour(run), event.step, seen_fingerprint(run)
    trying = Tried(
        label=_next_label(detour),
        version=step.version if step else 0,
        call=step.call if step else "",
        before=here,
        seen=run.seen.id if run.seen else "",
        closeness_before=detour.closeness or 0.0,
        options=event.options,
        explores=detour.explores,
        failed="" if step else event.verdict,
    )
    changes = replace(detour, trying=trying, states=detour.states + 1, hint=None, explores="", refused=event.detail)
    run = count(replace(run, detour=changes), tries=1)
    if step is None:
        return run, moves.Weigh()
    return _act(replace(run, detour=replace(changes, refused="")), step, "try", event.answers)


def _act(run: Run, step: PlannedStep, purpose: moves.Purpose, made_by: int) -> Turn:
    run = count(run, versions=1, asides=1)
    return run, moves.Do(step=step, purpose=purpose, made_by=made_by, harmless=True)


def on_try_reported(run: Run, move: moves.Report) -> Turn:
    """Record the outcome of a try, then judge the closeness even if it failed: it may have changed something.

    After a pause, the state in which it was tried may differ from the one that it was planned for.
    """
    detour = require_detour(run)
    assert detour.trying is not None, "a try is under way"
    trying = replace(detour.trying, before=move.before, failed="" if move.status == "ok" else move.reason)
    return _remember_failure(replace(run, detour=replace(detour, trying=trying)), move), moves.Weigh()


def _remember_failure(run: Run, move: moves.Report) -> Run:
    """Remember a failure, so that it is not tried again on the same screen, in the detour or after it."""
    return run if move.status == "ok" or move.reason in REFUSALS else remember(run, move)


# --- judging closeness


def weigh(run: Run, move: moves.Weigh) -> Turn:
    detour, seen = require_detour(run), find_current_view(run)
    if seen is None:
        return (
            _cancel(run, "unseen", "nothing can be seen")
            if move.looked
            else (run, moves.Look(then=moves.Weigh(looked=True)))
        )
    if detour.trying and detour.closeness is not None and detour.trying.before == seen.fingerprint:
        return _choose(run, detour.closeness)  # nothing has changed
    return issue(
        run,
        phases.Weighing(asked=move),
        lambda number, time: commands.JudgeCloseness(
            id=number, timeout=time, goal=(detour.step.version, detour.step.index), seen=seen.id, turn=move.tries
        ),
        seconds=run.limits.plan_timeout_seconds,
        worst=worst_plan(run.limits),
    )


def on_closeness_judged(run: Run, phase: phases.Weighing, event: events.ClosenessJudged) -> Turn:
    asked = phase.asked
    again = replace(asked, tries=asked.tries + 1)
    if event.verdict == "transport":
        return ask_later(run, again, "the model that judges closeness", event.detail, event.wait)
    if event.verdict == "garbage":
        if asked.tries >= run.limits.max_step_retries:
            return _cancel(run, "unjudged", f"the closeness could not be judged: {event.detail}")
        return run, moves.BackOff(seconds=retry_delay(run, "transport", asked.tries), then=again)
    return _rejoin(run, event.found) if event.found else _choose(run, event.closeness)


def _choose(run: Run, closeness: float) -> Turn:
    detour, here = require_detour(run), seen_fingerprint(run)
    trying = detour.trying
    detour = replace(detour, closeness=closeness, under=here, trying=None)
    if trying is None:
        return replace(run, detour=detour), moves.Try()
    trying = replace(trying, after=here, closeness_after=closeness)
    detour = replace(detour, tries=(*detour.tries, trying))
    verdict = choose_next(detour, run.limits.detour_iterations)
    detour = _replace_try(detour, replace(trying, choice=verdict.choice))
    match verdict.choice:
        case "retain":
            return replace(run, detour=detour), moves.Try()
        case "explore":
            return count(replace(run, detour=_explore(detour, verdict.offered_by)), explorations=1), moves.Try()
        case "revert":
            to = find_dead_end(detour).label
            return count(replace(run, detour=replace(detour, reverting=Reverting(to=to))), reverts=1), moves.Revert()
        case "cancel":
            assert verdict.cancel, "a cancelled detour has a reason"
            return _cancel(replace(run, detour=detour), verdict.cancel, verdict.why)


def _explore(detour: Detour, label: str) -> Detour:
    """Use the next option of this try as a hint."""
    offer = next(tried for tried in detour.tries if tried.label == label)
    detour = _replace_try(detour, replace(offer, explored=offer.explored + 1))
    return replace(detour, hint=offer.options[offer.explored], explores=label)


# --- reverting


def revert(run: Run, move: moves.Revert) -> Turn:
    detour, seen = require_detour(run), find_current_view(run)
    reverting = detour.reverting
    assert reverting is not None, "a revert is under way"
    if seen is None:
        if move.looked:
            return _cancel(run, "revert_unverified", "nothing can be seen")
        return run, moves.Look(then=moves.Revert(looked=True))
    back = find_restored(detour, reverting.to, seen.fingerprint)
    if back is not None:
        detour = revert_from(detour, back.label)
        detour = replace(detour, reverting=None, closeness=back.closeness_before, under=seen.fingerprint)
        return replace(run, detour=detour), moves.Try()
    partly = find_restored(detour, detour.path[-1].label, seen.fingerprint)
    if partly is not None:
        detour = revert_from(detour, partly.label)
        reverting = replace(reverting, strategies=())
        run = replace(run, detour=replace(detour, reverting=reverting))
    last = detour.path[-1]
    if not last.version:
        return _cancel(run, "revert_unverified", "the state has changed though nothing was done")
    tried = reverting.strategies
    return issue(
        run,
        phases.Undoing(),
        lambda number, time: commands.PlanRevert(
            id=number,
            timeout=time,
            version=run.counts.versions + 1,
            undo=last.version,
            label=_next_label(detour),
            before=last.seen,
            seen=seen.id,
            tried=tried,
        ),
        seconds=run.limits.look_timeout_seconds,
    )


def on_revert_planned(run: Run, _phase: phases.Undoing, event: events.RevertPlanned) -> Turn:
    detour = require_detour(run)
    reverting = detour.reverting
    assert reverting is not None, "a revert is under way"
    strategy = event.strategy or "ask"
    if strategy in reverting.strategies:
        return _cancel(run, "revert_unverified", f"none of these led back: {', '.join(reverting.strategies)}")
    reverting = replace(reverting, strategies=(*reverting.strategies, strategy))
    run = replace(run, detour=replace(detour, reverting=reverting))
    return _undo(run, event.step, event.answers) if event.step else (run, moves.Try(undo=True))


def _undo(run: Run, step: PlannedStep, made_by: int) -> Turn:
    detour = require_detour(run)
    return _act(replace(run, detour=replace(detour, states=detour.states + 1)), step, "revert", made_by)


def on_revert_reported(run: Run, move: moves.Report) -> Turn:
    """Continue the revert. Only the state that the act led to counts, not its outcome."""
    detour = require_detour(run)
    assert detour.reverting is not None, "a revert is under way"
    reverting = replace(detour.reverting, acts=detour.reverting.acts + 1)
    return _remember_failure(replace(run, detour=replace(detour, reverting=reverting)), move), moves.Revert()


# --- the end


def _rejoin(run: Run, found: str) -> Turn:
    """Continue the segment: the step can be reached now, or is no longer needed."""
    detour, segment = require_detour(run), run.segment
    assert segment is not None, "a detour is for a step of a plan"
    place = segment.cursor
    steps = (*segment.steps[:place], replace(detour.step, found=found), *segment.steps[place + 1 :])
    return replace(run, detour=None, segment=replace(segment, steps=steps)), moves.Advance()


def _cancel(run: Run, why: Cancel, detail: str) -> Turn:
    """Give the detour up and report a failure of the step, so that recovery decides."""
    detour = require_detour(run)
    tries = len(detour.tries)
    return count(replace(run, detour=None), cancels=1), moves.Report(
        step=detour.step,
        purpose="segment",
        status="unreachable",
        reason="revert_unverified" if why == "revert_unverified" else "detour_cancelled",
        detail=f"the detour was given up ({why}) after {tries} {'try' if tries == 1 else 'tries'}: {detail}",
        before=detour.began_under,
    )


def _next_label(detour: Detour) -> str:
    return f"{detour.number}.{detour.states + 1}"


def _replace_try(detour: Detour, changed: Tried) -> Detour:
    return replace(detour, tries=tuple(changed if tried.label == changed.label else tried for tried in detour.tries))
