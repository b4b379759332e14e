"""Questions to a person: approval of steps, outcomes that nothing else decides, failures and ceilings. No answer means denied."""

from midcourse.director.acting import believe_person, build_check, settle_by_evidence, step_seconds
from midcourse.director.turn import Rest, Turn, add_guidance, count, find_current_view, seen_fingerprint, send, withdraw
from midcourse.domain import commands, events, moves, phases
from midcourse.domain.approval import Grant, Raise, Withdrawn
from midcourse.domain.plan import Amendment, Changed, PlannedStep
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.approval.objection import find_objection_now
from midcourse.policy.failure.recovery import may_replan
from midcourse.policy.spending import is_past_deadline, seconds_to_deadline

FIRST_CHECK_SECONDS = 2.0
LONGEST_CHECK_SECONDS = 300.0
MOST_CHECKS = 20
"""Checks of a doubt while a person is asked: each after twice the time of the one before, until the longest. They take over an
hour, as long as a question is open by default, and a longer one must not make the journal grow for days."""


def ask(run: Run, move: moves.Ask) -> Turn:
    """Issue the question together with the timer that limits the wait for its answer."""
    seconds = min(run.limits.approval_seconds, seconds_to_deadline(run))
    if seconds <= 0:
        return run, moves.End(reason="deadline_exceeded", detail="there is no time left to ask")
    question = commands.AskPerson(
        id=run.next_id,
        about=move.about,
        steps=tuple(
            commands.AskedStep(version=s.version, index=s.index, consequence=s.consequence) for s in move.steps
        ),
        expires_at=run.now + seconds,
        changed_from=move.changed_from,
        detail=move.detail,
        earlier=move.earlier,
        repeats=move.repeats,
        doubted=move.doubt.command if move.doubt and run.rechecks else 0,
        seen=view.id if move.doubt and run.rechecks and (view := find_current_view(run)) else "",
        contradicts=bool(move.against),
        more=move.more,
    )
    run = send(run, question)
    run = send(run, commands.Wait(id=run.next_id, seconds=seconds))
    asking = phases.Asking(
        about=move.about,
        steps=move.steps,
        purpose=move.purpose,
        question=question.id,
        then=move.then,
        doubt=move.doubt if run.rechecks else None,
        against=move.against,
        more=move.more,
        otherwise=move.otherwise,
    )
    return _check_later(run, asking)


def _check_later(run: Run, phase: phases.Asking, seconds: float = 0.0) -> Turn:
    """Wait for an answer, and if evidence may still decide the question, for the time of the next check."""
    if phase.doubt is None or phase.against or phase.looks >= MOST_CHECKS:
        return run, Rest(replace(phase, timer=0))
    seconds = max(seconds, min(LONGEST_CHECK_SECONDS, FIRST_CHECK_SECONDS * 2**phase.looks))
    timer = commands.Wait(id=run.next_id, seconds=seconds)
    return send(run, timer), Rest(replace(phase, timer=timer.id))


def on_timer_fired(run: Run, phase: phases.Asking, event: events.TimerFired) -> Turn:
    """Check the doubt again, or end if the time to answer is over."""
    if phase.doubt is None or event.answers != phase.timer:
        return on_answer_expired(run, phase)
    seconds = step_seconds(run.limits, phase.doubt.step)
    check = build_check(run, phase.doubt, run.next_id, seconds, question=phase.question)
    return send(run, check), Rest(replace(phase, timer=0, looks=phase.looks + 1))


def on_checked_again(run: Run, phase: phases.Asking, event: events.Verified) -> Turn:
    """Withdraw the question if evidence decides it now, by the rule that applied before it was asked.

    What was seen is not used otherwise: pictures were not read. If the world was lost, the question stays open.
    """
    assert phase.doubt is not None, "only a doubt is checked again"
    if event.reason == "world_lost":
        return run, Rest(phase)
    settled = settle_by_evidence(replace(withdraw(run), look_first=True), phase.doubt, event)
    if settled is None:
        return _check_later(run, phase, event.seconds)
    run, nxt = settled
    return replace(run, withdrawn=Withdrawn(question=phase.question, why=event.detail)), nxt


