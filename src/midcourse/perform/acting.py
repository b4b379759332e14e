"""The `Act` command: one attempt at a step of the plan. The order is the safety of it:

1. **Check.** The step is compared with the screen that it relies on. What cannot be sent is recorded as failed.
2. **Forecast.** If it needs an approval, what it would send is read now. Unless that is exactly what was allowed, nothing is sent.
3. **Write.** The ledger says that it is sent, before it is. What can fail without sending anything comes before that.
4. **Dispatch.** The world is called once. Without an answer the outcome is unknown; nothing here tries again.
5. **Hold.** If the world shows only now what the act really does, it is held and reported, to be allowed and tried again.
6. **Judge.** The screen is observed, and evidence decides the outcome as far as it can. The ledger gets it.

`verification.py` finds out later what became of an act with an unknown outcome.
"""

import logging
from typing import cast

from midcourse.codec import make_encodable
from midcourse.containment import Contained
from midcourse.domain.agreement import Ruling
from midcourse.domain.argument import Pairs, Reference
from midcourse.domain.budget import total
from midcourse.domain.commands import Act
from midcourse.domain.events import Acted
from midcourse.domain.observation import HELD_FOR, Observation, Unseen, Zone
from midcourse.domain.outcome import DISPUTED, ELSEWHERE, OTHER_SCREEN, Outcome, cut_value
from midcourse.domain.plan import NOT_SENT, REACH, REPLAN, PlanVersion, Step, Target
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.replace import replace
from midcourse.domain.skill import READ_MORE, Effect, Skill
from midcourse.exception_text import describe_exception, format_traceback
from midcourse.perform.consequence import Forecast, build_call, read_consequence
from midcourse.perform.history import read_window
from midcourse.perform.learning import find_lesson_key, load_track
from midcourse.perform.looking import NO_LOOK, observe_after, read_sight
from midcourse.perform.ports import Deadline, Ports
from midcourse.policy.approval.rules import binds, find_ruling, planned_consequence
from midcourse.policy.arguments import find_argument_problem
from midcourse.policy.evidence.verification import Sight, describe, describe_unmet, holds, judge
from midcourse.policy.grounding import find_again, find_named, list_like
from midcourse.policy.identity import results_digest
from midcourse.policy.spelling import describe_unknown
from midcourse.policy.unsent import NOT_FOR_SENDING, list_kinds
from midcourse.ports.abilities import offers
from midcourse.ports.planner import Given
from midcourse.ports.world import UNSENT, WOULD_CHANGE, WOULD_PASS_ON, WOULD_SEND

log = logging.getLogger(__name__)

PASSING: tuple[Effect, ...] = ("read", "set_state")
"""Effects of steps that stay what they are although their page passes on what was entered, once that was allowed."""

LEDGERED = ("reversible", "irreversible")
"""Effects that are recorded before they are sent. The others may be sent twice without harm."""

RESERVED_REASONS = (
    "held",
    "already_finished",
    "repeats_failure",
    "not_dispatched",
    "stale_target",
    DISPUTED,
    OTHER_SCREEN,
    ELSEWHERE,
)
"""Reasons that only Midcourse itself may use, most of which mean that nothing was sent: a world's own use of one gets a prefix."""

NOT_ALLOWED = "what it would send has not been allowed"

UNREADABLE = Outcome(status="failed", reason="commit_unreadable", detail="what it would send cannot be read")

NO_TIME = Outcome(status="failed", reason="timeout", detail="no time was left to send it")
"""It counts as a timeout, after which a retry waits: what used the time up may still be slow."""

SIGNALS = (UNSENT, WOULD_SEND, WOULD_PASS_ON, WOULD_CHANGE)
"""Reasons by which a world asks for something. In a claim that nothing was sent they get a prefix, too."""

REDIRECTED = "redirected"
"""A reason: what was sent may have happened, and the world was asked to send it to another destination as well."""


