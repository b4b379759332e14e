"""One step: check its approval, act, and determine its outcome. Used for segments and detours."""

from midcourse.director.turn import (
    Rest,
    Turn,
    count,
    find_current_view,
    finish_identity,
    issue,
    lose_world,
    note,
    seen_fingerprint,
    send,
    unfinish_identity,
    update_seen,
)
from midcourse.domain import commands, events, moves, phases
from midcourse.domain.approval import Earlier, Grant, OutcomeAnswer
from midcourse.domain.budget import Cost, Limits
from midcourse.domain.outcome import DISPUTED, UNASKED, Evidence, Status
from midcourse.domain.plan import PlannedStep
from midcourse.domain.records.ledger import Absence, Alike
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.policy.approval.rules import binds, live_grant, needs_approval
from midcourse.policy.failure.recovery import may_replan
from midcourse.policy.likeness import find_repeated
from midcourse.policy.plan.admission import is_finished, repeats_failure, seconds_to_wait
from midcourse.policy.spending import can_afford, seconds_left, worst_look, worst_plan, worst_reading

MOST_HOLDS = 3
"""The number of times that the consequence of a step may change before the step counts as failed."""

MOST_ABSENCES = 100
"""The number of acts that a run remembers as reported absent by a probe. Beyond that, no such report is believed."""

EVIDENCE: dict[Status, tuple[Evidence, ...]] = {
    "ok": ("expectation", "probe", "response", "person", "model"),
    "no_effect": ("absent_when", "probe", "rule", "person", "not_dispatched"),
    "failed": (),
    "unreachable": (),
    "unknown": (),
}
"""Evidence that decides the outcome of an irreversible step that was sent. With a reported failure alone it is unknown."""


DENIED = "a person says that it did not happen"

SPECIFIC_REASONS = ("error", "timeout")
"""Reasons for an unknown outcome that are more specific than 'no effect'. A harmless step is reported with them."""


def do(run: Run, move: moves.Do) -> Turn:
    """Dispatch a step. This is the only place that does so. A missing observation or approval is requested first."""
    step = move.step
    # A detour only tries things out, and its steps are not approved.
    if move.harmless and binds(step):
        return run, _report(run, move, "failed", "not_harmless", f"{step.skill} may leave something behind")
    # The step was planned, and perhaps approved, for a screen that may have changed. One new observation is tried, not more: a
    # world that shows nothing must not keep the run looking.
    if find_current_view(run) is None:
        if not move.looked:
            return run, moves.Look(then=replace(move, looked=True))
        if step.place == "zone" or step.effect == "irreversible":
            return run, _report(run, move, "failed", "stale_target", "the last look failed; what was seen is stale")
    # Before anyone is asked: a person must not be asked to approve what is done already, or what failed here and would again.
    if is_finished(run, step):
        return run, _report(run, move, "failed", "already_finished", f"{step.skill} is finished already")
    if repeats_failure(run, step, retry=move.retry):
        if wait := seconds_to_wait(run, step):
            return run, moves.BackOff(seconds=wait, then=move)
        return run, _report(run, move, "failed", "repeats_failure", f"{step.skill} failed here before")
    if asked := _ask_first(run, move):
        return run, asked
    return issue(
        run,
        phases.Acting(doing=move, before=seen_fingerprint(run)),
        lambda number, time: commands.Act(
            id=number,
            timeout=time,
            version=step.version,
            index=step.index,
            made_by=move.made_by or (run.segment.made_by if run.segment else 0),
            seen=run.seen.id if run.seen else "",
            consequence=step.consequence,
            effect=step.effect,
            look=move.look,
            found=step.found,
            weighed=tuple(earlier.command for earlier in step.alike),
            believe_claim=not run.disbelieved,
            guessed=run.format >= 4 and move.purpose == "segment",
            leaves=move.leaves,
        ),
        seconds=step_seconds(run.limits, step),
        worst=_worst_step_cost(run.limits, step),
    )


