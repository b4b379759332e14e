"""The `Act` command: check, dispatch, act, settle, observe, judge. `verification.py` resolves unknown outcomes."""

import logging
from typing import cast

from midcourse.blame import describe_exception, format_traceback
from midcourse.codec import make_encodable
from midcourse.containment import Contained
from midcourse.domain.argument import Reference
from midcourse.domain.budget import Spent, total
from midcourse.domain.commands import Act
from midcourse.domain.events import Acted
from midcourse.domain.observation import Observation, Unseen, Zone
from midcourse.domain.outcome import DISPUTED, Outcome
from midcourse.domain.plan import REACH, REPLAN, Step, Target
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.replace import replace
from midcourse.domain.skill import Effect, Skill
from midcourse.perform.consequence import Forecast, build_call, read_consequence
from midcourse.perform.history import load_history
from midcourse.perform.learning import find_lesson_key, load_track
from midcourse.perform.looking import NO_LOOK, Look, look
from midcourse.perform.ports import Deadline, Ports
from midcourse.perform.reading import read_words
from midcourse.policy.approval.rules import binds, find_ruling, planned_consequence
from midcourse.policy.arguments import find_argument_problem
from midcourse.policy.evidence.verification import Sight, describe, holds, judge
from midcourse.ports.world import UNSENT

log = logging.getLogger(__name__)

LEDGERED = ("reversible", "irreversible")
"""Effects that are recorded before they are sent. The others may be sent twice without harm."""

RESERVED_REASONS = ("held", "already_finished", "repeats_failure", "not_dispatched", "stale_target", DISPUTED)
"""Reasons that only this module may use, most of which mean that nothing was sent: a world's own use of one gets a prefix."""

NOT_ALLOWED = "what it would send has not been allowed"

UNREADABLE = Outcome(status="failed", reason="commit_unreadable", detail="what it would send cannot be read")

WOULD_SEND = "would_send"
"""A world's reason: it holds back the request of this act, which is its commit set. With the status `unknown`, the allowed request
was sent, and the world holds back another one."""

WOULD_CHANGE = "would_change"
"""A world's reason: nothing was done yet, and this act is reversible, although its skill is usually harmless. Repeating the call
carries it out, with an entry in the ledger."""

SIGNALS = (UNSENT, WOULD_SEND, WOULD_CHANGE)
"""Reasons by which a world asks for something. In a claim that nothing was sent they get a prefix, too."""

REDIRECTED = "redirected"
"""A reason: what was sent may have happened, and the world was asked to send it to another destination as well."""


async def load_step(ports: Ports, version: int, index: int, made_by: int = 0, effect: Effect | None = None) -> Step:
    """The step as planned, with the effect that was found when it was tried."""
    plan = await ports.store.plan(ports.run_id, version, made_by)
    assert plan is not None, f"plan version {version} was adopted and must be stored"
    return replace(plan.steps[index], effect=effect) if effect else plan.steps[index]


async def act(ports: Ports, command: Act) -> Acted:
    time = Deadline(ports.clock, command.timeout)
    step = await load_step(ports, command.version, command.index, command.made_by, command.effect)
    if step.zone == REPLAN:
        return Acted(answers=command.id, dispatched=False, looked=False)
    before = await ports.store.observation(ports.run_id, command.seen)
    entry = LedgerEntry(command=command.id, version=step.version, index=step.index, call=step.call, seen=command.seen)
    if REACH in (step.zone, command.found):
        return await _check_reached(ports, command, step, before, entry)
    step = replace(step, zone=command.found or step.zone)
    skill = ports.world.catalogue().skill(step.skill)
    ready = await fill_in_results(ports, step)
    if isinstance(ready, Outcome):
        problem = ready
    else:
        step, problem = ready, _find_problem(ports, ready, skill, before)
    if problem or skill is None or before is None:
        await ports.store.write_ledger(ports.run_id, replace(entry, outcome=problem))
        return _report_not_dispatched(command, problem or Outcome())
    step = _apply_ruling(ports, step, skill, before)
    if binds(step):
        forecast = await read_consequence(ports, _with_current_target(step, skill, before), skill, before, time)
        if forecast is None:
            gone = skill.on_zone and before.zone(step.zone) is None
            return await _record_unreadable(
                ports, command, entry, _report_not_visible(step, before, None) if gone else UNREADABLE
            )
        if forecast.digest != command.consequence or any(a.command not in command.weighed for a in forecast.alike):
            return _report_held(command, forecast, step.effect)
        if step.effect == "irreversible":
            sent = forecast.digest
            entry = replace(entry, identity=forecast.identity, likeness=forecast.likeness, consequence=sent)
    report, entry = await _dispatch(ports, command, step, before, entry, time)
    if report.claimed and step.effect == "irreversible" and not command.believe_claim:
        report = replace(report, status="unknown", evidence="", claimed=False)
    if report.reason == UNSENT and report.status == "no_effect":
        return await _record_unsent(ports, command, entry, report)
    if report.reason == WOULD_CHANGE and step.effect not in LEDGERED:
        step = replace(step, effect="reversible")
        return await _hold_undeclared(ports, command, step, skill, before, entry, report, time)
    if report.reason == WOULD_SEND:
        step = replace(step, effect="irreversible")
        return await _hold_undeclared(ports, command, step, skill, before, entry, report, time)
    return await _judge_act(ports, command, step, before, entry, report, time)