async def act(ports: Ports, command: Act) -> Acted:
    """Carry out one attempt at a step."""
    time = Deadline(ports.clock, command.timeout)
    step = await load_step(ports, command.version, command.index, command.made_by, command.effect)
    # Nothing to do in the world: a plan ends here, and the director has the next one made.
    if step.zone == REPLAN:
        return Acted(answers=command.id, dispatched=False, looked=False)
    return await ActAttempt(ports, command, step, time).carry_out()


class ActAttempt:
    """One attempt at a step. The methods follow the steps above; what is recorded and reported in several of them stands last."""

    skill: Skill
    before: Observation
    """The observation that the step relies on. Set by `_prepare`, like the skill; nothing is sent without both."""

    def __init__(self, ports: Ports, command: Act, step: Step, time: Deadline) -> None:
        self.ports = ports
        self.command = command
        self.time = time
        self.planned = step
        self.unmeant = False
        """Whether its plan did not say that it sends something. Set when it is dispatched."""
        self.step = step
        """The step as it is tried: with results filled in, the ruling for its current target, and the effect that it turns out to have."""
        self.entry = LedgerEntry(
            command=command.id, version=step.version, index=step.index, call=step.call, seen=command.seen
        )
        """The ledger entry. `dispatched_at` is set only once it was written before the act."""

    async def carry_out(self) -> Acted:
        command = self.command
        before = await self.ports.store.observation(self.ports.run_id, command.seen)
        if REACH in (self.step.zone, command.found):
            outcome = self._check_reached(before)
            return replace(await self._record_not_dispatched(outcome), evidence=outcome.evidence)
        if self.step.skill == READ_MORE.name and self.ports.world.catalogue().skill(READ_MORE.name) is None:
            shown = await self._check_readable()
            # Another part is news to the run, as a result is, although the screen is the same and nothing is stored again.
            part = results_digest((read_window(self.step.arguments),)) if shown.status == "ok" else ""
            return replace(await self._record_not_dispatched(shown), results=part)
        if problem := await self._prepare(before):
            if problem.reason == OTHER_SCREEN:  # nothing was tried, so there is nothing to record
                return self._report_not_dispatched(problem)
            return await self._record_not_dispatched(problem)
        if binds(self.step) and (refusal := await self._check_allowed()):
            return refusal
        if command.leaves:
            return await self._judge(Outcome(unsent=command.leaves))
        # Filled in again and not kept from the check, because a secret's value is read right before it is used: meanwhile the vault
        # may have lost it. Both checks come before the ledger: what fails after that may have been sent.
        arguments = self.ports.fill_in(self.step.arguments)
        if isinstance(arguments, str):
            return await self._record_not_dispatched(Outcome(status="failed", reason="bad_arguments", detail=arguments))
        if self.time.left() <= 0:
            return await self._record_not_dispatched(NO_TIME)
        # Before the act and not after it: a process that dies in between must find that something may have been sent.
        if self.step.effect in LEDGERED:
            self.entry = replace(self.entry, dispatched_at=self.ports.clock.now())
            await self._write_ledger()
        report = await self._dispatch(arguments)
        # In this run the world once said that an act was not sent, and it was: from then on its word alone decides nothing.
        if report.claimed and self.step.effect == "irreversible" and not command.believe_claim:
            report = replace(report, status="unknown", evidence="", claimed=False)
        if report.reason == UNSENT and report.status == "no_effect":
            return await self._record_unsent(report)
        if report.reason == WOULD_CHANGE and self.step.effect not in LEDGERED:
            self.step = replace(self.step, effect="reversible")
            return await self._hold(report)
        if report.reason == WOULD_PASS_ON:
            self.step = replace(self.step, ruled="proven")
            return await self._hold(report)
        if report.reason == WOULD_SEND:
            self.step = replace(self.step, effect="irreversible")
            return await self._hold(report)
        return await self._judge(report)

    # --- check

    def _check_reached(self, before: Observation | None) -> Outcome:
        """Check a step that sends nothing: either its condition already holds, or a detour must find a way to it."""
        expect = self.step.expect
        if self.command.found or (expect and before and holds(expect, before)):
            return Outcome(evidence="expectation")
        detail = f"not here: {describe(expect)}" if expect else "it does not say what it is for"
        return Outcome(status="unreachable", reason="out_of_reach", detail=detail)

    async def _check_readable(self) -> Outcome:
        """Check that there is more of a result. The next plan is shown it, so the ledger need not have it again."""
        name, start = read_window(self.step.arguments)
        results = dict((await self.ports.load_history()).results)
        if name not in results:
            detail = describe_unknown("result", name, results)
            return Outcome(status="failed", reason="missing_dependency", detail=detail)
        if not 0 <= start < max(len(str(results[name])), 1):
            detail = f"'{name}' has {len(str(results[name]))} characters, so nothing begins at {start}"
            return Outcome(status="failed", reason="bad_arguments", detail=detail)
        return Outcome()

    async def _prepare(self, before: Observation | None) -> Outcome | None:
        """Make the step ready to be sent, or return why it must not be sent on this screen."""
        step = replace(self.step, zone=self.command.found or self.step.zone)
        skill = self.ports.world.catalogue().skill(step.skill)
        ready = await fill_in_results(self.ports, step)
        if isinstance(ready, Outcome):
            return ready
        self.step = ready
        if skill is None:
            return Outcome(status="failed", reason="unknown_skill", detail=f"the world has no skill '{ready.skill}'")
        if before is None:
            return Outcome(status="failed", reason="stale_target", detail="the observation it relies on is gone")
        self.skill, self.before = skill, before
        if self.planned.on and self.command.consequence:
            approved = await self.ports.store.consequence(self.ports.run_id, self.command.consequence)
            if approved:  # its plan gave a pattern, and what was approved names what was found
                self.entry = replace(self.entry, target=approved.target.label)
                self.step = replace(self.step, target=approved.target)
        if (
            skill.on_zone
            and not (self.command.leaves or self._releases_held_request())
            and (missing := await self._ground())
        ):
            return missing
        ready = self.step
        wrong = find_argument_problem(ready.arguments, skill.parameters, self.ports.task)
        if wrong:
            return Outcome(status="failed", reason="bad_arguments", detail=wrong)
        filled = self.ports.fill_in(ready.arguments)
        if isinstance(filled, str):
            return Outcome(status="failed", reason="bad_arguments", detail=filled)
        if self.command.consequence and ready.effect in PASSING and not binds(ready):
            # It was held: only what was allowed may be passed on with it.
            self.step = replace(ready, ruled="proven")
        elif not binds(ready):
            # The target may differ from the planned one, and may be one that needs an approval which the plan did not ask for.
            here = planned_consequence(self._with_current_target(), before.surface.origin)
            ruled = "ask" if skill.asks else find_ruling(self.ports.task.agreement, here)
            self.step = replace(ready, ruled=ruled)
        return None

    async def _ground(self) -> Outcome | None:
        """Make sure that the step names its target by the id that it has now, or return why that is not known."""
        if self.planned.on:
            return await self._find_on_screen()
        zone = self.before.zone(self.step.zone)
        if zone is not None and self._is_target(zone):
            return None
        again = await self._find_again()
        if again is None:
            return self._describe_missing_target(zone)
        self.step = replace(self.step, zone=again.id)
        return None

    async def _find_on_screen(self) -> Outcome | None:
        """Resolve a step for a screen that was not observed when it was planned, against the one that is there now."""
        planned = self.planned
        plan, then = await self._load_origin()
        left = await self._load_left(plan) or then
        found: Zone | str = "its own observation is gone"
        if then and left:
            found = find_named(planned.zone, planned.on, then.surface, left, self.before)
        secret = any(isinstance(value, Reference) and value.source == "secret" for _, value in planned.arguments)
        if secret and isinstance(found, Zone) and found.get("type") != "password":
            found = f"{planned.zone} is no field for passwords, so it gets no secret before the planner has seen it"
        if isinstance(found, str):
            rest = (step for step in plan.steps[planned.index :] if step.zone != REPLAN)
            undone = "; ".join(f"{step.skill} {step.zone}" for step in rest)
            return Outcome(status="unreachable", reason=OTHER_SCREEN, detail=f"{undone} ({found})")
        if found.label != planned.target.label:
            self.entry = replace(self.entry, target=found.label)
        target = Target(surface=self.before.surface.title, role=found.role, label=found.label)
        self.step = replace(self.step, zone=found.id, target=target)
        return None

    async def _load_left(self, plan: PlanVersion) -> Observation | None:
        """The screen on which the last step of this plan was carried out that may have led to another one."""
        leaving = {step.index for step in plan.steps[: self.planned.index] if step.transition}
        entries = (await self.ports.refresh_history()).entries
        seen = [entry.seen for entry in entries if entry.version == plan.version and entry.index in leaving]
        return await self.ports.store.observation(self.ports.run_id, seen[-1]) if seen else None

    async def _find_again(self) -> Zone | None:
        """The target under another id, as after a reload. What the step would send is still read, and compared with what was allowed."""
        _, then = await self._load_origin()
        known = then.zone(self.planned.zone) if then else None
        return find_again(known, then, self.before) if then and known else None

    async def _load_origin(self) -> tuple[PlanVersion, Observation | None]:
        """The plan of the step, and the observation that it was made from."""
        plan = await self.ports.store.plan(self.ports.run_id, self.planned.version, self.command.made_by)
        assert plan is not None, "the step was loaded from it"
        return plan, await self.ports.store.observation(self.ports.run_id, plan.observation)

    def _is_target(self, zone: Zone) -> bool:
        """Whether the zone is still the one that was planned for, or the plan named none.

        Harmless steps match by id alone, since labels may contain counters.
        """
        target = self.step.target
        named = self.step.effect == "irreversible" and (target.role or target.label)
        return not named or (zone.role, zone.label) == (target.role, target.label)

    def _describe_missing_target(self, zone: Zone | None) -> Outcome:
        target, title = self.step.target, self.before.surface.title
        name = f"{target.role} '{target.label}'"
        if listed := list_like(target.role, target.label, self.before.zones):
            detail = f"'{self.planned.zone}' is not on '{title}' any more; {name} is listed there as {listed}"
            detail += f", and it is not certain that {'one of them' if ' ' in listed else 'this'} is meant"
        else:
            detail = f"{name} is not on '{title}'"
            detail += f"; in its place is {zone.role} '{zone.label}'" if zone else ""
        return Outcome(status="unreachable", reason="target_not_visible", detail=detail)

    def _releases_held_request(self) -> bool:
        """Whether a step that looked harmless has a request held back, so that it is sent without touching the zone again.

        The label of its button may have changed since ('Publishing…'), or the page may have hidden it; the approval still applies.
        """
        held = self.step.effect == "irreversible" or (self.step.effect in PASSING and self.step.ruled == "proven")
        return held and self.skill.effect != "irreversible"

    def _with_current_target(self) -> Step:
        """The step with its current target: the surface may have changed, or the zone was not visible when it was planned."""
        if self._releases_held_request():
            return self.step
        zone = self.before.zone(self.step.zone)
        target = replace(self.step.target, surface=self.before.surface.title)
        return replace(self.step, target=replace(target, role=zone.role, label=zone.label) if zone else target)

    # --- forecast

    async def _check_allowed(self) -> Acted | None:
        """Compare what the step would send now with what was allowed. Returns the report if it must not be sent."""
        # Read again although it was read for the plan and perhaps for an approver: meanwhile the page may have changed what its
        # button sends. An approval is for exactly one digest.
        forecast = await self._forecast()
        if forecast is None:
            # Only a request that is held back gets here without its button (`_prepare`). If it cannot be read either, it is gone
            # with its page or session. Then the button is what is missing, which another look may find again.
            gone = self.skill.on_zone and self.before.zone(self.step.zone) is None
            return await self._record_not_dispatched(self._describe_missing_target(None) if gone else UNREADABLE)
        # An effect that the director has not weighed may be the same one, done already: it decides again, with this forecast.
        unweighed = any(earlier.command not in self.command.weighed for earlier in forecast.alike)
        if forecast.digest != self.command.consequence or unweighed:
            return self._report_held(forecast)
        if self.step.effect == "irreversible":
            # Later acts are compared with these: by identity it is never done again, by likeness a person is asked first.
            self.entry = replace(
                self.entry,
                identity=forecast.identity,
                likeness=forecast.likeness,
                consequence=forecast.digest,
            )
        return None

    async def _forecast(self) -> Forecast | None:
        """Read what the step would send now. None: it cannot be read."""
        return await read_consequence(self.ports, self._with_current_target(), self.skill, self.before, self.time)

    # --- dispatch

    async def _dispatch(self, arguments: Pairs) -> Outcome:
        """Send the call and return the world's answer. After any error the outcome is unknown: the act may have happened."""
        ports, step, entry = self.ports, self.step, self.entry
        named = self.ports.task.named_files
        call = build_call(step, entry.command, arguments, seen=self.before, allowed=binds(step), named=named)
        call = replace(call, unmeant=self._is_unmeant())
        self.unmeant = call.unmeant
        if entry.identity:
            # A world that remembers what it began refuses the call if the same was begun by a command that is not named here: the
            # ledger has lost it. The cache is up to date, since the forecast has just read the ledger.
            alike = (earlier.command for earlier in ports.history_cache.entries if earlier.identity == entry.identity)
            known = tuple(number for number in alike if number != entry.command)
            call = replace(call, identity=entry.identity, known=known)
        seconds = self.time.left(ports.task.limits.act_timeout_seconds)
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
        return self._normalise(make_encodable(answer) or unfit)

    def _normalise(self, answer: Outcome) -> Outcome:
        """Normalise a world's answer: a reason for every failure, no secrets, no reserved reasons."""
        reason = answer.reason or ("" if answer.status in ("ok", "unknown") else answer.status)
        claimed = answer.claimed and (answer.status, answer.evidence) == ("no_effect", "rule")
        # The director acts on these reasons; a world that used one by chance could make it believe that nothing was sent.
        reserved = reason in RESERVED_REASONS or (claimed and reason in SIGNALS)
        return replace(
            answer,
            reason=f"world_{reason}" if reserved else reason,
            detail=self.ports.sanitize(answer.detail),
            data=tuple(
                (name, cut_value(value) if isinstance(value, str) else value)
                for name, value in self.ports.mask(answer.data)
            ),
            dropped=tuple(map(self.ports.sanitize, answer.dropped)),
            unsent=tuple(map(self.ports.sanitize, answer.unsent)) if reason in (WOULD_SEND, WOULD_PASS_ON) else (),
            evidence=answer.evidence if answer.evidence in ("rule", "response") else "",
            claimed=claimed,
        )

    # --- hold

    async def _hold(self, report: Outcome) -> Acted:
        """Hold an act whose real effect showed only when it was tried: what it would send is read, to be allowed."""
        if report.status == "unknown" and self.entry.dispatched_at is not None:
            # The allowed request was sent and may have happened. That is written first, because reading the other one may fail.
            redirected = replace(report, reason=REDIRECTED)
            await self._write_ledger(redirected)
            forecast = await self._forecast()
            if forecast is None:
                return await self._judge(redirected)
            # The one that is held back needs an approval of its own.
            held = self._report_held(forecast)
            return replace(held, status="unknown", reason=REDIRECTED, detail=report.detail, dispatched=True)
        if self.entry.dispatched_at is not None:
            # The ledger says that it was sent, and it was not.
            nothing = Outcome(status="no_effect", reason="held", detail=NOT_ALLOWED, evidence="not_dispatched")
            await self._write_ledger(nothing)
        forecast = await self._forecast()
        if forecast is not None:
            may_wait = self.unmeant and not forecast.ruled and not await self._has_sent(report.unsent)
            return replace(self._report_held(forecast), unsent=report.unsent if may_wait else ())
        # That evidence stays in the ledger: with another outcome the act would count as one that may have been sent.
        if self.entry.dispatched_at is not None:
            return self._report_not_dispatched(UNREADABLE)
        return await self._record_not_dispatched(UNREADABLE)

    def _is_unmeant(self) -> bool:
        """Whether the planner does not say that the step sends something, and nothing else says so."""
        given = offers(self.ports.planner, Given) and self.ports.planner.given
        usual = self.skill.effect != "irreversible" and not binds(self.step)
        return self.command.guessed and not given and self.planned.unsaid and usual

    async def _has_sent(self, kinds: tuple[str, ...]) -> bool:
        """Whether something of these kinds may have been sent by an act of this run. Then it is no noise of the page."""
        for entry in (await self.ports.refresh_history()).entries:
            if entry.dispatched_at is None or not entry.consequence or _is_unsent(entry.outcome):
                continue
            sent = await self.ports.store.consequence(self.ports.run_id, entry.consequence)
            if sent is None or not set(kinds).isdisjoint(list_kinds(sent.commit)):
                return True
        return False

    # --- judge

    async def _judge(self, report: Outcome) -> Acted:
        """Observe the world, decide the outcome, and record it."""
        ports, step = self.ports, self.step
        if ports.step_delay_seconds:
            await ports.clock.sleep(self.time.left(ports.step_delay_seconds))
        # A harmless step that worked needs no evidence, if the plan does not ask for it: the next step observes anyway.
        looked = self.command.look or report.status != "ok" or step.effect == "irreversible"
        looked = looked or bool(report.unsent)
        found = await observe_after(ports, self.command.id, step, self.time) if looked else NO_LOOK
        sight, reading_costs = await read_sight(ports, step, self.before, found, self.time, report)
        # What the author of the task has written is no guess, and a probe may decide what a guess does not.
        given = offers(ports.planner, Given) and ports.planner.given
        guessed = self.command.guessed and not given and (step.probe is None or step.effect != "irreversible")
        outcome = require_results(step, judge(step.effect, report, sight, guessed=guessed))
        unmet = _describe_miss(step, sight) if guessed and outcome.status == "ok" and sight.expected is False else ""
        if report.unsent and (sight.expected is False or await self._must_tell(report.unsent)):
            # That it shows nothing yet is no failure: what would have shown it waits.
            rest = "; ".join(_name_step(each) for each in await self._list_rest())
            outcome, unmet = report, _describe_unsent(step, report.unsent, sight)
            unmet += f"; not done: {rest}" if rest else ""
        elif self.command.guessed and outcome.status == "ok" and not unmet:
            unmet = await self._describe_passed_over(sight)
        lesson = find_lesson_key(ports, step, self.before, outcome)
        await self._write_ledger(outcome, lesson)
        lost = isinstance(found.seen, Unseen) and found.seen.reason == "world_lost"
        spent = found.spent + reading_costs
        return Acted(
            answers=self.command.id,
            status=outcome.status,
            reason="world_lost" if lost and outcome.status == "unknown" else outcome.reason,
            detail=outcome.detail,
            evidence=outcome.evidence,
            dropped=report.dropped,
            claimed=outcome.claimed,
            unmet=unmet,
            identity=self.entry.identity,
            likeness=self.entry.likeness.digest if self.entry.likeness else "",
            track=await load_track(ports, lesson),
            results=results_digest(outcome.data),
            looked=looked,
            seen=found.ref,
            cost=total(spent),
            spent=spent,
        )

    async def _must_tell(self, kinds: tuple[str, ...]) -> bool:
        """Whether the planner is told now that something waits, instead of with its next plan. That takes another plan."""
        if self.step.skill in NOT_FOR_SENDING and await self._list_rest():
            return False
        return not await self._was_told(kinds, self.step.skill)

    async def _was_told(self, kinds: tuple[str, ...], skill: str) -> bool:
        """Whether the planner knows of each of these kinds that the page sends it, since an earlier step has left one waiting.

        It knows nothing yet of what this plan went on without. And what a page sends beside a text may be another thing beside a click.
        """
        told: set[str] = set()
        for entry in (await self.ports.refresh_history()).entries:
            if not entry.outcome or not entry.outcome.unsent or entry.command == self.command.id:
                continue
            step = await self._load_step_of(entry)
            beside = step is not None and step.skill in NOT_FOR_SENDING
            if not beside or (skill in NOT_FOR_SENDING and entry.version != self.planned.version):
                told.update(entry.outcome.unsent)
        return set(kinds) <= told

    async def _list_rest(self) -> tuple[Step, ...]:
        """The steps of the plan that follow this one."""
        plan, _ = await self._load_origin()
        return tuple(step for step in plan.steps[self.planned.index + 1 :] if step.zone != REPLAN)

    async def _describe_passed_over(self, sight: Sight) -> str:
        """At the end of a final plan: what it went on without, since no other plan would tell.

        Not if something was sent since, which a person was asked about with all its values.
        """
        plan, _ = await self._load_origin()
        if not plan.final or self.planned.index < len(plan.steps) - 1:
            return ""
        passed: list[LedgerEntry] = []
        for entry in (*(await self.ports.refresh_history()).entries, self.entry):
            if entry.consequence and entry.dispatched_at is not None:
                passed.clear()
            elif entry.version == plan.version and entry.outcome and entry.outcome.unsent:
                passed.append(entry)
        for entry in reversed(passed):
            step = plan.steps[entry.index]
            kinds = entry.outcome.unsent if entry.outcome else ()
            if step.skill in NOT_FOR_SENDING and not await self._was_told(kinds, step.skill):
                return _describe_unsent(step, kinds, sight)
        return ""

    async def _load_step_of(self, entry: LedgerEntry) -> Step | None:
        plan = await self.ports.store.plan(self.ports.run_id, entry.version)
        return plan.steps[entry.index] if plan and entry.index < len(plan.steps) else None

    # --- what is recorded and reported

    async def _record_not_dispatched(self, outcome: Outcome) -> Acted:
        await self._write_ledger(outcome)
        return self._report_not_dispatched(outcome)

    def _report_not_dispatched(self, outcome: Outcome) -> Acted:
        return Acted(
            answers=self.command.id,
            status=outcome.status,
            reason=outcome.reason,
            detail=outcome.detail,
            dispatched=False,
            looked=False,
        )

    def _report_held(self, forecast: Forecast) -> Acted:
        return Acted(
            answers=self.command.id,
            status="no_effect",
            reason="held",
            detail=NOT_ALLOWED,
            dispatched=False,
            looked=False,
            identity=forecast.identity,
            consequence=forecast.digest,
            effect=self.step.effect,
            ruled=self._rule_passing_on(forecast.ruled),
            covers=forecast.covers,
            zone=self.step.zone if self.step.zone != self.planned.zone else "",
            likeness=forecast.likeness.digest if forecast.likeness else "",
            alike=forecast.alike,
        )

    def _rule_passing_on(self, ruled: Ruling) -> Ruling:
        """The ruling on a held step. One that is harmless itself, and held for what its page would pass on, is asked about like one that sends.

        One that only turned out to change something keeps its ruling: what can be taken back needs no approval.
        """
        if self.step.ruled != "proven" or binds(replace(self.step, ruled=ruled)):
            return ruled
        return "ask" if not ruled and self.ports.task.limits.approvals != "never" else "proven"

    async def _record_unsent(self, report: Outcome) -> Acted:
        """Record that nothing was sent: the world could not be reached, and its session is lost."""
        nothing = Outcome(status="no_effect", reason="world_lost", detail=report.detail, evidence="not_dispatched")
        if self.entry.dispatched_at is not None:
            await self._write_ledger(nothing)
        return self._report_not_dispatched(nothing)

    async def _write_ledger(self, outcome: Outcome | None = None, lesson: str = "") -> None:
        await self.ports.store.write_ledger(self.ports.run_id, replace(self.entry, outcome=outcome, lesson=lesson))