def _ask_first(run: Run, move: moves.Do) -> moves.Ask | moves.Report | None:
    """The question that must be answered before the step is dispatched, or its failure where the settings ask none."""
    step = move.step
    # An ordinary approval does not cover a repetition: its author may not have known that the same was sent before.
    if alike := find_repeated(run, step):
        allowed = live_grant(run.grants, step.consequence, run.now, repeat=True)
        return None if allowed else _ask_about_repetition(run, move, alike)
    if not step.consequence or not needs_approval(run.limits, step):
        return None
    if live_grant(run.grants, step.consequence, run.now, covers=step.covers):
        return None
    then = replace(move, changed_from="", looked=False)
    return moves.Ask(about="approve", steps=(step,), purpose=move.purpose, then=then, changed_from=move.changed_from)


def _ask_about_repetition(run: Run, move: moves.Do, alike: tuple[Alike, ...]) -> moves.Ask | moves.Report:
    """Ask before sending what looks like an earlier effect, or fail the step where the settings ask no questions."""
    step, last = move.step, alike[-1]
    exists = last.certain or any(
        (answer.version, answer.index, answer.happened) == (last.version, last.index, True)
        for answer in run.outcome_answers
    )
    earlier = Earlier(at=last.at, finding="exists" if exists else "may_exist")
    detail = f"{step.skill} looks like what was sent before, which {'exists' if exists else 'may exist'}"
    denial = _report(run, move, "failed", "already_finished", detail)
    if not needs_approval(run.limits, step):
        return denial
    return moves.Ask(
        about="repeat",
        steps=(step,),
        purpose=move.purpose,
        then=replace(move, changed_from="", looked=False),
        detail=detail,
        earlier=(earlier,),
        repeats=last.command,
    )


def _worst_check_cost(limits: Limits, doubted: moves.CheckOutcome) -> Cost:
    worst = _worst_step_cost(limits, doubted.step)
    return worst.plus(worst_reading(limits)) if doubted.reads else worst


def step_seconds(limits: Limits, step: PlannedStep) -> float:
    reading = limits.plan_timeout_seconds if step.reads and limits.reads_words else 0.0
    return limits.act_timeout_seconds + limits.look_timeout_seconds + reading


def _worst_step_cost(limits: Limits, step: PlannedStep) -> Cost:
    look = worst_look(limits)
    return look.plus(worst_reading(limits)) if step.reads else look


def on_acted(run: Run, phase: phases.Acting, event: events.Acted) -> Turn:
    doing = phase.doing
    if event.looked:
        run = update_seen(run, event.seen)
    if event.reason == "held" and not event.dispatched:
        if doing.harmless:
            return run, _report(run, doing, "failed", "not_harmless", "it would send something", phase.before)
        asked, again = _check_held_step(run, doing, event)
        if event.unsent and isinstance(again, moves.Do) and isinstance(_ask_first(asked, again), moves.Ask):
            # The plan does not mean to send it, so a person is not asked. The step counts without what waits.
            return run, replace(doing, leaves=event.unsent)
        return asked, again
    # The approved request was sent and may have happened, so its approval is used up. What is held now needs another one.
    if event.reason == "redirected" and event.consequence:
        run, _ = _use_grant(count(run, executions=True), doing.step, done=True)
        return _check_held_step(finish_identity(run, doing.step.identity), doing, event)
    if event.status == "ok" and event.results:
        run = note(run, "results", event.results)
    first = not doing.retry
    run = count(run, executions=event.dispatched, steps=first, global_steps=first and doing.step.place == "global")
    step = replace(
        doing.step,
        identity=event.identity or doing.step.identity,
        likeness=event.likeness or doing.step.likeness,
    )
    status, reason = _trusted_status(step, event), event.reason
    report = replace(
        _report(run, replace(doing, step=step), status, reason, event.detail, phase.before),
        track=event.track,
        unmet=event.unmet,
    )
    claim = report if _is_claim(step, event) else None
    if reason == DISPUTED:
        run = _disbelieve(run)
    used = None
    if event.dispatched and status in ("ok", "unknown"):
        run, used = _use_grant(run, step, done=status == "ok")
    # In doubt it counts as finished: until evidence shows that it did not happen, no plan may do it again.
    if claim or (event.dispatched and status in ("ok", "unknown")):
        run = finish_identity(run, step.identity) if step.effect == "irreversible" else run
    if status == "unknown" or claim:
        doubt = moves.CheckOutcome(
            step=step,
            purpose=doing.purpose,
            command=event.answers,
            before=phase.before,
            reason=reason,
            detail=event.detail,
            grant=used,
            claim=claim,
        )
        if reason == "world_lost":
            return lose_world(run), moves.Open(then=doubt)
        return run, doubt
    if reason == "world_lost":
        return lose_world(run), moves.Open(
            then=report if event.dispatched else replace(report, reason="not_dispatched")
        )
    return run, report


