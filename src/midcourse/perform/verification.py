"""The `Verify` command: bar an act with an unknown outcome, then find out whether it happened."""

from midcourse.containment import Contained
from midcourse.domain.argument import Pairs, Reference, Scalar
from midcourse.domain.budget import Spent, total
from midcourse.domain.commands import Verify
from midcourse.domain.events import Verified
from midcourse.domain.expectation import Probe
from midcourse.domain.observation import Observation, Unseen
from midcourse.domain.outcome import ACCEPTED_BY_SERVER, DISPUTED, SIGNED_IN, Evidence, Outcome
from midcourse.domain.plan import Step
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.replace import replace
from midcourse.perform.acting import LEDGERED, fill_in_results, load_step, observe_after, read_sight
from midcourse.perform.asking import update_question
from midcourse.perform.history import refresh_history
from midcourse.perform.looking import Look
from midcourse.perform.ports import Deadline, Ports, describe_error
from midcourse.policy.evidence.presence import consists_of, is_shown
from midcourse.ports.world import REVERSED, Finding

UNANSWERED = ("timeout", "error")
"""Reasons of an unknown outcome without an answer: the act may still be under way."""


async def verify(ports: Ports, command: Verify) -> Verified:
    """Make sure that the act can no longer be carried out, then check whether it was."""
    time = Deadline(ports.clock, command.timeout)
    step = await load_step(ports, command.version, command.index, effect=command.effect)
    unbarred = await _bar(ports, command, time)
    entry = await ports.store.ledger_entry(ports.run_id, command.doubted)
    if step.effect in LEDGERED and (entry is None or entry.dispatched_at is None):
        if unbarred:
            return Verified(answers=command.id, detail=f"it may still be under way: {unbarred}")
        return Verified(
            answers=command.id, verdict="did_not_happen", evidence="not_dispatched", detail="it was never sent"
        )
    if entry is None:
        return Verified(answers=command.id, verdict="undecided", detail="it may have been sent; it does no harm twice")
    claimed = entry.outcome is not None and entry.outcome.claimed
    if entry.outcome is not None and entry.outcome.evidence and not claimed:
        happened = entry.outcome.status == "ok"
        decided = _build_decided(command, "happened" if happened else "did_not_happen", entry.outcome.evidence)
        return replace(decided, sent_at=entry.dispatched_at or 0.0)
    if entry.outcome is not None and entry.outcome.status == "ok" and step.effect != "irreversible":
        return Verified(answers=command.id, verdict="happened", detail="it is on record as done")
    over = _was_answered(entry) or (ports.world.fences and not unbarred)
    if over and entry.barred_at is None:
        entry = replace(entry, barred_at=ports.clock.now())
        await ports.store.write_ledger(ports.run_id, entry)
    found = await observe_after(ports, command.id, step, time, free=command.free)
    verdict = await _decide_by_evidence(ports, command, step, entry, found, time)
    verdict = _weigh_claim(verdict) if claimed else verdict
    if verdict.verdict == "happened" or (verdict.verdict == "did_not_happen" and not claimed):
        await ports.store.write_ledger(ports.run_id, replace(entry, outcome=_resolve_outcome(entry, verdict)))
        ports.history_cache.forget_entries(entry.command)
    elif command.question and found.ref:
        await update_question(ports, command.question, step, entry, found.ref.id)
    spent = found.spent + verdict.spent
    sent_at = entry.dispatched_at or 0.0
    return replace(verdict, sent_at=sent_at, seen=found.ref, cost=total(spent), spent=spent)


def _weigh_claim(verdict: Verified) -> Verified:
    """The verdict on an act of which the world says that it was not sent: so it is unless something shows that it was."""
    if verdict.verdict == "happened":
        return replace(verdict, detail=f"{verdict.detail}, although the world says that it sent nothing")
    if verdict.verdict == "too_early" or verdict.reason == "world_lost":
        return verdict
    detail = "the world says that nothing was sent, and nothing shows otherwise"
    return replace(verdict, verdict="did_not_happen", evidence="rule", reason="", detail=detail)


async def _bar(ports: Ports, command: Verify, time: Deadline) -> str:
    """Bar the doubted command from acting. Returns why that could not be done, or an empty string."""
    try:
        async with Contained(time.left()):
            await ports.world.bar(command.doubted)
    except Exception as error:
        return describe_error(error)
    return ""


def _was_answered(entry: LedgerEntry) -> bool:
    """Whether the world reported an outcome: then the act is over, even if the world cannot bar commands."""
    outcome = entry.outcome
    return outcome is not None and not (outcome.status == "unknown" and outcome.reason in UNANSWERED)


async def _decide_by_evidence(
    ports: Ports, command: Verify, step: Step, entry: LedgerEntry, found: Look, time: Deadline
) -> Verified:
    """Decide by the screen, then by the probe. A missing effect counts only if the act is barred (`barred_at`)."""
    before = await ports.store.observation(ports.run_id, entry.seen)
    read: tuple[Spent, ...] = ()
    if before is not None:
        sight, read = await read_sight(ports, step, before, found, time, free=command.free)
        if sight.happened:
            return replace(_build_decided(command, "happened", "expectation"), spent=read)
        if sight.absent and entry.barred_at is not None:
            return replace(_build_decided(command, "did_not_happen", "absent_when"), spent=read)
    if isinstance(found.seen, Unseen) and found.seen.reason == "world_lost":
        return Verified(answers=command.id, reason="world_lost", detail=found.seen.detail)
    if step.probe is None:
        return Verified(answers=command.id, reason="no_probe", detail="there is no probe to decide it", spent=read)
    probe = await fill_in_probe(ports, step, step.probe)
    verdict = await _ask_probe(ports, command, probe, entry, time)
    if verdict.verdict == "did_not_happen" and (text := await _find_unsent_text(ports, probe, before, entry)):
        detail = f"the probe '{probe.name}' does not find '{text}', which was not sent either"
        verdict = Verified(answers=command.id, detail=detail)
    return replace(verdict, spent=read)