# --- shared with other commands


async def load_step(ports: Ports, version: int, index: int, made_by: int = 0, effect: Effect | None = None) -> Step:
    """The step as planned, with the effect that was found when it was tried."""
    plan = await ports.store.plan(ports.run_id, version, made_by)
    assert plan is not None, f"plan version {version} was adopted and must be stored"
    return replace(plan.steps[index], effect=effect) if effect else plan.steps[index]


async def fill_in_results(ports: Ports, step: Step) -> Step | Outcome:
    """The step with results of earlier steps filled in, or the failure that one is missing."""
    if not step.needs:
        return step
    history = await ports.load_history()
    found = dict(history.data) | dict(history.results)
    if missing := [name for name in step.needs if name not in found]:
        detail = f"it needs {', '.join(map(repr, missing))}, which is not the result of any step"
        return Outcome(status="failed", reason="missing_dependency", detail=detail)
    arguments = tuple(
        (name, found[value.name] if isinstance(value, Reference) and value.source == "result" else value)
        for name, value in step.arguments
    )
    return replace(step, arguments=arguments)


def _is_unsent(outcome: Outcome | None) -> bool:
    return outcome is not None and outcome.status == "no_effect" and bool(outcome.evidence)


def _name_step(step: Step) -> str:
    return f"{step.skill} '{step.target.label}'" if step.target.label else step.skill


