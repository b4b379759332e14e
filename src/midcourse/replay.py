"""A recorded run through the director again: as it was, or under other limits. Pure, and never a guess.

The answers in a journal were given to the commands in it. They stay true for as long as the same commands go out; where
others would, the replay ends and says which of these is the case:

identical        nothing was changed, and every turn led to the same commands
nondeterminism   nothing was changed, and one did not: a bug, or a journal of another version
same_course      the changed limits make no difference
ends_earlier     the run would have ended there: exact, because no answer is needed to end
asks_earlier     a person would have been asked there: exact up to the question
undetermined     the world or the planner would have been asked for something else, and nobody knows its answer
not_recorded     the recorded run ended or stopped waiting there, and the changed one would have gone on

What a planner makes of a smaller or larger remainder of the budget (`MakePlan.left`) is not taken for a difference; that
it is told to wrap up is.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeAlias, assert_never

from midcourse.director.decide import abort, decide
from midcourse.director.lost import lost
from midcourse.domain.budget import FREE, Limits
from midcourse.domain.command import (
    Act,
    AskPerson,
    CheckDone,
    Command,
    Finish,
    MakePlan,
    Observe,
    OpenWorld,
    Record,
    Verify,
    Wait,
)
from midcourse.domain.event import Acted, Answer, ApprovalDecided, Event, Planned, Resumed, TimerFired
from midcourse.domain.move import FinalReason
from midcourse.domain.phase import Ended
from midcourse.domain.result import SUCCESSES
from midcourse.domain.run import Issued, Run
from midcourse.errors import ImpossibleEvent
from midcourse.policy.spending import worst_plan

Verdict: TypeAlias = Literal[
    "identical",
    "nondeterminism",
    "same_course",
    "ends_earlier",
    "asks_earlier",
    "undetermined",
    "not_recorded",
]

EXACT = ("ends_earlier", "asks_earlier")

Commands: TypeAlias = tuple[Command, ...]

TICK = 0.001
"""Seconds after a time-out at which it has certainly passed, whatever was lost in adding up."""
SLACK = 0.1
"""Seconds by which two clocks may disagree on whether something took as long as it was allowed to."""


class Row(Protocol):
    """One recorded turn; a store's journal has them."""

    @property
    def seq(self) -> int: ...
    @property
    def event(self) -> Event: ...
    @property
    def commands(self) -> Commands: ...


@dataclass(frozen=True, kw_only=True)
class Tally:
    """What a run has come to at some point."""

    calls: int
    planner_calls: int
    executions: int
    completed: int
    """Steps."""
    seconds: float

    def minus(self, other: "Tally") -> "Tally":
        return Tally(
            calls=self.calls - other.calls,
            planner_calls=self.planner_calls - other.planner_calls,
            executions=self.executions - other.executions,
            completed=self.completed - other.completed,
            seconds=self.seconds - other.seconds,
        )


def tally(run: Run) -> Tally:
    return Tally(
        calls=run.budget.spent.calls,
        planner_calls=run.counts.planner_calls,
        executions=run.counts.executions,
        completed=run.counts.completed,
        seconds=max(0.0, run.now - run.started_at),
    )


@dataclass(frozen=True, kw_only=True)
class Replayed:
    verdict: Verdict
    at: int = 0
    """The recorded event at which the two part; 0 if they never do."""
    detail: str = ""
    final: Run
    """The state after the last turn that is certain."""
    commands: tuple[Commands, ...]
    """What went out, turn by turn, up to the one in which the two part and with it."""
    recorded: Tally
    """All of the recorded run."""
    until: Tally
    """What is certain of the changed one."""
    reached: FinalReason | None = None
    """How the recorded run ended, if it did."""

    @property
    def saved(self) -> Tally | None:
        """What the recorded run went on to spend from there, and the steps it completed, which would have been lost.

        None unless that is known.
        """
        return self.recorded.minus(self.until) if self.verdict in EXACT else None

    @property
    def lost_success(self) -> bool:
        """Whether the recorded run succeeded, and the changed one would have ended, or asked, before."""
        return self.verdict in EXACT and self.reached in SUCCESSES