def _trusted_status(step: PlannedStep, event: events.Acted) -> Status:
    """The reported status; `unknown` for an irreversible step without sufficient evidence."""
    if step.effect == "irreversible" and event.dispatched and event.evidence not in EVIDENCE[event.status]:
        return "unknown"
    return event.status


def _is_claim(step: PlannedStep, event: events.Acted) -> bool:
    """Whether only the world itself says that an irreversible step was not sent. The screen and the probe may show that it was."""
    return step.effect == "irreversible" and event.dispatched and event.claimed and event.status == "no_effect"


def _check_held_step(run: Run, doing: moves.Do, event: events.Acted) -> Turn:
    """Check the step again with its actual consequence. Nothing was sent, because that is not the approved one."""
    old = doing.step
    step = replace(
        old,
        identity=event.identity,
        consequence=event.consequence,
        effect=event.effect or old.effect,
        found=event.zone or old.found,
        ruled=event.ruled,
        likeness=event.likeness,
        alike=event.alike,
        covers=event.covers,
    )
    same = event.consequence == old.consequence  # held only because an effect that it looks like was found since
    # What was approved is not what would be sent: that approval ends here, whatever is read next.
    void = None if same else live_grant(run.grants, old.consequence, run.now)
    if void and not (void.covers and void.covers == step.covers):
        run = replace(run, grants=tuple(grant for grant in run.grants if grant is not void))
    if doing.holds >= MOST_HOLDS:
        return run, _report(
            run, doing, "failed", "consequence_unstable", "what it would send is different each time it is read"
        )
    changed_from = old.consequence if void else doing.changed_from
    return run, replace(doing, step=step, holds=doing.holds + 1, changed_from=changed_from, looked=False)


def _use_grant(run: Run, step: PlannedStep, *, done: bool) -> tuple[Run, Grant | None]:
    """Use up an approval: a single-use one with any effect, even an uncertain one; others only with a certain irreversible effect."""
    used = live_grant(run.grants, step.consequence, float("-inf"))
    if used is None or used.covers or not (used.once or (done and step.effect == "irreversible")):
        return run, None
    return replace(run, grants=tuple(grant for grant in run.grants if grant is not used)), used


# --- unknown outcomes


def check_outcome(run: Run, move: moves.CheckOutcome) -> Turn:
    """Check a doubt. After a denial no budget limits that, or a run that has used it up would end without the person's answer."""
    seconds = step_seconds(run.limits, move.step)
    if move.denied_by:
        return send(run, build_check(run, move, run.next_id, seconds)), Rest(phases.Verifying(doubt=move))
    if move.reads:
        seconds += run.limits.plan_timeout_seconds
    return issue(
        run,
        phases.Verifying(doubt=move),
        lambda number, time: build_check(run, move, number, time),
        seconds=seconds,
        worst=_worst_check_cost(run.limits, move),
    )


def build_check(
    run: Run, doubted: moves.CheckOutcome, number: int, time: float, *, question: int = 0
) -> commands.Verify:
    """The command that checks a doubt. It costs nothing for an open question and after a denial: a person is already deciding."""
    return commands.Verify(
        id=number,
        timeout=time,
        version=doubted.step.version,
        index=doubted.step.index,
        doubted=doubted.command,
        effect=doubted.step.effect,
        believe_absence=_find_earlier_absence(run, doubted.step) is None,
        free=bool(doubted.denied_by or question),
        question=question,
        reads=doubted.reads and not (doubted.denied_by or question),
    )


