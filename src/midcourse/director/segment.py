"""Segments: observe, plan for what is visible, carry out the steps, observe again at the transition."""

from midcourse.director.asking import ask_for_planner
from midcourse.director.outage import ask_later, wait_out
from midcourse.director.turn import (
    REFUSALS,
    Rest,
    Turn,
    check_deferred,
    count,
    ensure_view,
    find_current_view,
    issue,
    lose_world,
    note,
    remember,
    seen_fingerprint,
    take_stock,
    update_seen,
)
from midcourse.domain import commands, events, moves, phases
from midcourse.domain.budget import FREE
from midcourse.domain.outcome import OTHER_SCREEN
from midcourse.domain.plan import LED_ELSEWHERE, NOT_SENT, UNDONE, Cause, PlannedStep, Segment
from midcourse.domain.replace import replace
from midcourse.domain.run import Outage, Run
from midcourse.policy.advice.monitor import current_advice, wants_objection
from midcourse.policy.advice.outline import active_outline
from midcourse.policy.approval.rules import live_grant, needs_approval
from midcourse.policy.failure.recovery import SHORTEST_WAIT, add_jitter, may_replan, replan_delay, retry_delay
from midcourse.policy.likeness import find_repeated
from midcourse.policy.output import merge_values
from midcourse.policy.plan.admission import (
    drop_finished_end,
    goes_in_a_circle,
    is_too_early_for_done,
    remember_adopted,
    remember_completed,
    remember_progress,
    why_refused,
)
from midcourse.policy.plan.horizon import may_plan_beyond
from midcourse.policy.spending import can_afford, is_near_ceiling, remaining_cost, worst_look, worst_plan

NO_PLAN = "it could not be used"
NO_PLAN_BEFORE_FORMAT_3 = "it was not a plan"
"""The same in runs of earlier formats, whose journals have it in commands."""
GARBAGE = "planner_garbage"
FINISHED = "every step of the plan was carried out before"
ANSWERS = ("steps", "done", "ask", "impossible", "gave_up")
"""Verdicts of a planner that was reached and understood."""
NOTHING_DONE = "nothing has been done in this run yet. If the task was done before it, say so again"


def on_started(run: Run, _phase: phases.New, event: events.Started) -> Turn:
    return replace(run, started_at=event.at), moves.Open(then=moves.Look(then=moves.Plan(cause="initial"), free=True))


# --- the world


def open_world(run: Run, move: moves.Open) -> Turn:
    if run.counts.reopenings > run.limits.max_reopenings:
        return run, moves.End(reason="world_lost", detail=f"the world was lost {run.counts.reopenings} times")
    return issue(
        run,
        phases.Opening(then=move.then, failures=move.failures),
        lambda number, time: commands.OpenWorld(id=number, timeout=time),
        seconds=run.limits.look_timeout_seconds,
    )


def on_world_opened(run: Run, phase: phases.Opening, event: events.WorldOpened) -> Turn:
    if event.opened:
        return run, phase.then
    if event.away:
        if event.full:  # the host answered, so any outage is over, and this wait has no separate limit
            run = replace(run, outage=Outage(since=run.now, tries=run.outage.tries) if run.outage else None)
        # The sessions of a host are down with it, so this one was not lost by the world.
        if run.outage is None and run.counts.reopenings:
            run = count(run, reopenings=-1)
        again = moves.Open(then=phase.then, failures=phase.failures)
        return wait_out(run, again, "the world's host", event.detail)
    if event.invalid or phase.failures >= run.limits.max_step_retries:
        return run, moves.End(reason="world_lost", detail=event.detail)
    again = moves.Open(then=phase.then, failures=phase.failures + 1)
    return run, moves.BackOff(seconds=retry_delay(run, "error", phase.failures), then=again)


def look(run: Run, move: moves.Look) -> Turn:
    worst = FREE if move.free and not run.limits.vision else worst_look(run.limits)
    return issue(
        run,
        phases.Looking(then=move.then, failures=move.failures),
        lambda number, time: commands.Observe(id=number, timeout=time, free=move.free, settle=move.settle),
        seconds=run.limits.look_timeout_seconds,
        worst=worst,
    )