async def _check_reached(
    ports: Ports, command: Act, step: Step, before: Observation | None, entry: LedgerEntry
) -> Acted:
    """Check a step that sends nothing: either its condition already holds, or a detour must find a way to it."""
    if command.found or (step.expect and before and holds(step.expect, before)):
        outcome = Outcome(evidence="expectation")
    else:
        detail = f"not here: {describe(step.expect)}" if step.expect else "it does not say what it is for"
        outcome = Outcome(status="unreachable", reason="out_of_reach", detail=detail)
    await ports.store.write_ledger(ports.run_id, replace(entry, outcome=outcome))
    return replace(_report_not_dispatched(command, outcome), evidence=outcome.evidence)


def _find_problem(ports: Ports, step: Step, skill: Skill | None, before: Observation | None) -> Outcome | None:
    """Why the step must not be dispatched on this screen; None if it may be."""
    if skill is None:
        return Outcome(status="failed", reason="unknown_skill", detail=f"the world has no skill '{step.skill}'")
    if before is None:
        return Outcome(status="failed", reason="stale_target", detail="the observation it relies on is gone")
    zone, named = before.zone(step.zone), step.effect == "irreversible"
    touched = skill.on_zone and not _is_held(step, skill)
    if touched and (zone is None or (named and not _is_target(zone, step.target))):
        return _report_not_visible(step, before, zone)
    wrong = find_argument_problem(step.arguments, skill.parameters, ports.task)
    if wrong:
        return Outcome(status="failed", reason="bad_arguments", detail=wrong)
    missing = ports.fill_in(step.arguments)
    return Outcome(status="failed", reason="bad_arguments", detail=missing) if isinstance(missing, str) else None


def _report_not_visible(step: Step, before: Observation, zone: Zone | None) -> Outcome:
    detail = f"{step.target.role} '{step.target.label}' is not on '{before.surface.title}'"
    detail += f"; in its place is {zone.role} '{zone.label}'" if zone else ""
    return Outcome(status="unreachable", reason="target_not_visible", detail=detail)


def _is_target(zone: Zone, target: Target) -> bool:
    """Whether the zone is still the one that was planned for, or the plan named none.

    Harmless steps match by id alone, since labels may contain counters.
    """
    return (zone.role, zone.label) == (target.role, target.label) or not (target.role or target.label)


def _is_held(step: Step, skill: Skill) -> bool:
    """Whether a step that looked harmless has a request held back, so that it is sent without touching the zone again.

    The label of its button may have changed since ('Publishing…'), or the page may have hidden it; the approval still applies.
    """
    return step.effect == "irreversible" and skill.effect != "irreversible"


def _with_current_target(step: Step, skill: Skill, before: Observation) -> Step:
    """The step with its current target: the surface may have changed, or the zone was not visible when it was planned."""
    if _is_held(step, skill):
        return step
    zone, target = before.zone(step.zone), replace(step.target, surface=before.surface.title)
    return replace(step, target=replace(target, role=zone.role, label=zone.label) if zone else target)


def _apply_ruling(ports: Ports, step: Step, skill: Skill, before: Observation) -> Step:
    """The step with the ruling for its current target, which may require an approval that the plan did not."""
    if binds(step):
        return step
    here = planned_consequence(_with_current_target(step, skill, before), before.surface.origin)
    return replace(step, ruled="ask" if skill.asks else find_ruling(ports.task.agreement, here))


def _report_not_dispatched(command: Act, outcome: Outcome) -> Acted:
    return Acted(
        answers=command.id,
        status=outcome.status,
        reason=outcome.reason,
        detail=outcome.detail,
        dispatched=False,
        looked=False,
    )


