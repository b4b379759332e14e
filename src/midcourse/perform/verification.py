"""The `Verify` command: find out whether an act with an unknown outcome happened. The order is the safety of it:

1. **Bar.** The world is told to refuse the act from now on, so that a late copy of it cannot arrive after it was found absent.
2. **Ledger.** If it was never sent, or already has an outcome with evidence, that decides.
3. **Evidence.** What the screen shows decides, then the probe. A missing effect counts only if the act is barred.
4. **Model.** Before a person is asked, a model may look once. It counts only where it quotes new words of the screen
   (`policy/evidence/quotation.py`), and only for 'it happened'.
5. **Record.** A decided outcome goes to the ledger.
"""

from midcourse.containment import Contained
from midcourse.domain.argument import Pairs, Reference, Scalar
from midcourse.domain.budget import Spent, total
from midcourse.domain.commands import Verify
from midcourse.domain.events import VerificationVerdict, Verified
from midcourse.domain.expectation import Probe
from midcourse.domain.observation import Observation, Unseen
from midcourse.domain.outcome import ACCEPTED_BY_SERVER, ANSWERED_WITH_ERROR, DISPUTED, SIGNED_IN, Evidence, Outcome
from midcourse.domain.plan import Step
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.replace import replace
from midcourse.perform.acting import LEDGERED, fill_in_results, load_step
from midcourse.perform.asking import update_question
from midcourse.perform.looking import Look, ask_verifier, find_sign, observe_after, read_sight
from midcourse.perform.ports import Deadline, Ports, describe_error
from midcourse.policy.evidence.presence import consists_of, is_shown
from midcourse.ports.verifier import Claim
from midcourse.ports.world import REVERSED, Finding

UNANSWERED = ("timeout", "error")
"""Reasons of an unknown outcome without an answer: the act may still be under way."""


async def verify(ports: Ports, command: Verify) -> Verified:
    """Make sure that the act can no longer be carried out, then check whether it was."""
    time = Deadline(ports.clock, command.timeout)
    step = await load_step(ports, command.version, command.index, effect=command.effect)
    return await Verification(ports, command, step, time).carry_out()