def on_observed(run: Run, phase: phases.Looking, event: events.Observed) -> Turn:
    run = update_seen(run, event.seen)
    if event.reason == "world_lost":
        return lose_world(run), moves.Open(then=moves.Look(then=phase.then))
    if event.seen is None and event.wait is not None:
        again = moves.Look(then=phase.then, failures=phase.failures)
        if event.wait > 0:
            return run, moves.BackOff(seconds=add_jitter(run, max(SHORTEST_WAIT, event.wait)), then=again)
        return wait_out(run, again, "the model that reads the screen", event.detail)
    if run.seen is not None:
        return run, phase.then
    if phase.failures >= run.limits.max_step_retries:
        return run, moves.End(reason="world_lost", detail=f"nothing could be seen: {event.detail or event.reason}")
    again = moves.Look(then=phase.then, failures=phase.failures + 1)
    return run, moves.BackOff(seconds=retry_delay(run, event.reason, phase.failures), then=again)


# --- planning


def plan(run: Run, move: moves.Plan) -> Turn:
    """Check whether the run may plan again. Plans after progress count as segments only, everything else as replans.

    Between two plans after failures there is a delay, after which the world is observed again.
    """
    if move.doubt is None and run.deferred is not None:
        return check_deferred(run)
    run = replace(run, deferred=move.doubt)
    if not move.checked and _seems_done(run, move):
        return run, moves.Conclude(otherwise=replace(move, checked=True))
    limits, counts = run.limits, run.counts
    if counts.segments >= limits.max_segments:
        return run, moves.End(reason="budget_exhausted", detail=f"all {limits.max_segments} segments are used up")
    if move.cause == "initial":
        run = (
            replace(take_stock(run), met_at_start=run.seen is not None and run.seen.meets_goal)
            if run.format >= 4
            else run
        )
        return run, moves.Consult(role="reflector", then=moves.AskPlanner(cause=move.cause, why=move.why))
    extends = _follows_progress(run, move.cause)
    if (not extends or limits.count_extensions) and not may_replan(run):
        return run, moves.End(reason="replan_exhausted", detail=move.why)
    if move.cause == "error" and counts.error_replans >= limits.max_error_replans:
        return run, moves.End(reason="replan_exhausted", detail=move.why)
    if move.cause == "error" and (wait := replan_delay(run)):
        return run, moves.BackOff(seconds=add_jitter(run, wait), then=moves.Look(then=move))
    run = count(run, extensions=extends, replans=not extends, error_replans=move.cause == "error")
    run = take_stock(run) if run.format >= 4 else run
    asked = moves.AskPlanner(cause=move.cause, why=move.why, failure=move.failure, amends=move.amends)
    if move.cause != "error":
        return run, moves.Consult(role="reflector", then=asked)
    asked = replace(asked, due=run.budget.active_seconds + run.limits.replan_timeout_seconds)
    run = replace(run, replanned_at=run.now)
    # One call and no more: the proof says all that an adviser could.
    return run, asked if _asks_for_another_way(run, asked) else moves.Consult(role="reflector", then=asked)


def _seems_done(run: Run, move: moves.Plan) -> bool:
    """Whether `done_when` seems to hold because of what the run did, so that it is checked before a planner is paid.

    Not if the planner still has to tell more than that: values of the output, a step in doubt, or what a person has asked for since.
    """
    if run.format < 4 or move.cause not in ("adaptive", "error") or not run.counts.executions:
        return False
    if run.wants_data or run.deferred is not None or run.guidance or run.met_at_start:
        return False
    seen = find_current_view(run)
    return seen is not None and seen.meets_goal


def _asks_for_another_way(run: Run, asked: moves.AskPlanner) -> bool:
    """Whether the planner is asked for a plan without a step that can never work. There is no second question if it has none."""
    if asked.failure is None or not (run.bars_structural and run.limits.structural_stop):
        return False
    return asked.failure.version > 0 and asked.failure.found.nature == "structural"


def _follows_progress(run: Run, cause: Cause) -> bool:
    """Whether the plan continues what the run has reached: another screen, or anything new to the run.

    Functions show one screen throughout: there, calls and results tell. Answers of a person do not count here, although they are
    progress, so that a planner that only asks is stopped.
    """
    if run.format >= 4 and cause in ("adaptive", "taken_over") and run.progress.fresh:
        return True
    seen = find_current_view(run)
    changed = seen is not None and run.segment is not None and seen.fingerprint != run.segment.made_under
    return cause == "adaptive" and changed