def on_verified(run: Run, phase: phases.Verifying, event: events.Verified) -> Turn:
    doubted = phase.doubt
    if event.reason == "world_lost":
        return lose_world(update_seen(run, event.seen)), moves.Open(then=doubted)
    # This check was free: no model has read its picture, so nothing but the denial is judged by what it saw.
    if doubted.denied_by:
        return _weigh_denial(run, doubted, event)
    run = update_seen(run, event.seen)
    if settled := settle_by_evidence(run, doubted, event):
        return settled
    if event.verdict == "too_early":
        return run, moves.BackOff(seconds=event.seconds, then=doubted)
    if event.evidence == "probe" and (first := _find_earlier_absence(run, doubted.step)):
        attempts = tuple(Earlier(at=at, finding="reported_absent") for at in (first.at, event.sent_at))
        return _resolve_undecided(run, doubted, event.detail, attempts)
    if _can_be_deferred(run, doubted, event):
        why = f"{doubted.step.skill} may have happened, which cannot be seen from here: {event.detail}"
        return run, moves.Plan(
            cause="adaptive", why=why, doubt=replace(doubted, purpose="segment", before=seen_fingerprint(run))
        )
    return _resolve_undecided(run, doubted, event.detail)


def settle_by_evidence(run: Run, doubted: moves.CheckOutcome, event: events.Verified) -> Turn | None:
    """The turn that this evidence leads to, before a person is asked and while one is; None if it does not decide the doubt."""
    match event.verdict:
        case "did_not_happen" | "undecided" if doubted.claim:
            identity = doubted.step.identity
            claimed = tuple(dict.fromkeys((*run.claimed, identity)))
            return replace(unfinish_identity(run, identity), claimed=claimed), doubted.claim
        case "happened":
            run = _disbelieve(run) if doubted.claim else run
            return _use_grant(run, doubted.step, done=True)[0], settle_doubt(doubted, "ok")
        # A probe that missed the effect once may miss it again; a third attempt on its word could be the second effect.
        case "did_not_happen" if event.evidence == "probe" and _find_earlier_absence(run, doubted.step):
            return None
        case "did_not_happen":
            run = unfinish_identity(run, doubted.step.identity)
            if event.evidence == "probe" and doubted.step.effect == "irreversible":
                absence = Absence(likeness=doubted.step.likeness or doubted.step.identity, at=event.sent_at)
                run = replace(run, absences=(*run.absences, absence))
            if event.evidence != "not_dispatched":
                return run, settle_doubt(doubted, "no_effect", "no_effect", event.detail)
            if doubted.grant:  # nothing was sent, so the approval is still valid
                run = replace(run, grants=(*run.grants, doubted.grant))
            return run, settle_doubt(doubted, "no_effect", "not_dispatched", event.detail)
        case "undecided" | "too_early":
            return None


def _weigh_denial(run: Run, doubted: moves.CheckOutcome, event: events.Verified) -> Turn:
    """Believe a person who says that it did not happen, or ask again if evidence now shows that it did.

    Who looked at the page before the application had answered it would otherwise cause the second effect.
    """
    denial = settle_doubt(doubted, "no_effect", "no_effect", DENIED)
    if event.verdict != "happened":
        return believe_person(run, doubted, denial, happened=False)
    return run, moves.Ask(
        about="happened",
        steps=(doubted.step,),
        purpose=doubted.purpose,
        then=denial,
        detail=f"{doubted.denied_by} said that it did not happen, but {event.detail}",
        doubt=replace(doubted, denied_by=""),
        against=event.evidence,
    )


def believe_person(
    run: Run,
    doubted: moves.CheckOutcome | None,
    denial: moves.Report,
    *,
    happened: bool,
    against: Evidence = "",
    by: str = "",
) -> Turn:
    """Apply a person's answer whether a step happened. `denial` is the report that it did not."""
    step, command = denial.step, doubted.command if doubted else 0
    by = by.strip() if run.format >= 4 else ""
    answer = OutcomeAnswer(
        version=step.version, index=step.index, happened=happened, command=command, against=against, by=by
    )
    run = replace(run, outcome_answers=(*run.outcome_answers, answer))
    if happened:
        return run, replace(denial, status="ok", reason="", detail="a person says that it happened")
    return unfinish_identity(run, step.identity), denial