class Verification:
    """One check of an act in doubt. The methods are in the order in which they are called."""

    entry: LedgerEntry
    """What the ledger says of the act. Set once the act is barred, because the ledger of an act under way may still change."""

    def __init__(self, ports: Ports, command: Verify, step: Step, time: Deadline) -> None:
        self.ports = ports
        self.command = command
        self.step = step
        self.time = time

    async def carry_out(self) -> Verified:
        ports, command, step = self.ports, self.command, self.step
        unbarred = await self._bar()
        entry = await ports.store.ledger_entry(ports.run_id, command.doubted)
        # The ledger is written before such an act is sent: what it does not have as sent was not sent. Unless the act is barred, it
        # still may be.
        if step.effect in LEDGERED and (entry is None or entry.dispatched_at is None):
            if unbarred:
                return self._report(detail=f"it may still be under way: {unbarred}")
            return self._report("did_not_happen", "not_dispatched", "it was never sent")
        if entry is None:
            return self._report(detail="it may have been sent; it does no harm twice")
        self.entry = entry
        outcome, sent_at = entry.outcome, entry.dispatched_at or 0.0
        claimed = outcome is not None and outcome.claimed
        if outcome is not None and outcome.evidence and not claimed:
            return replace(self._decide(outcome.status == "ok", outcome.evidence), sent_at=sent_at)
        if outcome is not None and outcome.status == "ok" and step.effect != "irreversible":
            return self._report("happened", detail="it is on record as done")
        # A world that has answered is done with the act; one that fences refuses a late copy. Only from then on is absence evidence.
        if entry.barred_at is None and (self._was_answered() or (ports.world.fences and not unbarred)):
            self.entry = replace(entry, barred_at=ports.clock.now())
            await ports.store.write_ledger(ports.run_id, self.entry)
        found = await observe_after(ports, command.id, step, self.time, free=command.free)
        verdict = await self._decide_by_evidence(found)
        verdict = self._weigh_claim(verdict) if claimed else verdict
        if command.reads and verdict.verdict == "undecided":
            verdict = await self._ask_model(found, verdict)
        if verdict.verdict == "happened" or (verdict.verdict == "did_not_happen" and not claimed):
            await self._record(verdict)
        elif command.question and found.ref:
            await update_question(ports, command.question, step, self.entry, found.ref.id)
        spent = found.spent + verdict.spent
        return replace(verdict, sent_at=sent_at, seen=found.ref, cost=total(spent), spent=spent)

    async def _bar(self) -> str:
        """Bar the doubted command from acting. Returns why that could not be done, or an empty string."""
        try:
            async with Contained(self.time.left()):
                await self.ports.world.bar(self.command.doubted)
        except Exception as error:
            return describe_error(error)
        return ""

    def _was_answered(self) -> bool:
        """Whether the world reported an outcome: then the act is over, even if the world cannot bar commands."""
        outcome = self.entry.outcome
        return outcome is not None and not (outcome.status == "unknown" and outcome.reason in UNANSWERED)

    def _was_answered_with_error(self) -> bool:
        return self.entry.outcome is not None and self.entry.outcome.reason == ANSWERED_WITH_ERROR

    async def _decide_by_evidence(self, found: Look) -> Verified:
        """Decide by the screen, then by the probe. A missing effect counts only if the act is barred (`barred_at`)."""
        ports, step = self.ports, self.step
        before = await ports.store.observation(ports.run_id, self.entry.seen)
        read: tuple[Spent, ...] = ()
        if before is not None:
            unread = self.command.free or self._was_answered_with_error()
            sight, read = await read_sight(ports, step, before, found, self.time, free=unread)
            if sight.happened:
                return replace(self._decide(True, sight.evidence), spent=read)
            if sight.absent and self.entry.barred_at is not None:
                return replace(self._decide(False, "absent_when"), spent=read)
        if isinstance(found.seen, Unseen) and found.seen.reason == "world_lost":
            return self._report(reason="world_lost", detail=found.seen.detail)
        if step.probe is None:
            return replace(self._report(reason="no_probe", detail="there is no probe to decide it"), spent=read)
        probe = await fill_in_probe(ports, step, step.probe)
        verdict = await self._ask_probe(probe)
        # A probe for a text that was never sent finds nothing, whether or not the act happened.
        if verdict.verdict == "did_not_happen" and (text := await self._find_unsent_text(probe, before)):
            detail = f"the probe '{probe.name}' does not find '{text}', which was not sent either"
            verdict = self._report(detail=detail)
        return replace(verdict, spent=read)

    async def _ask_probe(self, probe: Probe) -> Verified:
        ports, entry = self.ports, self.entry
        arguments = ports.fill_in(probe.arguments)
        if isinstance(arguments, str):
            return self._report(detail=f"the probe cannot be asked: {arguments}")
        try:
            finding = await probe_world(ports, probe, arguments, self.time.left())
        except Exception as error:
            return self._report(detail=f"the probe failed: {describe_error(error)}")
        if finding == "present":
            return self._decide(True, "probe")
        if finding == "elsewhere":
            detail = f"the probe '{probe.name}' was redirected, for example to a sign-in"
            return self._report(reason="elsewhere", detail=detail)
        if finding == "unclear":
            return self._report(detail=f"the probe '{probe.name}' cannot tell")
        if entry.barred_at is None:
            return self._report(detail="its effect is not there, but it may still be under way")
        # What the server has accepted may appear later than its answer.
        early = entry.barred_at + probe.settles_after - ports.clock.now()
        if early > 0:
            return replace(self._report("too_early"), seconds=early)
        if entry.outcome is not None and entry.outcome.reason in (ACCEPTED_BY_SERVER, SIGNED_IN):
            return self._report(detail=f"the server accepted it, but the probe '{probe.name}' does not find it")
        if not self.command.believe_absence:
            detail = f"the probe '{probe.name}' does not find it, as once before after the same was sent"
            return self._report(evidence="probe", detail=detail)
        return self._decide(False, "probe")

    async def _find_unsent_text(self, probe: Probe, before: Observation | None) -> str:
        """The text that the probe looks for, if nothing like it was sent in this run or shown when it was sent; otherwise an empty string.

        What was typed earlier counts because of forms with several pages, but not if something else was typed in its place later.
        """
        ports = self.ports
        spec, arguments = ports.world.catalogue().probe(probe.name), ports.fill_in(probe.arguments)
        if spec is None or not spec.looks_for or probe.negated or isinstance(arguments, str):
            return ""
        text = str(dict(arguments).get(spec.looks_for) or "")
        if before is not None and is_shown(text, (before,)):
            return ""
        past = await ports.refresh_history()
        done = [entry for entry in past.entries if entry.outcome is not None and entry.outcome.status == "ok"]
        steps = [past.plans[entry.version].steps[entry.index] for entry in done]
        sent: list[Scalar] = []
        for arguments in {step.target: step.arguments for step in steps}.values():
            entered = ports.fill_in(arguments)
            sent += () if isinstance(entered, str) else dict(entered).values()
        for digest in {entry.consequence for entry in (*done, self.entry) if entry.consequence}:
            consequence = await ports.store.consequence(ports.run_id, digest)
            sent += dict(consequence.commit.values).values() if consequence else ()
        return "" if consists_of(text, sent) else text

    async def _ask_model(self, found: Look, verdict: Verified) -> Verified:
        """Have a model look for the effect, where the rules decide nothing. What it says is only used if its quotation counts.

        It is not asked after an error status: whatever such an answer or the page says, that is no evidence of success.
        """
        ports, entry = self.ports, self.entry
        before = await ports.store.observation(ports.run_id, entry.seen)
        if before is None or not isinstance(found.seen, Observation) or self._was_answered_with_error():
            return verdict
        sent = await ports.store.consequence(ports.run_id, entry.consequence) if entry.consequence else None
        target = f"{self.step.skill} {self.step.target.role} '{self.step.target.label}'"
        address = f", which sent {sent.commit.address}" if sent and sent.commit.address else ""
        says = f"'{self.step.says}' has been done by the application ({target}{address})"
        claim = Claim(says=says, task=ports.public_task, now=found.seen, before=before, happened=True)
        read = await ask_verifier(ports, claim, self.time, version=self.step.version)
        spent = (*verdict.spent, *read.spent)
        if read.verdict is None or not (quote := await find_sign(ports, read.verdict, before, found.seen)):
            return replace(verdict, spent=spent)
        return replace(self._report("happened", "model", f'the screen says now: "{quote}"'), spent=spent)

    def _weigh_claim(self, verdict: Verified) -> Verified:
        """The verdict on an act of which the world says that it was not sent: so it is unless something shows that it was."""
        if verdict.verdict == "happened":
            return replace(verdict, detail=f"{verdict.detail}, although the world says that it sent nothing")
        if verdict.verdict == "too_early" or verdict.reason == "world_lost":
            return verdict
        detail = "the world says that nothing was sent, and nothing shows otherwise"
        return replace(verdict, verdict="did_not_happen", evidence="rule", reason="", detail=detail)

    async def _record(self, verdict: Verified) -> None:
        base = self.entry.outcome or Outcome()
        if verdict.verdict == "happened":
            kept = DISPUTED if base.claimed else base.reason if base.reason == SIGNED_IN else ""
            outcome = replace(base, status="ok", reason=kept, claimed=False)
        else:
            outcome = replace(base, status="no_effect", reason="no_effect")
        outcome = replace(outcome, detail=verdict.detail, evidence=verdict.evidence)
        await self.ports.store.write_ledger(self.ports.run_id, replace(self.entry, outcome=outcome))
        # It may be an earlier entry than the latest one, which is all that the cache reads again by itself.
        self.ports.history_cache.forget_entries(self.entry.command)

    def _decide(self, happened: bool, evidence: Evidence) -> Verified:
        verdict = "happened" if happened else "did_not_happen"
        detail = f"the {evidence} says that it {'happened' if happened else 'did not happen'}"
        return self._report(verdict, evidence, detail)

    def _report(
        self, verdict: VerificationVerdict = "undecided", evidence: Evidence = "", detail: str = "", reason: str = ""
    ) -> Verified:
        return Verified(answers=self.command.id, verdict=verdict, evidence=evidence, detail=detail, reason=reason)


# --- probes


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


async def probe_world(ports: Ports, probe: Probe, arguments: Pairs, seconds: float) -> Finding:
    """What the probe finds. For a negated one, the reverse of the effect is present where the effect is absent."""
    async with Contained(seconds):
        finding = await ports.world.probe(probe.name, arguments)
    return REVERSED.get(finding, finding) if probe.negated else finding