def replay(opening: Run, rows: Iterable[Row], limits: Limits | None = None) -> Replayed:
    """The recorded turns from this state on, under these limits instead of its own."""
    rows = tuple(rows)
    states: list[Run] = [opening]
    issued: list[Commands] = []
    for row in rows:
        run, commands = _turn(states[-1], row.event)
        states.append(run)
        issued.append(commands)
        if (run.seq, commands) != (row.seq, row.commands):
            says = f"nondeterminism at event {row.seq}: recorded {_list(row.commands)}, now {_list(commands)}"
            return _result("nondeterminism", run, run, issued, at=row.seq, detail=says)
    if limits is None or limits == opening.limits:
        return _result("identical", states[-1], states[-1], issued)
    return _Changed(opening, states, limits).walk(rows)


def _turn(run: Run, event: Event) -> tuple[Run, Commands]:
    """As `drive` has it."""
    try:
        return decide(run, event)
    except ImpossibleEvent as bug:
        return abort(run, f"{type(bug).__name__}: {bug}")


def _result(
    verdict: Verdict, run: Run, recorded: Run, issued: Sequence[Commands], *, at: int = 0, detail: str = ""
) -> Replayed:
    return Replayed(
        verdict=verdict,
        at=at,
        detail=detail,
        final=run,
        commands=tuple(issued),
        recorded=tally(recorded),
        until=tally(run),
        reached=recorded.phase.reason if isinstance(recorded.phase, Ended) else None,
    )


# --- under other limits


@dataclass(frozen=True, kw_only=True)
class _Parting:
    """The two part here, and the answer that the changed run would have got is known, or not needed."""

    verdict: Verdict
    detail: str


