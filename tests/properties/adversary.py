"""Whatever could happen to a run: events for `decide` in any order, chosen byte by byte.

As long as there are bytes, answers are of every kind that a performer can give, and control events come at any moment. After
the last byte everything is plausible, so that every run can be driven to its end. Hypothesis makes the bytes, and shrinks
them: zeros are the plausible choice.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from hypothesis import strategies as st

from midcourse.director.decide import decide
from midcourse.director.lost import answer_for_lost
from midcourse.domain.agreement import Ruling
from midcourse.domain.approval import VERDICTS, Change, Verdict
from midcourse.domain.budget import FREE, Cost, Limits
from midcourse.domain.commands import (
    Act,
    Advise,
    AskPerson,
    CheckDone,
    Command,
    Finish,
    JudgeCloseness,
    MakePlan,
    Observe,
    OpenWorld,
    PlanRevert,
    PlanTry,
    Record,
    Verify,
    Wait,
)
from midcourse.domain.detour import Option, Strategy
from midcourse.domain.events import (
    Acted,
    AdviceVerdict,
    Advised,
    ApprovalDecided,
    CancelAsked,
    ClosenessJudged,
    DoneChecked,
    Event,
    Finished,
    Guided,
    Observed,
    PauseAsked,
    PersonAsked,
    Planned,
    Postponed,
    Recorded,
    ResumeAsked,
    Resumed,
    RevertPlanned,
    Started,
    TakenOver,
    TimerFired,
    TryPlanned,
    TryVerdict,
    Verified,
    WorldOpened,
)
from midcourse.domain.failure import Track
from midcourse.domain.monitor import Advice
from midcourse.domain.observation import ObservationRef
from midcourse.domain.phases import Acting, Asking, Ended, New, Paused
from midcourse.domain.plan import PlannedStep
from midcourse.domain.reflection import Analysis, Fix, Reflection
from midcourse.domain.run import Issued, Run
from midcourse.domain.skill import Effect
from midcourse.drive import is_over
from midcourse.errors import ImpossibleEvent
from midcourse.policy.approval.rules import binds

T = TypeVar("T")

START = 1_800_000_000.0
BYTES = st.one_of(st.binary(min_size=500, max_size=1500), st.binary(min_size=60, max_size=300))
MOST_TURNS = 400
"""A run of so many bytes that has not ended by then never will."""

SCREENS = ("f0", "f1", "f2", "f3")
IDENTITY = {"": "", "k0": "i0", "k1": "i1", "k2": "i0", "k3": "i2", "k4": "i3", "k5": "i3", "k6": "i4", "k7": "i5"}
"""By consequence. Some of them are the same deed in other words."""
REASONS = (
    "",
    "busy",
    "rejected",
    "timeout",
    "no_effect",
    "unreachable",
    "target_not_visible",
    "world_lost",
    "held",
    "disputed",
)
UNSENT = ("bad_arguments", "target_not_visible", "not_dispatched", "commit_unreadable", "world_lost", "stale_target")
EVIDENCE = ("expectation", "", "absent_when", "probe", "person", "not_dispatched")
TRACKS = (Track(fixed=1, not_fixed=9), Track(lesson="a", not_fixed=9), Track(lesson="a", not_fixed=9, sample=0.0))


class Choices:
    """One byte a choice; with none left, always the first option."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._next = 0

    @property
    def exhausted(self) -> bool:
        return self._next >= len(self._data)

    def pick(self, *options: T) -> T:
        if self.exhausted:
            return options[0]
        self._next += 1
        return options[self._data[self._next - 1] % len(options)]

    def mostly(self, usual: T, *others: T) -> T:
        """The usual, three times out of four."""
        return self.pick(*[usual] * 3 * len(others), *others)

    def one_in(self, n: int) -> bool:
        return self.pick(*[False] * (n - 1), True)


@dataclass(frozen=True, kw_only=True)
class Turn:
    before: Run
    event: Event
    after: Run
    commands: tuple[Command, ...]

    @property
    def fresh(self) -> Issued | None:
        """The command that this event answers, if it was still awaited."""
        answers = getattr(self.event, "answers", None)
        return next((issued for issued in self.before.pending if issued.command.id == answers), None)

    def sent(self, kind: type[T]) -> list[T]:
        return [command for command in self.commands if isinstance(command, kind)]