async def _record_unreadable(ports: Ports, command: Act, entry: LedgerEntry, outcome: Outcome = UNREADABLE) -> Acted:
    await ports.store.write_ledger(ports.run_id, replace(entry, outcome=outcome))
    return _report_not_dispatched(command, outcome)


async def _hold_undeclared(
    ports: Ports,
    command: Act,
    step: Step,
    skill: Skill,
    before: Observation,
    entry: LedgerEntry,
    report: Outcome,
    time: Deadline,
) -> Acted:
    """Hold an act after its real effect showed when it was tried. If part of it was sent, the ledger records that."""
    sent = report.status == "unknown" and entry.dispatched_at is not None
    if entry.dispatched_at is not None:
        nothing = Outcome(status="no_effect", reason="held", detail=NOT_ALLOWED, evidence="not_dispatched")
        outcome = replace(report, reason=REDIRECTED) if sent else nothing
        await ports.store.write_ledger(ports.run_id, replace(entry, outcome=outcome))
    forecast = await read_consequence(ports, _with_current_target(step, skill, before), skill, before, time)
    if forecast is None and not sent:
        return await _record_unreadable(ports, command, entry)
    if forecast is None:
        return await _judge_act(ports, command, step, before, entry, replace(report, reason=REDIRECTED), time)
    held = _report_held(command, forecast, step.effect)
    return replace(held, status="unknown", reason=REDIRECTED, detail=report.detail, dispatched=True) if sent else held


async def _record_unsent(ports: Ports, command: Act, entry: LedgerEntry, report: Outcome) -> Acted:
    """Record that nothing was sent: the world could not be reached, and its session is lost."""
    nothing = Outcome(status="no_effect", reason="world_lost", detail=report.detail, evidence="not_dispatched")
    if entry.dispatched_at is not None:
        await ports.store.write_ledger(ports.run_id, replace(entry, outcome=nothing))
    return _report_not_dispatched(command, nothing)


def _report_held(command: Act, forecast: Forecast, effect: Effect) -> Acted:
    return Acted(
        answers=command.id,
        status="no_effect",
        reason="held",
        detail=NOT_ALLOWED,
        dispatched=False,
        looked=False,
        identity=forecast.identity,
        consequence=forecast.digest,
        effect=effect,
        ruled=forecast.ruled,
        likeness=forecast.likeness.digest if forecast.likeness else "",
        alike=forecast.alike,
    )


async def _dispatch(
    ports: Ports, command: Act, step: Step, before: Observation, entry: LedgerEntry, time: Deadline
) -> tuple[Outcome, LedgerEntry]:
    if step.effect in LEDGERED:
        entry = replace(entry, dispatched_at=ports.clock.now())
        await ports.store.write_ledger(ports.run_id, entry)
    return await _send(ports, command, step, before, entry, time), entry


async def _judge_act(
    ports: Ports, command: Act, step: Step, before: Observation, entry: LedgerEntry, report: Outcome, time: Deadline
) -> Acted:
    if ports.step_delay_seconds:
        await ports.clock.sleep(time.left(ports.step_delay_seconds))
    looked = command.look or report.status != "ok" or step.effect == "irreversible"
    found = await observe_after(ports, command.id, step, time) if looked else NO_LOOK
    sight, read = await read_sight(ports, step, before, found, time, report)
    outcome = require_results(step, judge(step.effect, report, sight))
    lesson = find_lesson_key(ports, step, before, outcome)
    await ports.store.write_ledger(ports.run_id, replace(entry, outcome=outcome, lesson=lesson))
    lost = isinstance(found.seen, Unseen) and found.seen.reason == "world_lost"
    spent = found.spent + read
    return Acted(
        answers=command.id,
        status=outcome.status,
        reason="world_lost" if lost and outcome.status == "unknown" else outcome.reason,
        detail=outcome.detail,
        evidence=outcome.evidence,
        dropped=report.dropped,
        claimed=outcome.claimed,
        identity=entry.identity,
        likeness=entry.likeness.digest if entry.likeness else "",
        track=await load_track(ports, lesson),
        looked=looked,
        seen=found.ref,
        cost=total(spent),
        spent=spent,
    )