def ask_for_planner(run: Run, question: str) -> moves.Ask | moves.End:
    """The planner's question to the user. The answer is guidance for the next plan, so the run ends if none may follow."""
    then = moves.Plan(cause="guided", why=f"the planner asked: {question}")
    if not may_replan(run):
        return moves.End(reason="replan_exhausted", detail=then.why)
    return moves.Ask(about="question", steps=(), purpose="segment", then=then, detail=question)


def on_approval_decided(run: Run, phase: phases.Asking, event: events.ApprovalDecided) -> Turn:
    # An edge refuses such a decision where it can; the run may have moved on since.
    if objection := find_objection_now(run, event):
        # The timer of a question that has expired is also due, but behind this decision in the mailbox.
        return on_answer_expired(run, phase) if objection.code == "expired" else (count(run, late=1), Rest(phase))
    # While the person thought, the screen may have changed: nothing is sent on the strength of the old observation.
    run = replace(add_guidance(withdraw(run), event.guidance), look_first=True)
    match phase.about:
        case "approve":
            return _apply_approval(run, phase, event)
        case "happened":
            return _apply_outcome(run, phase, event)
        case "stuck" | "question":
            return _continue_or_end(run, phase, event)
        case "repeat":
            return _apply_repetition(run, phase, event)
        case "more":
            return _raise_ceiling(run, phase, event)


def _apply_approval(run: Run, phase: phases.Asking, event: events.ApprovalDecided) -> Turn:
    names = ", ".join(step.skill for step in phase.steps)
    who = event.by or "a person"
    if event.verdict == "approved":
        return _add_grants(run, phase.steps, event), phase.then
    if event.verdict == "changed":
        changed_steps = {change.step for change in event.changes}
        run = _add_grants(run, tuple(step for n, step in enumerate(phase.steps) if n not in changed_steps), event)
        changed = ", ".join(phase.steps[n].skill for n in sorted(changed_steps))
        return run, moves.Plan(
            cause="amended", why=f"{who} changed {changed}", amends=_build_amendment(run, phase, event)
        )
    if event.verdict == "take_over":
        return replace(run, requested="pause"), moves.Plan(
            cause="taken_over", why=f"{who} took over instead of {names}"
        )
    if event.guidance.strip():
        return run, moves.Plan(cause="guided", why=f"a person rejected {names}: {event.guidance.strip()[:200]}")
    by = f" ({event.by})" if event.by else ""
    return run, moves.End(reason="rejected", detail=f"{names} was rejected{by}")


def _apply_repetition(run: Run, phase: phases.Asking, event: events.ApprovalDecided) -> Turn:
    """Apply the decision whether to send what resembles an earlier effect. If not, the step counts as already done."""
    step, doing = phase.steps[0], phase.then
    assert isinstance(doing, moves.Do), "a question about a repetition leads to the step"
    by = f" ({event.by})" if event.by else ""
    if event.verdict == "send_again":
        if run.deferred is not None and run.deferred.command in {earlier.command for earlier in step.alike}:
            run = replace(run, deferred=None)  # knowingly sent again, so the first outcome no longer matters
        return _add_grants(run, phase.steps, replace(event, once=True), repeat=True), doing
    if event.verdict == "stop":
        return run, moves.End(reason="needs_human", detail=f"{step.skill} looks like what was sent before: stopped{by}")
    if event.guidance.strip():
        return run, moves.Plan(
            cause="guided", why=f"a person did not repeat {step.skill}: {event.guidance.strip()[:200]}"
        )
    return run, moves.Report(
        step=step,
        purpose=phase.purpose,
        status="failed",
        reason="already_finished",
        detail=f"{step.skill} looks like what was sent before, and is not to be sent again{by}",
        before=seen_fingerprint(run),
    )