async def _find_unsent_text(ports: Ports, probe: Probe, before: Observation | None, doubted: LedgerEntry) -> str:
    """The text that the probe looks for, if nothing like it was sent in this run or shown when it was sent; otherwise an empty string.

    What was typed earlier counts because of forms with several pages, but not if something else was typed in its place later.
    """
    spec, arguments = ports.world.catalogue().probe(probe.name), ports.fill_in(probe.arguments)
    if spec is None or not spec.looks_for or probe.negated or isinstance(arguments, str):
        return ""
    text = str(dict(arguments).get(spec.looks_for) or "")
    if before is not None and is_shown(text, (before,)):
        return ""
    past = await refresh_history(ports)
    done = [entry for entry in past.entries if entry.outcome is not None and entry.outcome.status == "ok"]
    steps = [past.plans[entry.version].steps[entry.index] for entry in done]
    sent: list[Scalar] = []
    for arguments in {step.target: step.arguments for step in steps}.values():
        entered = ports.fill_in(arguments)
        sent += () if isinstance(entered, str) else dict(entered).values()
    for digest in {entry.consequence for entry in (*done, doubted) if entry.consequence}:
        consequence = await ports.store.consequence(ports.run_id, digest)
        sent += dict(consequence.commit.values).values() if consequence else ()
    return "" if consists_of(text, sent) else text


async def fill_in_probe(ports: Ports, step: Step, probe: Probe) -> Probe:
    """The probe with the call's arguments where it refers to them, and for its other parameters of the same names.

    Its settling time is the one that the world declares for this probe, unless the step gives one.
    """
    ready = await fill_in_results(ports, step)
    called = dict(step.arguments if isinstance(ready, Outcome) else ready.arguments)
    spec = ports.world.catalogue().probe(probe.name)
    if spec and not probe.settles_after:
        probe = replace(probe, settles_after=spec.settles_after)
    given = {
        name: called.get(value.name) if isinstance(value, Reference) and value.source == "argument" else value
        for name, value in probe.arguments
    }
    if probe.negated:  # it is about another call and already has all arguments
        return replace(probe, arguments=tuple(given.items()))
    same = {
        parameter.name: called[parameter.name]
        for parameter in (spec.parameters if spec else ())
        if parameter.name in called
    }
    return replace(probe, arguments=tuple((same | given).items()))


async def _ask_probe(ports: Ports, command: Verify, probe: Probe, entry: LedgerEntry, time: Deadline) -> Verified:
    arguments = ports.fill_in(probe.arguments)
    if isinstance(arguments, str):
        return Verified(answers=command.id, detail=f"the probe cannot be asked: {arguments}")
    try:
        finding = await probe_world(ports, probe, arguments, time.left())
    except Exception as error:
        return Verified(answers=command.id, detail=f"the probe failed: {describe_error(error)}")
    if finding == "present":
        return _build_decided(command, "happened", "probe")
    if finding == "elsewhere":
        detail = f"the probe '{probe.name}' was redirected, for example to a sign-in"
        return Verified(answers=command.id, reason="elsewhere", detail=detail)
    if finding == "unclear":
        return Verified(answers=command.id, detail=f"the probe '{probe.name}' cannot tell")
    if entry.barred_at is None:
        return Verified(answers=command.id, detail="its effect is not there, but it may still be under way")
    early = entry.barred_at + probe.settles_after - ports.clock.now()
    if early > 0:
        return Verified(answers=command.id, verdict="too_early", seconds=early)
    if entry.outcome is not None and entry.outcome.reason in (ACCEPTED_BY_SERVER, SIGNED_IN):
        detail = f"the server accepted it, but the probe '{probe.name}' does not find it"
        return Verified(answers=command.id, detail=detail)
    if not command.believe_absence:
        detail = f"the probe '{probe.name}' does not find it, as once before after the same was sent"
        return Verified(answers=command.id, evidence="probe", detail=detail)
    return _build_decided(command, "did_not_happen", "probe")


async def probe_world(ports: Ports, probe: Probe, arguments: Pairs, seconds: float) -> Finding:
    """What the probe finds. For a negated one, the reverse of the effect is present where the effect is absent."""
    async with Contained(seconds):
        finding = await ports.world.probe(probe.name, arguments)
    return REVERSED.get(finding, finding) if probe.negated else finding


def _build_decided(command: Verify, verdict: str, evidence: Evidence) -> Verified:
    happened = verdict == "happened"
    return Verified(
        answers=command.id,
        verdict="happened" if happened else "did_not_happen",
        evidence=evidence,
        detail=f"the {evidence} says that it {'happened' if happened else 'did not happen'}",
    )


def _resolve_outcome(entry: LedgerEntry, verdict: Verified) -> Outcome:
    base = entry.outcome or Outcome()
    if verdict.verdict == "happened":
        kept = DISPUTED if base.claimed else base.reason if base.reason == SIGNED_IN else ""
        return replace(base, status="ok", reason=kept, detail=verdict.detail, evidence=verdict.evidence, claimed=False)
    return replace(base, status="no_effect", reason="no_effect", detail=verdict.detail, evidence=verdict.evidence)