class Adversary:
    """Drives one run. `turns` yields every event that `decide` took, with the state before and after."""

    def __init__(
        self,
        data: bytes,
        *,
        has_detours: bool | None = None,
        has_outliner: bool | None = None,
        has_reflector: bool | None = None,
        **limits: Any,
    ) -> None:
        self.choices = Choices(data)
        self.run = Run(id="run", limits=self._limits(limits), has_done_when=self.choices.pick(False, True))
        detours = self.choices.pick(True, False) if has_detours is None else has_detours
        outlines = self.choices.pick(False, True) if has_outliner is None else has_outliner
        reflects = self.choices.pick(False, True) if has_reflector is None else has_reflector
        self.run = replace(self.run, has_detours=detours, has_outliner=outlines, has_reflector=reflects)
        self.now = START
        self.given: list[Event] = []
        self.numbers = 0
        self.raised: list[tuple[Run, Event]] = []

    def _limits(self, fixed: dict[str, Any]) -> Limits:
        mostly = self.choices.mostly
        chosen: dict[str, Any] = {
            "max_calls": mostly(200, 200, 3, 20),
            "max_tokens": mostly(None, 1500),
            "plan_tokens": mostly(0, 200),
            "max_wall_seconds": mostly(36_000.0, 100.0, 600.0),
            "deadline_seconds": mostly(None, None, 900.0),
            "max_segments": mostly(99, 3, 9),
            "max_replans": mostly(99, 1, 4),
            "max_error_replans": mostly(99, 0, 3),
            "max_step_retries": mostly(3, 1, 1, 0),
            "max_reopenings": mostly(20, 1),
            "count_extensions": mostly(False, True),
            "structural_stop": mostly(False, True),
            "replan_admission": True,
            "approvals": self.choices.pick("always", "never"),
            "ask_for_more": mostly(True, False),
            "approval_seconds": mostly(3600.0, 8.0),
            "look_calls": mostly(0, 1),
            "final_looks": mostly("each", "last"),
            "detour_iterations": mostly(10, 0, 2),
            "outline": self.choices.pick("auto", "on", "off"),
            "monitor": self.choices.pick("proposals", "path", "off"),
        }
        return Limits(**(chosen | fixed))

    # --- the loop

    def turns(self) -> Iterator[Turn]:
        for _ in range(MOST_TURNS):
            if is_over(self.run):
                return
            event = self._next_event()
            before = self.run
            try:
                after, commands = decide(before, event)
            except ImpossibleEvent:
                self.raised.append((before, event))
                continue
            self.run = after
            self.given.append(event)
            yield Turn(before=before, event=event, after=after, commands=commands)
        raise AssertionError(f"still {self.run.phase} after {MOST_TURNS} turns")

    def _next_event(self) -> Event:
        what: Callable[[], Event] = self.choices.pick(
            *[self._answer] * 40, *[self._control] * 6, self._late, self._late, self._again, self._lost, self._wrong
        )
        event = what()
        return replace(event, at=self._moment(event))

    def _moment(self, event: Event) -> float:
        """Mostly before anything under way is due; but a dead worker is noticed late. A timer fires when it is due."""
        due = [(issued, issued.at + _seconds(issued.command)) for issued in self.run.pending]
        if isinstance(event, TimerFired):
            self.now = next((at for issued, at in due if issued.command.id == event.answers), self.now)
        else:
            timed = any(isinstance(issued.command, Wait) for issued, _ in due)
            share = self.choices.mostly(0.0, 0.01, 0.01, 0.05, 0.05, 1.0, 1.0 if timed else 2.0)
            until = min((at for _, at in due), default=self.now + 1000.0)
            self.now += max(0.0, until - self.now) * share
        return self.now

    # --- kinds of events

    def _answer(self) -> Event:
        """To what is pending, in any order; or what ends a wait that nothing pending ends."""
        phase, pending = self.run.phase, self.run.pending
        if isinstance(phase, New):
            return Started()
        asked = isinstance(phase, Asking) and not any(isinstance(i.command, AskPerson) for i in pending)
        if isinstance(phase, Asking) and asked and not self.choices.one_in(4):
            return self._decision(phase)
        patient = [issued for issued in pending if not isinstance(issued.command, Wait)]
        if not patient and (not pending or (isinstance(phase, Paused) and not self.choices.one_in(5))):
            return ResumeAsked()
        if self.choices.one_in(20) or not patient:
            return self._answer_to(pending[-1])
        return self._answer_to(self.choices.pick(*patient))

    def _control(self) -> Event:
        pick = self.choices.pick
        return pick(
            ResumeAsked(),
            PauseAsked(),
            Guided(text="to the left"),
            TakenOver(by="ada", did=("clicked",)),
            Resumed(),
            Resumed(world="reopened"),
            Started(),
            ApprovalDecided(
                question=pick(0, 3, 5), verdict=pick("approved", "happened", "stop"), shown=pick((), ("k0",))
            ),
            CancelAsked() if self.choices.one_in(9) else Guided(text=""),
        )

    def _late(self) -> Event:
        """An answer to a command that was never issued, or that was given up."""
        pick = self.choices.pick
        number = 100_000 + len(self.given)
        return pick(
            Acted(answers=number, status=pick("ok", "unknown"), identity=pick(*IDENTITY.values())),
            Acted(answers=number, dispatched=False, identity="i1", status="failed"),
            Planned(answers=number, steps=(self._step(0),)),
            Observed(answers=number, seen=self._seen(number)),
            TimerFired(answers=number),
        )

    def _again(self) -> Event:
        """Something that was said before."""
        return self.choices.pick(*self.given[-5:]) if self.given else Started()

    def _lost(self) -> Event:
        """The performer of a command is gone, or did not begin it."""
        for issued in self.run.pending:
            answer = answer_for_lost(issued.command, issued.reserved)
            if answer is not None and not isinstance(issued.command, OpenWorld):
                return self.choices.mostly(answer, Postponed(answers=issued.command.id))
        return self._answer()

    def _wrong(self) -> Event:
        """An answer that the command cannot have. This is the only kind that may raise."""
        for issued in self.run.pending:
            if isinstance(issued.command, Act | MakePlan | Observe | Verify):
                return self.choices.pick(Recorded(answers=issued.command.id), Finished(answers=issued.command.id))
        return self._answer()

    # --- answers

    def _answer_to(self, issued: Issued) -> Event:
        pick, command = self.choices.pick, issued.command
        match command:
            case OpenWorld():
                opened = not self.choices.one_in(60)
                away = not opened and self.choices.one_in(2)
                return WorldOpened(answers=command.id, opened=opened, away=away)
            case Observe():
                seen = None if self.choices.one_in(7) else self._seen(command.id)
                reason = "" if seen else self.choices.mostly("failed", "empty", "timeout", "world_lost")
                return Observed(answers=command.id, seen=seen, reason=reason, cost=self._cost(issued))
            case MakePlan():
                return self._plan(command, issued)
            case Act():
                return self._outcome(command, issued)
            case Verify():
                return Verified(
                    answers=command.id,
                    verdict=pick("happened", "did_not_happen", "undecided", "too_early"),
                    evidence=pick("probe", "", "not_dispatched", "expectation"),
                    reason="world_lost" if self.choices.one_in(9) else "",
                    seconds=self.choices.mostly(3.0, 0.0, 1e9),
                    seen=None if self.choices.one_in(4) else self._seen(command.id),
                    cost=self._cost(issued),
                )
            case PlanTry():
                return self._try(command, issued)
            case JudgeCloseness():
                return ClosenessJudged(
                    answers=command.id,
                    verdict=self.choices.mostly("judged", "transport"),
                    closeness=pick(5.0, 4.0, 4.2, 6.0, 0.0),
                    found="" if self.choices.exhausted else self.choices.mostly("", "z1", "__reach__"),
                    cost=self._cost(issued),
                )
            case Advise():
                return self._advice(command, issued)
            case PlanRevert():
                step = replace(self._harmless(), version=command.version)
                strategy: Strategy | None = self.choices.mostly("close", None)
                return RevertPlanned(answers=command.id, strategy=strategy, step=step if strategy else None)
            case CheckDone():
                return DoneChecked(
                    answers=command.id,
                    verdict="met"
                    if self.choices.exhausted
                    else pick("unmet", "unmet", "unmet", "undecided", "too_early"),
                    seconds=pick(0.0, 3.0),
                    seen=pick(None, self._seen(command.id)),
                    cost=self._cost(issued),
                )
            case AskPerson():
                phase = self.run.phase
                if isinstance(phase, Asking) and not self.choices.one_in(4):
                    return self._decision(phase)
                return PersonAsked(answers=command.id)
            case Wait():
                return TimerFired(answers=command.id)
            case Record():
                return Recorded(answers=command.id)
            case Finish():
                return Finished(answers=command.id)

    def _decision(self, phase: Asking) -> ApprovalDecided:
        fits = VERDICTS[phase.about]
        verdict: Verdict = self.choices.mostly(fits[0], *fits[1:], "happened", "approved")
        changes = (Change(arguments=(("to", "Grace"),)),) if verdict == "changed" else ()
        return ApprovalDecided(
            question=phase.question,
            verdict=verdict,
            once=self.choices.mostly(True, False),
            guidance=self.choices.mostly("by the other door", ""),
            shown=self.choices.mostly(_shown(phase), (), ("k0",)),
            changes=self.choices.mostly(changes, (), (Change(step=9, arguments=()),)),
            more=self.choices.mostly(phase.more, None, Cost(calls=9, tokens=9, microusd=9)),
        )

    def _plan(self, command: MakePlan, issued: Issued) -> Planned:
        pick = self.choices.pick
        verdict = pick(*["steps"] * 40, "done", "impossible", "gave_up", "refused", "garbage", "transport")
        if self.choices.exhausted:
            self.numbers += 1
            steps = (PlannedStep(version=0, index=0, place="zone", skill="new", call=f"new{self.numbers}"),)
            final = True
        else:
            steps = tuple(self._step(n) for n in range(0 if self.choices.one_in(50) else pick(2, 1, 3, 4)))
            final = self.choices.one_in(9)
            if not final and steps:
                steps = (*steps, PlannedStep(version=0, index=len(steps), place="replan"))
        return Planned(
            answers=command.id,
            verdict=verdict,  # pyrefly: ignore[bad-argument-type]
            steps=tuple(replace(step, version=command.version) for step in steps) if verdict == "steps" else (),
            final=final,
            detail=pick("", "so it is"),
            cost=self._cost(issued),
        )

    def _try(self, command: PlanTry, issued: Issued) -> TryPlanned:
        verdict: TryVerdict = self.choices.mostly("try", "gave_up", "refused", "garbage", "transport")
        step = replace(self._step(0) if self.choices.one_in(9) else self._harmless(), version=command.version)
        return TryPlanned(
            answers=command.id,
            verdict="gave_up" if self.choices.exhausted else verdict,
            step=step if verdict == "try" else None,
            options=tuple(Option(name=f"option {n}") for n in range(self.choices.pick(0, 1, 2))),
            cost=self._cost(issued),
        )

    def _advice(self, command: Advise, issued: Issued) -> Advised:
        pick, mostly = self.choices.pick, self.choices.mostly
        verdict: AdviceVerdict = mostly("answered", "transport")
        empty = Advised(answers=command.id, role=command.role, verdict=verdict)
        match command.role:
            case "reflector":
                cause = mostly("", "no right", "x" * 2000)
                analysis = Analysis(error_type="other", severity=pick("LOW", "CRITICAL"), root_cause=cause)
                found = Reflection(analysis=analysis, fix=Fix(message=cause), by="model") if cause else None
                advised = replace(empty, reflection=found)
            case "monitor":
                says = mostly("", "going round", " ", "x" * 2000)
                advised = replace(
                    empty, advice=Advice(problem=pick("repetition", "error"), says=says) if says else None
                )
            case "outliner":
                verdict = mostly(verdict, "gave_up", "refused", "garbage")
                goals = pick(("Find a", "Find b", "Find c"), ("Find a", "Find d"), ())
                advised = replace(empty, verdict=verdict, goals=goals)
            case "judge":
                advised = replace(empty, current=pick(1, 4, 3, 2, 0, 99), evidence=mostly("seen", ""))
        return replace(advised, cost=self._cost(issued))

    def _harmless(self) -> PlannedStep:
        call = self.choices.pick("t0", "t1", "t2")
        return PlannedStep(version=0, index=0, place="zone", skill=call, effect="set_state", call=call)

    def _step(self, index: int) -> PlannedStep:
        pick = self.choices.pick
        effect: Effect = pick("set_state", "irreversible", "reversible", "read")
        call = pick("c0", "c1", "c2", "c3", "c4", "c5")
        ruled: Ruling = self.choices.mostly("", "", "", "ask", "never")
        if effect == "reversible":
            ruled = pick(ruled, ruled, "unproven", "proven")
        bound = effect == "irreversible" or ruled in ("ask", "unproven", "proven")
        consequence = pick(*IDENTITY) if bound else ""
        return PlannedStep(
            version=0,
            index=index,
            place=pick("zone", "zone", "global"),
            skill=call,
            effect=effect,
            call=call,
            identity=IDENTITY[consequence] if effect == "irreversible" else "",
            consequence=consequence,
            ruled=ruled,
        )

    def _outcome(self, command: Act, issued: Issued) -> Acted:
        """What a performer may say of an act. One that names no consequence is never sent if it cannot be undone."""
        pick, phase = self.choices.pick, self.run.phase
        assert isinstance(phase, Acting)
        step = phase.doing.step
        if self.run.has_detours and phase.doing.purpose == "segment" and not step.found and self.choices.one_in(2):
            return Acted(
                answers=command.id, status="unreachable", reason="target_not_visible", dispatched=False, looked=False
            )
        if (binds(step) and not step.consequence) or self.choices.one_in(9):
            others = [other for other in IDENTITY if other not in ("", step.consequence)]
            if not self.choices.exhausted and pick(True, False):
                would = pick(*others)
                return Acted(
                    answers=command.id,
                    status="no_effect",
                    reason="held",
                    dispatched=False,
                    looked=False,
                    consequence=would,
                    identity=IDENTITY[would],
                    effect="irreversible",
                )
            return Acted(
                answers=command.id,
                status=pick("failed", "no_effect", "unreachable"),
                reason=pick(*UNSENT),
                dispatched=False,
                looked=False,
            )
        looked = command.look or not self.choices.one_in(4)
        return Acted(
            answers=command.id,
            status=self.choices.mostly("ok", "failed", "no_effect", "unreachable", "unknown"),
            reason=pick(*REASONS),
            evidence=self.choices.mostly(*EVIDENCE),
            claimed=self.choices.one_in(4),
            identity=step.identity if step.effect == "irreversible" else "",
            looked=looked,
            seen=self._seen(command.id) if looked and not self.choices.one_in(5) else None,
            track=self.choices.mostly(None, *TRACKS),
            cost=self._cost(issued),
        )

    def _seen(self, number: int) -> ObservationRef:
        return ObservationRef(id=f"o{number}", fingerprint=self.choices.pick(*SCREENS), zones=3, surface="Somewhere")

    def _cost(self, issued: Issued) -> Cost:
        """Up to what was set aside for it."""
        return self.choices.pick(issued.reserved, FREE, replace(issued.reserved, tokens=issued.reserved.tokens // 2))


def _seconds(command: Command) -> float:
    match command:
        case Wait():
            return command.seconds
        case AskPerson() | Record() | Finish():
            return 10_000.0
        case _:
            return command.timeout


def play(data: bytes, *checks: Callable[[Turn], None], **limits: Any) -> Adversary:
    """Drive a run to its end, with every check after every event."""
    adversary = Adversary(data, **limits)
    for turn in adversary.turns():
        for check in checks:
            check(turn)
    assert isinstance(adversary.run.phase, Ended)
    return adversary


def _shown(phase: Asking) -> tuple[str, ...]:
    return tuple(step.consequence for step in phase.steps)