def _add_grants(
    run: Run, steps: tuple[PlannedStep, ...], event: events.ApprovalDecided, *, repeat: bool = False
) -> Run:
    expires = run.now + run.limits.approval_seconds
    grants = tuple(
        Grant(
            consequence=step.consequence,
            expires_at=expires,
            once=event.once,
            repeat=repeat,
            covers="" if event.once else step.covers,
        )
        for step in steps
    )
    valid = tuple(grant for grant in run.grants if grant.expires_at > run.now)
    return replace(run, grants=(*valid, *grants))


def _build_amendment(run: Run, phase: phases.Asking, event: events.ApprovalDecided) -> Amendment:
    segment = run.segment
    assert segment is not None, "a step of a plan was asked about"
    return Amendment(
        version=segment.version,
        made_by=segment.made_by,
        cursor=segment.cursor,
        changes=tuple(
            Changed(index=phase.steps[change.step].index, arguments=change.arguments) for change in event.changes
        ),
    )


def _apply_outcome(run: Run, phase: phases.Asking, event: events.ApprovalDecided) -> Turn:
    """Apply a person's answer whether the step happened. `phase.then` is the report that it did not.

    That is believed only after another check, unless the person has seen what speaks against it.
    """
    step, denial = phase.steps[0], phase.then
    assert isinstance(denial, moves.Report), "a question about what happened leads to a report"
    if event.verdict == "stop":
        by = f" ({event.by})" if event.by else ""
        return run, moves.End(
            reason="needs_human", detail=f"it is not known whether {step.skill} happened: stopped{by}"
        )
    if event.verdict == "happened":
        return believe_person(run, phase.doubt, denial, happened=True, by=event.by)
    if phase.doubt is not None and not phase.against:
        return run, replace(phase.doubt, denied_by=event.by.strip() or "a person")
    return believe_person(run, phase.doubt, denial, happened=False, against=phase.against, by=event.by)


def _continue_or_end(run: Run, phase: phases.Asking, event: events.ApprovalDecided) -> Turn:
    """Continue after repeated failures, with the count of failed plans reset, or with the answer to a question; or end."""
    if event.verdict == "go_on":
        return replace(run, counts=replace(run.counts, helped=run.counts.error_replans)), phase.then
    by = f" ({event.by})" if event.by else ""
    return run, moves.End(
        reason="needs_human", detail=f"a person was asked and stopped it{by}: {_unresolved_problem(phase)}"
    )


def _raise_ceiling(run: Run, phase: phases.Asking, event: events.ApprovalDecided) -> Turn:
    """Let the run spend exactly what the question said, or end it. Every further grant is asked for again."""
    assert phase.more is not None, "a question about more says how much"
    assert phase.otherwise is not None, "a question about more says how the run ends without it"
    if event.verdict == "spend_more":
        granted = Raise(question=phase.question, more=phase.more, by=event.by)
        return replace(run, raises=(*run.raises, granted)), phase.then
    by = f" ({event.by})" if event.by else ""
    return run, replace(phase.otherwise, detail=f"{phase.otherwise.detail}; more was not granted{by}")


def _unresolved_problem(phase: phases.Asking) -> str:
    assert isinstance(phase.then, moves.Plan), "a question about going on leads to a plan"
    return phase.then.why


def on_answer_expired(run: Run, phase: phases.Asking) -> Turn:
    names = ", ".join(step.skill for step in phase.steps)
    if is_past_deadline(run):
        return run, moves.End(reason="deadline_exceeded", detail=f"no answer about {names} before the deadline")
    match phase.about:
        case "approve":
            return run, moves.End(reason="rejected", detail=f"{names} was not approved in time")
        case "happened":
            return run, moves.End(reason="needs_human", detail=f"no answer whether {names} happened")
        case "stuck":
            return run, moves.End(
                reason="needs_human", detail=f"no answer how to continue: {_unresolved_problem(phase)}"
            )
        case "question":
            return run, moves.End(reason="needs_human", detail=f"no answer: {_unresolved_problem(phase)}")
        case "repeat":
            return run, moves.End(reason="needs_human", detail=f"no answer whether to send {names} again")
        case "more":
            assert phase.otherwise is not None, "a question about more says how the run ends without it"
            return run, replace(phase.otherwise, detail=f"{phase.otherwise.detail}; more was not granted in time")