class _Changed:
    """The recorded run and the changed one side by side. Command ids may differ: a pause with a deadline has a timer more."""

    def __init__(self, opening: Run, states: Sequence[Run], limits: Limits) -> None:
        self._states = states
        self._old, self._new = opening.limits, limits
        self._run = replace(opening, limits=limits)
        self._issued: list[Commands] = []
        self._ids = {one.command.id: one.command.id for one in opening.pending}
        self._since = 0.0
        self._note = ""

    def walk(self, rows: Sequence[Row]) -> Replayed:
        for row, before in zip(rows, self._states, strict=False):
            self._since = row.event.at if isinstance(row.event, Resumed) else self._since
            parting = self._before(row.event, before)
            if parting is None:
                event = self._ours(row.event)
                self._run, commands = _turn(self._run, event)
                self._issued.append(commands)
                parting = self._compare(commands, row.commands)
            if parting is not None:
                return self._parted(parting, row.seq)
        return _result("same_course", self._run, self._states[-1], self._issued, detail=self._note)

    def _parted(self, parting: _Parting, at: int) -> Replayed:
        return _result(parting.verdict, self._run, self._states[-1], self._issued, at=at, detail=parting.detail)

    def _ours(self, event: Event) -> Event:
        if isinstance(event, Answer):
            return replace(event, answers=self._ids.get(event.answers, 0))
        if isinstance(event, ApprovalDecided):
            return replace(event, question=self._ids.get(event.question, 0))
        return event

    # --- would this event have come at all, and like this?

    def _before(self, event: Event, before: Run) -> _Parting | None:
        fired = self._timer_before(event, before)
        if fired is not None:
            return self._ends_with(fired) or _undetermined("a timer would have fired before")
        if not isinstance(event, Answer):
            return None
        theirs = _pending(before, event.answers)
        ours = _pending(self._run, self._ids.get(event.answers, 0))
        if theirs is None or ours is None:
            return None
        return self._patience(event, theirs, ours) or self._would_differ(event, theirs.command)

    def _timer_before(self, event: Event, before: Run) -> TimerFired | None:
        """A wait for a person or in a pause that would have been over before this."""
        for theirs in before.pending:
            ours = _pending(self._run, self._ids.get(theirs.command.id, 0))
            if ours is None or not isinstance(theirs.command, Wait) or not isinstance(ours.command, Wait):
                continue
            due = ours.at + ours.command.seconds
            if ours.command.seconds < theirs.command.seconds and due <= event.at:
                return TimerFired(answers=ours.command.id, at=due)
        for ours in self._run.pending:
            if isinstance(ours.command, Wait) and ours.command.id not in self._ids.values():
                due = ours.at + ours.command.seconds
                if due <= event.at:
                    return TimerFired(answers=ours.command.id, at=due)
        return None

    def _patience(self, event: Answer, theirs: Issued, ours: Issued) -> _Parting | None:
        """Whether the answer came while the recorded run waited for it and the changed one no more, or the reverse."""
        if isinstance(theirs.command, Wait) and isinstance(ours.command, Wait):
            waits, waited = ours.command.seconds, theirs.command.seconds
            if waited < waits and event.at < ours.at + waits:
                detail = f"the recorded run stopped waiting after {waited:g} s, this one would have waited {waits:g} s"
                return _Parting(verdict="not_recorded", detail=detail)
            return None
        patience, allowed = (
            self._allowed(ours.command, self._new, event),
            self._allowed(theirs.command, self._old, event),
        )
        began = max(ours.at, self._since)
        took, doing = event.at - began, _describe(theirs.command)
        if patience < allowed and took > patience:
            given_up = self._given_up(ours.command, event, min(event.at, began + patience + TICK))
            if patience == _timeout(ours.command) and given_up and (ended := self._ends_with(given_up)):
                return ended
            return _undetermined(f"to {doing} took {took:.1f} s, and would have been given up after {patience:g} s")
        if patience > allowed and took + SLACK >= allowed:
            return _undetermined(f"to {doing} was given up after {allowed:g} s, and would have been given more time")
        return None

    def _allowed(self, command: Command, limits: Limits, event: Answer) -> float:
        """How long this may take. Nobody recorded how long its parts took, so the shortest of those changed counts."""
        times = [_timeout(command)]
        acts = isinstance(command, Act | Verify)
        reads = isinstance(event, Planned) and any(step.effect == "irreversible" for step in event.steps)
        if acts and self._old.act_timeout_seconds != self._new.act_timeout_seconds:
            times.append(limits.act_timeout_seconds)
        if (acts or reads) and self._old.look_timeout_seconds != self._new.look_timeout_seconds:
            times.append(limits.look_timeout_seconds)
        return min(times)

    def _given_up(self, command: Command, event: Answer, at: float) -> Answer | None:
        """The answer of whatever ran out of time, where there is only one. It costs what it did cost."""
        answer = lost(command, event.cost)
        if not isinstance(command, OpenWorld | Observe | MakePlan | Act) or not isinstance(answer, Answer):
            return None
        return replace(answer, at=at)

    def _would_differ(self, event: Answer, command: Command) -> _Parting | None:
        """Whether a limit was changed that the answer itself depends on."""
        old, new = self._old, self._new
        looks = isinstance(command, Act | Verify) or (isinstance(command, Observe) and not command.free)
        looks = looks or (isinstance(command, CheckDone) and command.look)
        if looks and old.look_calls != new.look_calls and not (isinstance(event, Acted) and not event.looked):
            return _undetermined("what a look costs was changed, and the recorded looks cost what they did")
        if not isinstance(event, Planned):
            return None
        steps = sum(step.place != "replan" for step in event.steps)
        if new.max_plan_steps < steps:
            return _undetermined(f"the plan of {steps} steps would have been cut after {new.max_plan_steps}")
        if old.max_plan_steps <= steps and new.max_plan_steps > old.max_plan_steps:
            return _undetermined(f"the plan may have been cut after {old.max_plan_steps} steps")
        if event.verdict in ("transport", "garbage") and worst_plan(old) != worst_plan(new):
            return _undetermined("what a planner call that failed is charged was changed")
        return None

    # --- would the same be done about it?

    def _ends_with(self, event: Event) -> _Parting | None:
        """What would have come instead ends the run, or it is not taken."""
        run, commands = _turn(self._run, event)
        end = _end(commands)
        if end is None:
            return None
        self._run = run
        self._issued.append(commands)
        return _Parting(verdict="ends_earlier", detail=_why(end))

    def _compare(self, ours: Commands, theirs: Commands) -> _Parting | None:
        end, recorded_end = _end(ours), _end(theirs)
        if recorded_end is not None:
            return self._at_the_end(end, recorded_end)
        if end is not None:
            return _Parting(verdict="ends_earlier", detail=_why(end))
        if _asks(ours) and not _asks(theirs):
            return _Parting(
                verdict="asks_earlier", detail=f"a person would have been asked, instead of {_list(theirs)}"
            )
        mine, its = _bare(ours), _bare(theirs)
        self._learn(ours, theirs)
        its = tuple(
            replace(one, doubted=self._ids.get(one.doubted, 0)) if isinstance(one, Verify) else one for one in its
        )
        if mine == its:
            return None
        return _undetermined(_difference(mine, its))

    def _at_the_end(self, end: Finish | None, recorded: Finish) -> _Parting | None:
        if end is None:
            detail = f"the recorded run ended there ({_why(recorded)}), this one would have gone on"
            return _Parting(verdict="not_recorded", detail=detail)
        self._ids[recorded.id] = end.id
        if end.reason != recorded.reason:
            self._note = f"it would have ended at the same point, as {_why(end)} instead of {_why(recorded)}"
        return None

    def _learn(self, ours: Commands, theirs: Commands) -> None:
        for kind in (False, True):
            mine, its = ([one for one in some if isinstance(one, Wait) is kind] for some in (ours, theirs))
            self._ids.update((it.id, my.id) for my, it in zip(mine, its, strict=False))


