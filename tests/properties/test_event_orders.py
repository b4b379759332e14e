"""The director's promises over arbitrary orders of events, after every single one of them."""

from collections import Counter
from dataclasses import dataclass, field
from typing import get_args

from hypothesis import event as note
from hypothesis import given

from midcourse.codec import decode, decode_any, encode
from midcourse.director.acting import EVIDENCE
from midcourse.director.decide import abort, decide, why_no_effect
from midcourse.director.lost import answer_for_lost
from midcourse.domain.approval import VERDICTS, Change
from midcourse.domain.budget import FREE, Cost
from midcourse.domain.commands import Act, Advise, AskPerson, Finish, MakePlan, Verify
from midcourse.domain.events import (
    Acted,
    Advised,
    ApprovalDecided,
    Control,
    Event,
    Finished,
    Planned,
    Postponed,
    Recorded,
    Resumed,
    Verified,
)
from midcourse.domain.failure import Attempt
from midcourse.domain.moves import FinalReason
from midcourse.domain.phases import Acting, Advising, Asking, Ended, Planning, Verifying
from midcourse.domain.plan import PlannedStep
from midcourse.domain.run import Run
from midcourse.policy.failure.classification import OUT_OF_SIGHT, classify, may_pass
from midcourse.policy.spending import compute_max_cost
from tests.properties.adversary import BYTES, IDENTITY, Adversary, Turn, play


def acting_on(run: Run) -> PlannedStep:
    assert isinstance(run.phase, Acting)
    return run.phase.doing.step


# --- 4: budgets are ceilings


@dataclass
class Ceilings:
    """How often each step was carried out."""

    executions: Counter[tuple[int, int]] = field(default_factory=Counter[tuple[int, int]])
    questions: dict[int, AskPerson] = field(default_factory=dict[int, AskPerson])
    most: Cost = FREE
    """What people granted, by what they were asked and answered: nothing else may raise a ceiling."""

    def check(self, turn: Turn) -> None:
        self.questions |= {question.id: question for question in turn.sent(AskPerson)}
        if isinstance(turn.event, ApprovalDecided):
            self._decided(turn, turn.event)
        run, limits, counts = turn.after, turn.after.limits, turn.after.counts
        assert run.budget.committed.within(compute_max_cost(limits).plus(self.most))
        assert FREE.within(run.budget.spent)
        assert FREE.within(run.budget.reserved)
        assert run.budget.active_seconds <= limits.max_wall_seconds + 1e-6
        assert counts.segments <= limits.max_segments
        assert counts.replans + (counts.extensions if limits.count_extensions else 0) <= limits.max_replans
        assert counts.error_replans <= limits.max_error_replans
        assert counts.reopenings <= limits.max_reopenings + 1
        if isinstance(turn.event, Acted) and turn.fresh and turn.event.dispatched:
            step = acting_on(turn.before)
            self.executions[step.version, step.index] += 1
            assert self.executions[step.version, step.index] <= limits.max_step_retries + 1
        reserved = FREE
        for issued in run.pending:
            reserved = reserved.plus(issued.reserved)
        assert reserved == run.budget.reserved, "what is set aside is set aside for something"

    def _decided(self, turn: Turn, event: ApprovalDecided) -> None:
        phase = turn.before.phase
        asked = self.questions.get(event.question)
        if (
            asked is None
            or not isinstance(phase, Asking)
            or phase.question != asked.id
            or event.verdict != "spend_more"
        ):
            return
        if asked.more is not None and event.more == asked.more and not event.shown and event.at < asked.expires_at:
            self.most = self.most.plus(asked.more)


# --- 2 and 6: nothing irreversible twice, and nothing without evidence