def _describe_unsent(step: Step, kinds: tuple[str, ...], sight: Sight) -> str:
    """What the step would have sent, by the zones of the requests that wait for it."""
    name = _name_step(step)
    zones = sight.after.zones if sight.after else ()
    waiting = [zone for zone in zones if zone.role == "request" and zone.get(HELD_FOR)]
    if not waiting:
        return f"{NOT_SENT}{name} would have sent {' and '.join(kinds)}, which the page no longer waits for"
    where = f"{'it waits' if len(waiting) == 1 else 'they wait'} as {' and '.join(zone.id for zone in waiting)}"
    return f"{NOT_SENT}{name} would send {' and '.join(dict.fromkeys(zone.label for zone in waiting))}; {where}"


def _describe_miss(step: Step, sight: Sight) -> str:
    zones = sight.after.zones if sight.after else ()
    rest = [zone.id for zone in zones if zone.role == "request" and zone.get(HELD_FOR) == step.skill]
    waits = f"; the rest of it waits as {' and '.join(rest)}" if rest else ""
    return f"{_name_step(step)} {describe_unmet(sight)}{waits}"


def require_results(step: Step, outcome: Outcome) -> Outcome:
    """Fail a step that did not return the results it promised, unless it is irreversible: that it was done counts more."""
    returned = {name for name, _ in outcome.data}
    missing = [name for name in step.gives if name not in returned]
    if outcome.status != "ok" or not missing or step.effect == "irreversible":
        return outcome
    detail = f"it should have returned {', '.join(map(repr, missing))}, and did not"
    return replace(outcome, status="failed", reason="missing_result", detail=detail)