def ask_planner(run: Run, move: moves.AskPlanner) -> Turn:
    seen, seconds, current = run.seen, run.limits.plan_timeout_seconds, run.segment.version if run.segment else 0
    if move.due is not None:
        left = move.due - run.budget.active_seconds
        if left <= 0:
            if move.objected:
                return run, moves.Begin()
            why = f"no new plan within {run.limits.replan_timeout_seconds:g} s" + (f": {move.why}" if move.why else "")
            return run, moves.End(reason="planner_unavailable", detail=why)
        seconds = min(seconds, left)
    after, nxt = issue(
        run,
        phases.Planning(asked=move),
        lambda number, time: commands.MakePlan(
            id=number,
            timeout=time,
            version=run.counts.versions + 1,
            cause=move.cause,
            why=move.why,
            seen=seen.id if seen else "",
            parent=0 if current == run.counts.versions else current,
            stale=bool(seen and seen.stale),
            refused=move.refused,
            guidance=run.guidance,
            outcome_answers=run.outcome_answers,
            left=remaining_cost(run),
            wrap_up=is_near_ceiling(run),
            beyond=may_plan_beyond(run.limits, run.counts.segments),
            turn=move.turn,
            failure=move.failure,
            amends=move.amends,
            outline=active_outline(run),
            advice=current_advice(run),
            objected=run.segment.made_by if move.objected and run.segment and run.format >= 4 else 0,
            reflection=move.reflection,
            note=run.note,
        ),
        seconds=seconds,
        worst=FREE if move.amends else worst_plan(run.limits),
    )
    if move.objected and not isinstance(nxt, Rest):
        return run, moves.Begin()
    return count(after, planner_calls=isinstance(nxt, Rest) and move.amends is None), nxt


def on_planned(run: Run, phase: phases.Planning, event: events.Planned) -> Turn:
    asked = phase.asked
    told = not (event.reused or asked.amends) and event.verdict in ANSWERS
    if event.reused:
        run = count(run, planner_calls=-1, reused=1)
    run = replace(run, note=event.note) if told else run
    if asked.objected and not _replaces_current(run, event):
        return run, moves.Begin()
    if event.mismatch and not asked.refused and can_afford(run, worst_plan(run.limits)):
        return run, replace(asked, refused=event.mismatch)
    if not asked.amends:  # an amended plan is answered as before, and a reused one not at all
        run = replace(run, answer=event.answer, given=merge_values(run.given, event.data))
    if _asks_for_another_way(run, asked) and (no_way := _find_no_other_way(run, event)):
        return run, moves.End(reason="structural_failure", detail=f"{asked.why}; {no_way}")
    if event.verdict not in ("steps", "gave_up"):
        return _handle_answer_without_steps(run, asked, event)
    if event.verdict == "gave_up" or not event.steps:
        detail = event.detail or "the plan had no steps"
        if asked.cause == "initial":
            return run, moves.Recover(reason="no_steps", detail=detail)
        return run, moves.End(reason="empty_plan", detail=detail)
    event = replace(event, steps=drop_finished_end(run, event.steps, final=event.final))
    if not event.steps:
        return run, moves.Conclude(detail=FINISHED)
    if refusal := why_refused(run, event.steps):
        return refuse(run, refusal, replace(asked, refused=refusal))
    if goes_in_a_circle(run, event.steps):
        detail = "the same plan for the third time on the same screen: it goes in circles"
        return count(run, refusals=2), moves.End(reason="replan_no_change", detail=detail)
    return _adopt(run, asked, event)


def _find_no_other_way(run: Run, event: events.Planned) -> str:
    """Why this answer is no plan without the step that can never work, or an empty string."""
    match event.verdict:
        case "steps" if event.steps:
            repeats = why_refused(run, event.steps) or goes_in_a_circle(run, event.steps)
            return "the planner, asked once for another way, planned it again" if repeats else ""
        case "steps" | "gave_up" | "impossible" | "refused" | "garbage":
            return f"the planner, asked once for another way, has none: {event.detail or 'no steps'}"
        case "done" | "ask" | "rejected" | "transport":
            return ""