@dataclass
class Deeds:
    """What was done, or may have been, as its performer would report it."""

    done: set[str] = field(default_factory=set[str])
    claimed: set[str] = field(default_factory=set[str])
    """What was not sent according to the world alone."""

    def check(self, turn: Turn) -> None:
        self._learn(turn)
        self._weigh_claims(turn)
        for act in turn.sent(Act):
            step = acting_on(turn.after)
            assert step.effect != "irreversible" or IDENTITY[act.consequence] not in self.done, "done already"
        assert set(turn.after.finished_irreversible) == self.done
        self._counted(turn)

    def _learn(self, turn: Turn) -> None:
        event, phase = turn.event, turn.before.phase
        match event:
            case Acted() if event.dispatched and turn.fresh:
                step = acting_on(turn.before)
                if step.effect == "irreversible" and not self._disproved(event):
                    self.done |= {step.identity} - {""}
            case Acted() if event.dispatched and not turn.fresh:
                self.done |= {event.identity} - {""}
            case Verified() if turn.fresh and isinstance(phase, Verifying) and phase.doubt.denied_by:
                if len(turn.after.outcome_answers) > len(turn.before.outcome_answers):
                    assert event.verdict != "happened", "a person is shown what speaks against a denial"
                    self.done -= {phase.doubt.step.identity}
            case Verified(verdict="did_not_happen") if turn.fresh and event.reason != "world_lost":
                assert isinstance(phase, Verifying | Asking)
                assert phase.doubt is not None
                check = turn.fresh.command
                assert isinstance(check, Verify)
                believed = check.believe_absence or event.evidence != "probe"
                if believed and (isinstance(phase, Verifying) or turn.after.withdrawn != turn.before.withdrawn):
                    self.done -= {phase.doubt.step.identity}
            case ApprovalDecided(verdict="did_not_happen") if isinstance(phase, Asking):
                if len(turn.after.outcome_answers) > len(turn.before.outcome_answers):
                    assert phase.against, "a denial is checked before it is believed"
                    self.done -= {phase.steps[0].identity}
            case _:
                pass

    def _weigh_claims(self, turn: Turn) -> None:
        """What the world says that it did not send was not sent, until it was wrong once."""
        event, phase = turn.event, turn.before.phase
        match event:
            case Acted(reason="disputed") if turn.fresh:
                self.done |= self.claimed - {""}
                self.claimed = set()
            case Verified() if turn.fresh and isinstance(phase, Verifying) and phase.doubt.claim:
                if event.reason != "world_lost" and event.verdict == "happened":
                    self.done |= self.claimed - {""}
                    self.claimed = set()
                elif event.reason != "world_lost" and event.verdict != "too_early":
                    self.done -= {phase.doubt.step.identity}
                    self.claimed |= {phase.doubt.step.identity}
            case _:
                pass

    def _disproved(self, event: Acted) -> bool:
        if event.claimed:
            return False
        return event.status == "no_effect" and event.evidence in ("absent_when", "probe", "person", "not_dispatched")

    def _counted(self, turn: Turn) -> None:
        if turn.after.counts.completed == turn.before.counts.completed or not isinstance(turn.event, Acted):
            return
        if acting_on(turn.before).effect == "irreversible":
            assert (turn.event.status, turn.event.dispatched) == ("ok", True)
            assert turn.event.evidence in EVIDENCE["ok"]


@given(BYTES)
def test_nothing_irreversible_is_done_twice_or_believed_without_evidence(data: bytes) -> None:
    play(data, Deeds().check)


@given(BYTES)
def test_nothing_irreversible_is_done_twice_without_approvals(data: bytes) -> None:
    play(data, Deeds().check, approvals="never", max_wall_seconds=3600.0, max_calls=100)


# --- 9: reverts are verified, and nothing irreversible is tried out


def check_detours(turn: Turn) -> None:
    run, before = turn.after, turn.before
    if isinstance(run.phase, Acting) and run.phase.doing.purpose != "segment":
        assert run.phase.doing.step.effect != "irreversible"
        assert not turn.sent(AskPerson), "a try needs no approval"
    if run.detour is None:
        return
    assert len(run.detour.tries) <= run.limits.detour_iterations
    known = {one.label: one for one in before.detour.tries} if before.detour else {}
    still = {one.label for one in before.detour.path} if before.detour else set[str]()
    taken_back = [one for one in run.detour.tries if one.reverted and (one.label in still or one.label not in known)]
    if taken_back:
        assert run.seen is not None
        assert run.seen.fingerprint == taken_back[0].before, "taken back is what is seen to be gone"
        assert not run.seen.stale


@given(BYTES)
def test_a_try_counts_as_taken_back_only_where_the_state_before_it_is_seen_again(data: bytes) -> None:
    played = play(data, check_detours, has_detours=True)
    note(f"tries: {min(played.run.counts.tries, 3)}, reverts: {min(played.run.counts.reverts, 2)}")


# --- 8: progress has evidence