def _disbelieve(run: Run) -> Run:
    """The world said that an act was not sent, and it was. What it said so of before may have been sent, too."""
    for identity in run.claimed:
        run = finish_identity(run, identity)
    return replace(run, disbelieved=True, claimed=())


def _can_be_deferred(run: Run, doubted: moves.CheckOutcome, event: events.Verified) -> bool:
    """Whether the check may be repeated after another plan, within the limits.

    If a probe was led elsewhere, it is asked again after that plan, and after the next one as long as each plan led to another
    screen: one plan may open the page to sign in, and the next one signs in. Without a probe, a step that ended the session stays in doubt
    until the run would end; until then a request that resembles it needs approval as a repetition.
    """
    if doubted.step.effect != "irreversible" or run.deferred is not None or doubted.concludes:
        return False
    first = doubted.purpose == "segment"
    later = event.reason == "no_probe" and (doubted.reason == "signed_out" if first else doubted.purpose == "deferred")
    moved = first or doubted.before != seen_fingerprint(run)
    if not (later or (moved and event.reason == "elsewhere")):
        return False
    return may_replan(run) and run.counts.segments < run.limits.max_segments


def _may_be_read(run: Run, doubted: moves.CheckOutcome) -> bool:
    """Whether a model may look for the effect before a person is asked: once, if a plan can still be paid for after it.

    Not after a model has read the expectation already, nor for a step of an earlier plan: other steps have changed the screen since.
    """
    if not run.reads_before_asking or doubted.reads or doubted.purpose != "segment" or doubted.concludes:
        return False
    if doubted.step.reads:
        return False
    worst = _worst_check_cost(run.limits, replace(doubted, reads=True))
    return can_afford(run, worst.plus(worst_plan(run.limits))) and seconds_left(run) > 0


def _find_earlier_absence(run: Run, step: PlannedStep) -> Absence | None:
    """The earlier attempt at the same effect that a probe reported as absent. A probe can be wrong, so that counts once."""
    if step.effect != "irreversible":
        return None
    key = step.likeness or step.identity
    known = next((absence for absence in run.absences if absence.likeness == key), None)
    return known or (run.absences[-1] if len(run.absences) >= MOST_ABSENCES else None)


def _resolve_undecided(run: Run, doubted: moves.CheckOutcome, detail: str, earlier: tuple[Earlier, ...] = ()) -> Turn:
    match doubted.step.effect:
        case "read" | "set_state" if doubted.reason in SPECIFIC_REASONS:
            return run, settle_doubt(doubted, "failed", doubted.reason, doubted.detail)
        case "read" | "set_state":
            return run, settle_doubt(doubted, "no_effect", "no_effect", detail)
        case "reversible":
            return run, settle_doubt(doubted, "failed", "undecided", detail)
        case "irreversible" if doubted.reason in UNASKED and not earlier:
            return run, settle_doubt(doubted, "failed", doubted.reason, doubted.detail)
        case "irreversible" if not earlier and _may_be_read(run, doubted):
            return run, replace(doubted, reads=True)
        case "irreversible":
            return run, moves.Ask(
                about="happened",
                steps=(doubted.step,),
                purpose=doubted.purpose,
                then=settle_doubt(doubted, "no_effect", "no_effect", DENIED),
                detail=detail,
                earlier=earlier,
                doubt=doubted,
            )


def settle_doubt(doubted: moves.CheckOutcome, status: Status, reason: str = "", detail: str = "") -> moves.Report:
    return moves.Report(
        step=doubted.step,
        purpose=doubted.purpose,
        status=status,
        reason=reason,
        detail=detail,
        before=doubted.before,
    )


def _report(
    run: Run, doing: moves.Do, status: Status, reason: str, detail: str, before: str | None = None
) -> moves.Report:
    return moves.Report(
        step=doing.step,
        purpose=doing.purpose,
        status=status,
        reason=reason,
        detail=detail,
        before=seen_fingerprint(run) if before is None else before,
    )