def _handle_answer_without_steps(run: Run, asked: moves.AskPlanner, event: events.Planned) -> Turn:
    """The turn for a verdict without steps: done, impossible, or an answer that cannot be used."""
    match event.verdict:
        case "done" if asked.refused != NOTHING_DONE and not event.data and is_too_early_for_done(run):
            return run, replace(asked, refused=NOTHING_DONE)
        case "done":
            return run, moves.Conclude(detail=event.detail)
        case "ask":
            return run, ask_for_planner(run, event.detail or "how should it continue?")
        case "rejected" if event.wait != 0.0:  # there is no other model to ask
            return run, moves.End(reason="planner_unavailable", detail=event.detail)
        case "transport" | "rejected":
            again = replace(asked, turn=asked.turn + 1)
            return ask_later(run, again, "the planner", event.detail, event.wait, has_other=True)
        case "refused" if asked.amends:
            # the person's change is not possible: the plan and the question about it stay
            return run, _ask_or_advance(run, event.detail)
        case "impossible" if run.limits.structural_stop:
            return run, moves.End(
                reason="structural_failure", detail=f"the planner found it impossible: {event.detail}"
            )
        # Asked again once. After a failed recovery from garbage the planner knows already what was wrong.
        case "garbage" if not asked.refused and (asked.failure is None or asked.failure.reason != GARBAGE):
            return run, replace(asked, refused=f"{_no_plan(run)}: {event.detail}")
        case "impossible" | "refused" | "garbage":
            if event.verdict == "garbage" and asked.refused.startswith(_no_plan(run)):
                spent = run.counts.error_replans < run.limits.max_error_replans
                run = count(run, error_replans=spent)  # asking again did not help, so it counts
            reason = event.verdict if event.verdict == "impossible" else f"planner_{event.verdict}"
            problem = "cannot be used" if event.verdict == "garbage" else f"was {event.verdict}"
            return run, moves.Recover(reason=reason, detail=f"the planner's answer {problem}: {event.detail}")
        case "steps" | "gave_up":
            raise AssertionError("handled by the caller")


def _no_plan(run: Run) -> str:
    return NO_PLAN if run.format >= 3 else NO_PLAN_BEFORE_FORMAT_3


def _replaces_current(run: Run, event: events.Planned) -> bool:
    """Whether the answer can replace the plan that a monitor objected to. If not, that plan stays."""
    if event.verdict != "steps":
        return event.verdict == "done"
    event = replace(event, steps=drop_finished_end(run, event.steps, final=event.final))
    return bool(event.steps) and not why_refused(run, event.steps) and not goes_in_a_circle(run, event.steps)


def refuse(run: Run, why: str, then: moves.AskPlanner | moves.Recover) -> Turn:
    """Refuse a plan that repeats what is finished or failed. The planner is asked again once, then the run ends."""
    run = count(run, refusals=1)
    if run.counts.refusals > 1:
        broke = f" ({then.why})" if isinstance(then, moves.AskPlanner) and then.cause == "error" else ""
        return run, moves.End(reason="replan_no_change", detail=why + broke)
    return run, then


def _adopt(run: Run, asked: moves.AskPlanner, event: events.Planned) -> Turn:
    segment = Segment(
        version=run.counts.versions + 1,
        cause=asked.cause,
        made_under=seen_fingerprint(run),
        view=run.seen.view if run.seen else "",
        final=event.final,
        steps=event.steps,
        made_by=event.answers,
    )
    run = replace(count(run, versions=1, asides=asked.objected), segment=segment, detour=None, reopened=False)
    if asked.amends or event.reused or not wants_objection(run):
        return begin(run, moves.Begin())
    return run, moves.Propose(asked=asked)


def begin(run: Run, _move: moves.Begin) -> Turn:
    return replace(run, remembered_plans=remember_adopted(run, require_segment(run))), _ask_or_advance(run)


def _ask_or_advance(run: Run, detail: str = "") -> moves.Ask | moves.Advance:
    """Ask for approval of the remaining steps that need it, as far as known, before any of them is done."""
    segment = require_segment(run)
    critical = tuple(step for step in segment.steps[segment.cursor :] if _can_be_asked_now(run, step))
    if not critical:
        return moves.Advance()  # `acting.do` asks once it is known what would be sent
    return moves.Ask(about="approve", steps=critical, purpose="segment", then=moves.Advance(), detail=detail)


def _can_be_asked_now(run: Run, step: PlannedStep) -> bool:
    if not step.consequence or not needs_approval(run.limits, step) or find_repeated(run, step):
        return False
    return live_grant(run.grants, step.consequence, run.now, covers=step.covers) is None