def check_progress(turn: Turn) -> None:
    before, after = turn.before.outline, turn.after.outline
    if after is None:
        assert before is None
        return
    for place, goal in enumerate(after.goals):
        assert goal.finished == (place < after.finished), "what is finished is a beginning"
    if before is None:
        assert not after.finished
        return
    judged = turn.event if isinstance(turn.event, Advised) and turn.event.role == "judge" else None
    if after.finished < before.finished:
        assert judged
        assert after.regressed == before.regressed + 1, "back only by a recorded regression"
        noted = after.regressions[-1]
        assert (noted.before, noted.after) == (before.current, after.current)
        assert noted.evidence
    if after.finished > before.finished:
        assert judged
        assert judged.evidence, "forward only with evidence"
    if judged is None:
        assert after.goals[: before.finished] == before.goals[: before.finished], "what is finished stays as it is"


@given(BYTES)
def test_progress_goes_forward_with_evidence_and_back_only_by_a_recorded_regression(data: bytes) -> None:
    played = play(data, check_progress, has_outliner=True, outline="on", max_calls=200, max_wall_seconds=36_000.0)
    drawn = played.run.outline
    note(f"goals: {len(drawn.goals) if drawn else 0}, regressions: {min(drawn.regressed, 2) if drawn else 0}")


@given(BYTES)
def test_without_an_outliner_there_is_no_outline(data: bytes) -> None:
    def check(turn: Turn) -> None:
        assert turn.after.outline is None
        assert all(command.role != "outliner" for command in turn.sent(Advise))

    play(data, check, has_outliner=False, outline="on")


# --- a monitor that objects to plans


@dataclass
class Objections:
    """A plan is reviewed at most once, and made again at most once; what is made again is not reviewed."""

    reviewed: set[int] = field(default_factory=set[int])
    objections: int = 0
    again: int = 0
    made_again: set[int] = field(default_factory=set[int])

    def check(self, turn: Turn) -> None:
        for command in turn.sent(Advise):
            if command.role == "monitor" and command.version:
                assert command.version not in self.reviewed | self.made_again
                self.reviewed.add(command.version)
        objects = isinstance(turn.before.phase, Advising) and turn.before.phase.drafted
        if objects and turn.after.watch.spoken > turn.before.watch.spoken:
            self.objections += 1
        before, after = turn.before.phase, turn.after.phase
        if isinstance(after, Planning) and after.asked.objected:
            self.again += len(turn.sent(MakePlan))
        early = isinstance(turn.event, Planned) and turn.event.verdict == "done" and isinstance(after, Planning)
        unused = turn.fresh and (isinstance(turn.event, Postponed) or early)
        if unused and isinstance(before, Planning) and before.asked.objected:
            self.again -= 1  # no plan was made: it is asked for later, or 'done' came before anything was done
        if isinstance(before, Planning) and before.asked.objected and turn.after.segment:
            self.made_again.add(turn.after.segment.version)
        assert self.again <= self.objections <= len(self.reviewed)
        assert turn.after.counts.segments <= turn.after.limits.max_segments


@given(BYTES)
def test_a_plan_is_made_again_at_most_once_for_a_monitors_objection(data: bytes) -> None:
    objections = Objections()
    play(data, objections.check, monitor="proposals", max_calls=200, max_wall_seconds=36_000.0)
    note(f"reviewed: {bool(objections.reviewed)}, made again: {min(objections.again, 2)}")


# --- 3: no failed call again under an unchanged screen


@dataclass
class Failures:
    """Every try that failed for good, and the screens it failed between."""

    tried: list[Attempt] = field(default_factory=list[Attempt])

    def check(self, turn: Turn) -> None:
        event = turn.event
        if another_session(turn):
            self.tried.clear()
        elif isinstance(event, Acted) and turn.fresh and event.dispatched:
            phase = turn.before.phase
            assert isinstance(phase, Acting)
            step = phase.doing.step
            believed = step.effect != "irreversible" or event.evidence in EVIDENCE[event.status]
            if believed and event.status not in ("ok", "unknown") and event.reason != "world_lost":
                after = turn.after.seen.fingerprint if turn.after.seen else ""
                interrupted = event.reason == "expectation_unmet" and after != phase.before
                before = after if interrupted else phase.before
                if event.reason not in OUT_OF_SIGHT and not may_pass(
                    event.reason, classify(event.reason, event.detail)
                ):
                    self.tried.append(
                        Attempt(call=step.call, before=before, after=after, reason=event.reason, at=event.at)
                    )
        for _ in turn.sent(Act):
            assert turn.after.seen is not None
            present = turn.after.seen.fingerprint
            call = acting_on(turn.after).call
            assert not any(t.call == call and present in (t.before, t.after) for t in self.tried), "failed here before"
        if turn.after.counts.refusals >= 2:
            assert not turn.sent(MakePlan), "no planner is asked a third time"
            assert not turn.sent(Act)


