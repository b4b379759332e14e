"""Replays a recorded run under other limits, up to the first difference."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from midcourse.director.lost import answer_for_lost
from midcourse.domain.budget import Limits
from midcourse.domain.command import (
    Act,
    Advise,
    CheckDone,
    Command,
    Finish,
    JudgeCloseness,
    MakePlan,
    Observe,
    OpenWorld,
    PlanTry,
    Verify,
    Wait,
)
from midcourse.domain.event import (
    Acted,
    Advised,
    Answer,
    ApprovalDecided,
    ClosenessJudged,
    DoneChecked,
    Event,
    Planned,
    TimerFired,
    TryPlanned,
)
from midcourse.domain.move import End
from midcourse.domain.phase import Concluding
from midcourse.domain.run import Issued, Run
from midcourse.policy.spending import worst_plan
from midcourse.replay.equivalence import asks, bare, describe, difference, end_of, list_commands, timeout, why
from midcourse.replay.recorded import Commands, Replayed, Row, Verdict, result, turn

TICK = 0.001
"""Seconds after a time-out at which it has certainly passed, allowing for rounding."""
SLACK = 0.1
"""Seconds by which two clocks may disagree on whether something took as long as it was allowed to."""


GIVEN_UP = (
    OpenWorld,
    Observe,
    MakePlan,
    Act,
    PlanTry,
    JudgeCloseness,
    Advise,
)
"""Commands for which there is only one answer if they take too long."""

CHARGED = (Planned, TryPlanned, ClosenessJudged, Advised)
"""Events whose cost is the reserved amount if no answer came."""


@dataclass(frozen=True, kw_only=True)
class _Parting:
    """Where the two part, how and why."""

    verdict: Verdict
    detail: str


class Changed:
    """The recorded run and the changed one side by side. Command ids may differ: a pause with a deadline has a timer more."""

    def __init__(self, opening: Run, states: Sequence[Run], limits: Limits) -> None:
        self._states = states
        self._old, self._new = opening.limits, limits
        self._run = replace(opening, limits=limits)
        self._issued: list[Commands] = []
        self._ids = {one.command.id: one.command.id for one in opening.pending}
        self._note = ""

    def walk(self, rows: Sequence[Row]) -> Replayed:
        for row, (before, after) in zip(rows, pairwise(self._states), strict=False):
            parting = self._before(row.event, before)
            if parting is None:
                event = self._ours(row.event)
                self._run, commands = turn(self._run, event)
                self._issued.append(commands)
                parting = self._compare(commands, row.commands, _last_resort(after))
            if parting is not None:
                return self._parted(parting, row.seq)
        return result("same_course", self._run, self._states[-1], self._issued, detail=self._note)

    def _parted(self, parting: _Parting, at: int) -> Replayed:
        return result(parting.verdict, self._run, self._states[-1], self._issued, at=at, detail=parting.detail)

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
        """Whether the answer came while the recorded run waited for it and the changed one no more, or the reverse.

        If a process died meanwhile, it is not known when: the time without one counts as work.
        """
        if isinstance(theirs.command, Wait) and isinstance(ours.command, Wait):
            waits, waited = ours.command.seconds, theirs.command.seconds
            if waited < waits and event.at < ours.at + waits:
                detail = f"the recorded run stopped waiting after {waited:g} s, this one would have waited {waits:g} s"
                return _Parting(verdict="not_recorded", detail=detail)
            return None
        patience = self._allowed(ours.command, self._new, event)
        allowed = self._allowed(theirs.command, self._old, event)
        took, doing = event.at - ours.at, describe(theirs.command)
        if patience < allowed and took > patience:
            given_up = self._given_up(ours.command, event, min(event.at, ours.at + patience + TICK))
            if patience == timeout(ours.command) and given_up and (ended := self._ends_with(given_up)):
                return ended
            return _undetermined(f"to {doing} took {took:.1f} s, and would have been given up after {patience:g} s")
        if patience > allowed and took + SLACK >= allowed:
            return _undetermined(f"to {doing} was given up after {allowed:g} s, and would have been given more time")
        return None

    def _allowed(self, command: Command, limits: Limits, event: Answer) -> float:
        """How long this may take. The duration of its parts was not recorded, so the shortest changed limit counts."""
        times = [timeout(command)]
        acts = isinstance(command, Act | Verify)
        reads = isinstance(event, Planned) and any(step.effect == "irreversible" for step in event.steps)
        if acts and self._old.act_timeout_seconds != self._new.act_timeout_seconds:
            times.append(limits.act_timeout_seconds)
        if (acts or reads) and self._old.look_timeout_seconds != self._new.look_timeout_seconds:
            times.append(limits.look_timeout_seconds)
        models = self._old.reads_words and (acts or isinstance(command, CheckDone))
        if models and self._old.plan_timeout_seconds != self._new.plan_timeout_seconds:
            times.append(limits.plan_timeout_seconds)
        return min(times)

    def _given_up(self, command: Command, event: Answer, at: float) -> Answer | None:
        """The answer of a command that ran out of time, if there is only one. Its cost is the recorded one."""
        answer = answer_for_lost(command, event.cost)
        if not isinstance(command, GIVEN_UP) or not isinstance(answer, Answer):
            return None
        return replace(answer, at=at)

    def _would_differ(self, event: Answer, command: Command) -> _Parting | None:
        """Whether a limit was changed that the answer itself depends on."""
        old, new = self._old, self._new
        looks = isinstance(command, Act | Verify) or (isinstance(command, Observe) and not command.free)
        looks = looks or (isinstance(command, CheckDone) and command.look)
        if looks and old.look_calls != new.look_calls and not (isinstance(event, Acted) and not event.looked):
            return _undetermined("what a look costs was changed, and the recorded looks cost what they did")
        charged = isinstance(event, CHARGED)
        if charged and event.verdict in ("transport", "garbage") and worst_plan(old) != worst_plan(new):
            return _undetermined("what a planner call that failed is charged was changed")
        thinks = isinstance(command, Observe | Act | Verify | CheckDone)
        if thinks and (old.vision, old.reads_words) != (new.vision, new.reads_words):
            return _undetermined("whether a model reads was changed, and its answer is unknown")
        if not isinstance(event, Planned):
            return None
        if self._run.has_detours and bool(old.detour_iterations) != bool(new.detour_iterations):
            return _undetermined("the planner would have been told otherwise about detours")
        steps = sum(step.place != "replan" for step in event.steps)
        if new.max_plan_steps < steps:
            return _undetermined(f"the plan of {steps} steps would have been cut after {new.max_plan_steps}")
        if old.max_plan_steps <= steps and new.max_plan_steps > old.max_plan_steps:
            return _undetermined(f"the plan may have been cut after {old.max_plan_steps} steps")
        adaptive = (old.approvals == "adaptive") != (new.approvals == "adaptive")
        if adaptive and any(step.effect == "reversible" for step in event.steps):
            return _undetermined("whether people had agreed to the like of its reversible steps was not recorded")
        return None

    # --- would the same be done about it?

    def _ends_with(self, event: Event) -> _Parting | None:
        """What would have come instead ends the run, or it is not taken."""
        run, commands = turn(self._run, event)
        end = end_of(commands)
        if end is None:
            return None
        self._run = run
        self._issued.append(commands)
        return _Parting(verdict="ends_earlier", detail=why(end))

    def _compare(self, ours: Commands, theirs: Commands, gave_up: End | None) -> _Parting | None:
        end, recorded_end = end_of(ours), end_of(theirs)
        if recorded_end is not None:
            return self._at_the_end(end, recorded_end)
        if end is not None:
            return _Parting(verdict="ends_earlier", detail=why(end))
        if asks(ours) and not asks(theirs):
            detail = f"instead of going on to {list_commands(theirs)}"
            return _Parting(verdict="asks_earlier", detail=detail)
        self._learn(ours, theirs)
        mine, its = bare(ours), tuple(self._renumbered(command) for command in bare(theirs))
        if mine == its:
            return None
        if gave_up is not None:
            return _went_on(gave_up)
        if _last_resort(self._run) is not None:
            return self._ends_unless_done(ours)
        return _undetermined(difference(mine, its))

    def _ends_unless_done(self, ours: Commands) -> _Parting | None:
        """It would have looked once more whether the task is done, and ended either way."""
        check = next(command for command in ours if isinstance(command, CheckDone))
        self._issued.pop()
        ended = self._ends_with(DoneChecked(answers=check.id, at=self._run.now))
        return ended and replace(ended, detail=f"{ended.detail}; unless done_when was met by then")

    def _renumbered(self, command: Command) -> Command:
        return replace(command, doubted=self._ids.get(command.doubted, 0)) if isinstance(command, Verify) else command

    def _at_the_end(self, end: Finish | None, recorded: Finish) -> _Parting | None:
        if end is None:
            return _went_on(recorded)
        self._ids[recorded.id] = end.id
        if (end.reason, end.detail) != (recorded.reason, recorded.detail):
            self._note = f"it would have ended at the same point, as {why(end)} instead of {why(recorded)}"
        return None

    def _learn(self, ours: Commands, theirs: Commands) -> None:
        for kind in (False, True):
            mine, its = ([one for one in some if isinstance(one, Wait) is kind] for some in (ours, theirs))
            self._ids.update((it.id, my.id) for my, it in zip(mine, its, strict=False))


def _pending(run: Run, number: int) -> Issued | None:
    return next((one for one in run.pending if one.command.id == number), None)


def _last_resort(run: Run) -> End | None:
    """How it ends, if it is only being checked whether the task is done all the same."""
    return run.phase.otherwise if isinstance(run.phase, Concluding) else None


def _went_on(recorded: Finish | End) -> _Parting:
    detail = f"the recorded run ended there ({why(recorded)}), this one would have gone on"
    return _Parting(verdict="not_recorded", detail=detail)


def _undetermined(detail: str) -> _Parting:
    return _Parting(verdict="undetermined", detail=detail)