# --- carrying out the steps


def require_segment(run: Run) -> Segment:
    assert run.segment is not None, "no plan has been adopted"
    return run.segment


def advance(run: Run, _move: moves.Advance) -> Turn:
    segment = require_segment(run)
    if segment.cursor >= len(segment.steps):
        return _reset_refusals(run), moves.Conclude()
    step = segment.steps[segment.cursor]
    if step.place == "replan":
        run = replace(_reset_refusals(run), segment=replace(segment, cursor=segment.cursor + 1))
        run = replace(run, remembered_plans=remember_completed(run, segment))
        return run, moves.Look(then=moves.Plan(cause="adaptive", why="a transition was due"))
    last = segment.cursor == len(segment.steps) - 1
    awaits = not last and bool(segment.steps[segment.cursor + 1].on)
    look_after = (
        last or awaits or not segment.final or step.effect == "irreversible" or run.limits.final_looks == "each"
    )
    return run, moves.Do(step=step, purpose="segment", retry=segment.tries > 0, look=look_after)


def on_step_reported(run: Run, move: moves.Report) -> Turn:
    """Handle the outcome of a step of the segment."""
    segment = require_segment(run)
    if move.status == "ok":
        run = count(run, completed=1)
        # On a screen, what a harmless step changed is seen. A world of functions shows nothing, so there a new call is progress.
        if move.step.effect == "irreversible" or (run.seen is not None and not run.seen.zones):
            run = note(run, move.step.call, move.before)
        if move.step.effect == "irreversible":
            run = replace(run, remembered_plans=remember_progress(run))
        run = replace(run, segment=replace(segment, cursor=segment.cursor + 1, tries=0))
        if not move.unmet:
            return run, moves.Advance()
        return _plan_on(run, segment, move.unmet if move.unmet.startswith(NOT_SENT) else f"{LED_ELSEWHERE}{move.unmet}")
    if move.step.on and move.reason == OTHER_SCREEN:
        return _await_screen(run, segment, move)
    if move.reason in REFUSALS:
        return refuse(run, move.detail, moves.Recover(reason="plan_refused", detail=move.detail))
    run = remember(_learn(_reset_refusals(run), segment, move.step), move)
    return run, moves.Recover(step=move.step, reason=move.reason, detail=move.detail, track=move.track)


def _await_screen(run: Run, segment: Segment, move: moves.Report) -> Turn:
    """Look once more for the screen that a step was planned for, then plan on, as at `__replan__`. Nothing has failed."""
    if segment.tries == 0:
        return replace(run, segment=replace(segment, tries=1)), moves.Look(then=moves.Advance(), settle=True)
    return _plan_on(run, segment, f"{UNDONE}{move.detail}")


def _plan_on(run: Run, segment: Segment, why: str) -> Turn:
    """Plan from the screen that came, as at `__replan__`."""
    run = _reset_refusals(run)
    run = replace(run, remembered_plans=remember_completed(run, segment))
    return run, ensure_view(run, moves.Plan(cause="adaptive", why=why))


def on_deferred_reported(run: Run, move: moves.Report) -> Turn:
    """Handle the outcome of a deferred step of an earlier plan."""
    if move.status == "ok":
        run = replace(count(run, completed=1), remembered_plans=remember_progress(run))
    why = f"it is known now that {move.step.skill} {'happened' if move.status == 'ok' else 'did not happen'}"
    return run, moves.Plan(cause="adaptive", why=f"{why}: {move.detail}" if move.detail else why)


def _learn(run: Run, segment: Segment, step: PlannedStep) -> Run:
    """Keep what was learned about a step, mainly its consequence, for a retry.

    Nothing is kept if its effect showed only when it was tried: the held request is gone, so a retry must show the effect again.
    """
    place = segment.cursor
    if segment.steps[place].effect != step.effect:
        return run
    return replace(run, segment=replace(segment, steps=(*segment.steps[:place], step, *segment.steps[place + 1 :])))


def _reset_refusals(run: Run) -> Run:
    """Reset the count of refusals after a plan was completed or failed in a new way.

    Steps that worked before a refusal do not reset it: a plan that repeats them and then what was refused is the same plan.
    """
    return count(run, refusals=-run.counts.refusals)