async def _send(
    ports: Ports, command: Act, step: Step, before: Observation, entry: LedgerEntry, time: Deadline
) -> Outcome:
    """Send the call and return the world's answer. After any error the outcome is unknown: the act may have happened."""
    arguments = ports.fill_in(step.arguments)
    assert not isinstance(arguments, str), "checked before dispatch"
    call = build_call(step, command.id, arguments, seen=before, allowed=binds(step))
    if entry.identity:  # its consequence and the ledger were just read
        alike = (earlier.command for earlier in ports.history_cache.entries if earlier.identity == entry.identity)
        call = replace(call, identity=entry.identity, known=tuple(number for number in alike if number != command.id))
    seconds = time.left(ports.task.limits.act_timeout_seconds)
    try:
        async with Contained(seconds):
            answer = cast(object, await ports.world.act(call))
    except TimeoutError:
        return Outcome(status="unknown", reason="timeout", detail=f"no answer within {seconds:g} s")
    except Exception as error:
        log.error("%s.%s raised\n%s", ports.world.name, step.skill, format_traceback(error))
        return Outcome(status="unknown", reason="error", detail=ports.sanitize(describe_exception(error)))
    if not isinstance(answer, Outcome):
        detail = f"the world answered with {type(answer).__name__}, not an Outcome"
        return Outcome(status="unknown", reason="error", detail=detail)
    unfit = Outcome(status="unknown", reason="error", detail="what the world answered cannot be encoded as JSON")
    return _normalise(ports, make_encodable(answer) or unfit)


def _normalise(ports: Ports, answer: Outcome) -> Outcome:
    """Normalise a world's answer: a reason for every failure, no secrets, no reserved reasons."""
    reason = answer.reason or ("" if answer.status in ("ok", "unknown") else answer.status)
    claimed = answer.claimed and (answer.status, answer.evidence) == ("no_effect", "rule")
    reserved = reason in RESERVED_REASONS or (claimed and reason in SIGNALS)
    return replace(
        answer,
        reason=f"world_{reason}" if reserved else reason,
        detail=ports.sanitize(answer.detail),
        data=ports.mask(answer.data),
        dropped=tuple(map(ports.sanitize, answer.dropped)),
        evidence=answer.evidence if answer.evidence in ("rule", "response") else "",
        claimed=claimed,
    )


# --- results of earlier steps


async def fill_in_results(ports: Ports, step: Step) -> Step | Outcome:
    """The step with results of earlier steps filled in, or the failure that one is missing."""
    if not step.needs:
        return step
    found = dict((await load_history(ports, ())).data)
    if missing := [name for name in step.needs if name not in found]:
        detail = f"it needs {', '.join(map(repr, missing))}, which is not the result of any step"
        return Outcome(status="failed", reason="missing_dependency", detail=detail)
    arguments = tuple(
        (name, found[value.name] if isinstance(value, Reference) and value.source == "result" else value)
        for name, value in step.arguments
    )
    return replace(step, arguments=arguments)


def require_results(step: Step, outcome: Outcome) -> Outcome:
    """Fail a step that did not return the results it promised, unless it is irreversible: that it was done counts more."""
    returned = {name for name, _ in outcome.data}
    missing = [name for name in step.gives if name not in returned]
    if outcome.status != "ok" or not missing or step.effect == "irreversible":
        return outcome
    detail = f"it should have returned {', '.join(map(repr, missing))}, and did not"
    return replace(outcome, status="failed", reason="missing_result", detail=detail)


# --- the look after an act


async def observe_after(ports: Ports, command: int, step: Step, time: Deadline, *, free: bool = False) -> Look:
    """Look at the world. A `free` look is not charged, and no model reads its picture."""
    seconds = time.left(ports.task.limits.look_timeout_seconds)
    return await look(ports, command, seconds, version=step.version, free=free, reads=not free)


async def read_sight(
    ports: Ports,
    step: Step,
    before: Observation,
    found: Look,
    time: Deadline,
    report: Outcome | None = None,
    *,
    free: bool = False,
) -> tuple[Sight, tuple[Spent, ...]]:
    """The screen after an act, with its verbal expectation checked by the verifier, and the cost.

    Nothing is read after a failure, or for a `free` look.
    """
    after = found.seen if isinstance(found.seen, Observation) else None
    sight = Sight(before=before, after=after, expect=step.expect, absent_when=step.absent_when)
    if after is None or free or (report is not None and report.status not in ("ok", "unknown")):
        return sight, ()
    read = await read_words(ports, step.expect, after, time, before=before, version=step.version)
    if read.verdict is None:
        return sight, ()
    return replace(sight, read=read.verdict.holds, read_before=read.verdict.held_before), read.spent