def another_session(turn: Turn) -> bool:
    """Whether the world was lost: in a new session the same call may well work."""
    reopened = isinstance(turn.event, Resumed) and turn.event.world == "reopened"
    return reopened or turn.after.counts.reopenings > turn.before.counts.reopenings


@given(BYTES)
def test_no_call_that_failed_is_repeated_on_the_same_screen(data: bytes) -> None:
    play(data, Failures().check, approvals="never", structural_stop=False, max_replans=9, max_error_replans=9)


# --- 5: stale is marked, and not acted on


def check_that_it_was_seen(turn: Turn) -> None:
    seen = turn.after.seen
    for act in turn.sent(Act):
        step = acting_on(turn.after)
        assert seen is not None
        assert act.seen == seen.id
        assert not seen.stale or (step.place == "global" and step.effect != "irreversible")


# --- 7: approval binds the consequence


@dataclass
class Permits:
    """What people allowed, until when, and how often."""

    given: list[tuple[str, float, bool]] = field(default_factory=list[tuple[str, float, bool]])
    questions: dict[int, AskPerson] = field(default_factory=dict[int, AskPerson])
    spent: dict[int, tuple[str, float, bool]] = field(default_factory=dict[int, tuple[str, float, bool]])
    """By the act that they were spent on."""

    def check(self, turn: Turn) -> None:
        event = turn.event
        self.questions |= {question.id: question for question in turn.sent(AskPerson)}
        if isinstance(event, Verified) and turn.fresh and event.evidence == "not_dispatched":
            self._never_sent(turn, event)
        if isinstance(event, ApprovalDecided) and event.verdict in ("approved", "changed"):
            self._approved(turn, event)
        if isinstance(event, Acted) and turn.fresh:
            self._used(turn, event)
        for act in turn.sent(Act):
            if has_to_be_asked_about(acting_on(turn.after)) and act.consequence:
                live = [c for c, until, _ in self.given if c == act.consequence and until > turn.after.now]
                assert live, f"{act.consequence} was not allowed"

    def _approved(self, turn: Turn, event: ApprovalDecided) -> None:
        phase = turn.before.phase
        if not isinstance(phase, Asking) or phase.question != event.question or phase.about != "approve":
            return
        question = self.questions[event.question]
        in_time = event.at < question.expires_at
        changed = {change.step for change in event.changes}
        fitting = bool(changed) == (event.verdict == "changed") and changed <= set(range(len(question.steps)))
        if in_time and fitting and event.shown == tuple(step.consequence for step in question.steps):
            until = event.at + turn.before.limits.approval_seconds
            kept = [step for number, step in enumerate(question.steps) if number not in changed]
            self.given += [(step.consequence, until, event.once) for step in kept]

    def _used(self, turn: Turn, event: Acted) -> None:
        step = acting_on(turn.before)
        changed = event.reason == "held" and not event.dispatched
        if step.effect != "irreversible" and not changed:
            if event.dispatched and event.status in ("ok", "unknown"):
                self._spend(event, step, only_once=True)
            return
        absent = event.status == "no_effect" and event.evidence in EVIDENCE["no_effect"]
        used = event.dispatched and not absent
        if used or changed:
            self._spend(event, step, only_once=not changed)

    def _spend(self, event: Acted, step: PlannedStep, *, only_once: bool) -> None:
        for permit in self.given:
            if permit[0] == step.consequence and (permit[2] or not only_once):
                self.given.remove(permit)
                self.spent[event.answers] = permit
                return

    def _never_sent(self, turn: Turn, event: Verified) -> None:
        phase = turn.before.phase
        if event.verdict == "did_not_happen" and event.reason != "world_lost" and isinstance(phase, Verifying):
            permit = self.spent.pop(phase.doubt.command, None)
            self.given += [permit] if permit else []


def has_to_be_asked_about(step: PlannedStep) -> bool:
    """Where approvals are `always`: by a rule, or because it cannot be undone and no rule says otherwise."""
    return step.ruled in ("ask", "unproven") or (step.effect == "irreversible" and step.ruled != "never")