def _pending(run: Run, number: int) -> Issued | None:
    return next((one for one in run.pending if one.command.id == number), None)


def _undetermined(detail: str) -> _Parting:
    return _Parting(verdict="undetermined", detail=detail)


def _end(commands: Commands) -> Finish | None:
    return next((command for command in commands if isinstance(command, Finish)), None)


def _asks(commands: Commands) -> bool:
    return any(isinstance(command, AskPerson) for command in commands)


def _timeout(command: Command) -> float:
    match command:
        case OpenWorld() | Observe() | MakePlan() | Act() | Verify() | CheckDone():
            return command.timeout
        case Wait() | AskPerson() | Record() | Finish():
            return float("inf")
        case _:
            assert_never(command)


def _bare(commands: Commands) -> Commands:
    """What of them reaches the world, the planner or a person. The timer of a question or a pause does not."""
    lasting = any(isinstance(command, AskPerson | Record) for command in commands)
    return tuple(_alike(command) for command in commands if not (lasting and isinstance(command, Wait)))


def _alike(command: Command) -> Command:
    match command:
        case OpenWorld() | Observe() | Act() | Verify() | CheckDone():
            return replace(command, id=0, timeout=0.0)
        case MakePlan():
            return replace(command, id=0, timeout=0.0, left=FREE)
        case AskPerson():
            return replace(command, id=0, expires_at=0.0)
        case Wait() | Record() | Finish():
            return replace(command, id=0)
        case _:
            assert_never(command)


# --- in words


def _difference(ours: Commands, theirs: Commands) -> str:
    match ours, theirs:
        case (MakePlan(wrap_up=True) as mine,), (MakePlan(wrap_up=False) as its,) if (
            replace(mine, wrap_up=False) == its
        ):
            return "the planner would have been told to wrap up"
        case (MakePlan() as mine,), (MakePlan() as its,) if mine.version == its.version and mine.cause == its.cause:
            return f"to {_describe(its)}, the planner would have been told something else"
        case _:
            return f"it would {_list(ours)} instead of {_list(theirs)}"


def _list(commands: Commands) -> str:
    return ", ".join(_describe(command) for command in commands) or "do nothing yet"


def _describe(command: Command) -> str:
    """What is to be done; follows 'to'."""
    match command:
        case OpenWorld():
            return "open the world"
        case Observe():
            return "look"
        case MakePlan():
            return f"make plan {command.version} ({command.cause})"
        case Act():
            return f"do step {command.index + 1} of plan {command.version}"
        case Verify():
            return f"find out whether step {command.index + 1} of plan {command.version} happened"
        case CheckDone():
            return "check whether the task is done"
        case AskPerson():
            return "ask a person"
        case Wait():
            return f"wait {command.seconds:g} s"
        case Record():
            return "pause"
        case Finish():
            return f"end as {command.reason}"
        case _:
            assert_never(command)


def _why(end: Finish) -> str:
    return f"{end.reason}, {end.detail}"