@given(BYTES)
def test_nothing_irreversible_is_done_without_approval_of_exactly_that(data: bytes) -> None:
    play(data, Permits().check, approvals="always", max_wall_seconds=3600.0)


# --- 10: every run ends, and says why


def check_that_nothing_follows_the_end(turn: Turn) -> None:
    if isinstance(turn.after.phase, Ended):
        assert all(isinstance(issued.command, Finish) for issued in turn.after.pending)


def check_the_end(ended: Run) -> None:
    assert isinstance(ended.phase, Ended)
    note(ended.phase.reason)
    assert ended.phase.reason in get_args(FinalReason)
    assert ended.phase.detail
    assert ended.budget.reserved == FREE


# --- events: total, pure, written down


def check_that_objections_are_words(turn: Turn) -> None:
    if isinstance(turn.event, Control):
        assert isinstance(why_no_effect(turn.before, turn.event), str)


def check_what_raised(adversary: Adversary) -> None:
    """Only an impossible answer does, and it ends the run."""
    for run, event in adversary.raised:
        assert isinstance(event, Recorded | Finished), "only these were given where they make no sense"
        assert any(issued.command.id == event.answers for issued in run.pending)
        ended, commands = abort(run, "our own mistake")
        assert isinstance(ended.phase, Ended)
        assert [command.kind for command in commands] == ["finish"]


def check_that_acts_are_awaited(turn: Turn) -> None:
    before = {i.command.id for i in turn.before.pending if isinstance(i.command, Act)}
    after = {i.command.id for i in turn.after.pending}
    answered = getattr(turn.event, "answers", None)
    assert before - {answered} <= after
    numbers = [issued.command.id for issued in turn.after.pending]
    assert len(set(numbers)) == len(numbers)
    assert all(number < turn.after.next_id for number in numbers)
    if isinstance(turn.event, Planned) and not turn.fresh:
        assert turn.after.segment == turn.before.segment, "a late plan is not adopted"


def check_that_the_lost_is_answered(turn: Turn) -> None:
    for issued in turn.after.pending:
        answer = answer_for_lost(issued.command, issued.reserved)
        if answer is not None:
            after, _ = decide(turn.after, answer)
            assert after.counts.late == turn.after.counts.late
            assert after.overrun == FREE


def check_that_it_can_be_written_down(turn: Turn) -> None:
    written = encode(turn.after)
    assert decode(Run, written) == turn.after
    assert encode(decode(Run, written)) == written
    assert decode_any(Event, encode(turn.event, Event)) == turn.event


def check_that_it_is_pure(turn: Turn) -> None:
    before = repr(turn.before)
    assert decide(turn.before, turn.event) == (turn.after, turn.commands)
    assert repr(turn.before) == before


def check_that_questions_have_answers(turn: Turn) -> None:
    phase = turn.after.phase
    if isinstance(phase, Asking):
        for verdict in VERDICTS[phase.about]:
            shown = tuple(step.consequence for step in phase.steps)
            changes = (Change(arguments=(("to", "Grace"),)),) if verdict == "changed" else ()
            answer = ApprovalDecided(
                question=phase.question,
                verdict=verdict,
                shown=shown,
                changes=changes,
                more=phase.more,
                at=turn.after.now,
            )
            fits = verdict != "changed" or phase.purpose == "segment"
            assert not fits or why_no_effect(turn.after, answer) in ("", "the time to answer is over")
            after, _ = decide(turn.after, answer)
            assert not fits or not isinstance(after.phase, Asking) or after.phase.question != phase.question


# --- all of it, in any order


@given(BYTES)
def test_the_rules_hold_after_every_event(data: bytes) -> None:
    """Promises 4, 5 and 10, and what a runtime relies on."""
    adversary = play(
        data,
        Ceilings().check,
        check_that_it_was_seen,
        check_that_nothing_follows_the_end,
        check_that_objections_are_words,
        check_that_acts_are_awaited,
        check_that_questions_have_answers,
    )
    check_the_end(adversary.run)
    check_what_raised(adversary)


@given(BYTES)
def test_every_state_is_a_value(data: bytes) -> None:
    """It can be written down, decided from again, and gone on from with everything under way lost."""
    play(data, check_that_it_can_be_written_down, check_that_it_is_pure, check_that_the_lost_is_answered)
