"""Replays a recorded run through `decide`: as it was, or under other limits up to the first difference."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from midcourse.director.decide import take_turn
from midcourse.director.lost import answer_for_lost
from midcourse.domain import commands, events, moves, phases
from midcourse.domain.budget import Limits
from midcourse.domain.run import Issued, Run
from midcourse.policy.spending import worst_plan
from midcourse.replay.equivalence import (
    asks_person,
    describe,
    describe_commands,
    describe_difference,
    describe_end,
    find_end,
    find_timeout,
    normalize,
)
from midcourse.replay.recorded import Commands, RecordedTurn, Replayed, Verdict, build_result

TICK = 0.001
"""Seconds after a time-out at which it has certainly passed, allowing for rounding."""
SLACK = 0.1
"""Seconds by which two clocks may disagree on whether something took as long as it was allowed to."""


GIVEN_UP = (
    commands.OpenWorld,
    commands.Observe,
    commands.MakePlan,
    commands.Act,
    commands.PlanTry,
    commands.JudgeCloseness,
    commands.Advise,
)
"""Commands for which there is only one answer if they take too long."""

CHARGED = (events.Planned, events.TryPlanned, events.ClosenessJudged, events.Advised)
"""Events that cost the reserved amount if no answer came."""


def replay(opening: Run, rows: Iterable[RecordedTurn], limits: Limits | None = None) -> Replayed:
    """Replay the recorded turns from this state on, with these limits in place of the recorded ones."""
    rows = tuple(rows)
    states: list[Run] = [opening]
    issued: list[Commands] = []
    for row in rows:
        run, found = take_turn(states[-1], row.event)
        states.append(run)
        issued.append(found)
        if (run.seq, _without_end_details(found)) != (row.seq, _without_end_details(row.commands)):
            recorded, now = describe_commands(row.commands), describe_commands(found)
            says = f"nondeterminism at event {row.seq}: recorded {recorded}, now {now}"
            return build_result("nondeterminism", run, run, issued, at=row.seq, detail=says)
    if limits is None or limits == opening.limits:
        return build_result("identical", states[-1], states[-1], issued)
    return ChangedReplay(opening, states, limits).walk(rows)


def _without_end_details(issued: Commands) -> Commands:
    """The commands without the wording of an end, which may have been improved since they were recorded."""
    return tuple(replace(command, detail="") if isinstance(command, commands.Finish) else command for command in issued)


def list_states(opening: Run, rows: Iterable[RecordedTurn]) -> tuple[Run, ...]:
    """The state before the first turn, and after each."""
    found = [opening]
    for row in rows:
        found.append(take_turn(found[-1], row.event)[0])
    return tuple(found)


def count_carried_out(opening: Run, rows: Iterable[RecordedTurn]) -> dict[int, int]:
    """How many steps of each plan version were carried out, including `__replan__`."""
    segments = [run.segment for run in list_states(opening, rows) if run.segment is not None]
    return {segment.version: segment.cursor for segment in segments}


# --- under other limits


@dataclass(frozen=True, kw_only=True)
class _Divergence:
    """How and why the two runs diverge."""

    verdict: Verdict
    detail: str


class ChangedReplay:
    """Replays the changed run beside the recorded one. Command ids may differ: a pause with a deadline has one more timer."""

    def __init__(self, opening: Run, states: Sequence[Run], limits: Limits) -> None:
        self._states = states
        self._old, self._new = opening.limits, limits
        self._run = replace(opening, limits=limits)
        self._issued: list[Commands] = []
        self._ids = {issued.command.id: issued.command.id for issued in opening.pending}
        self._note = ""

    def walk(self, rows: Sequence[RecordedTurn]) -> Replayed:
        for row, (before, after) in zip(rows, pairwise(self._states), strict=False):
            parting = self._check_event(row.event, before)
            if parting is None:
                event = self._with_own_ids(row.event)
                self._run, issued = take_turn(self._run, event)
                self._issued.append(issued)
                parting = self._compare(issued, row.commands, _end_after_check(after))
            if parting is not None:
                return self._build_result(parting, row.seq)
        return build_result("same_course", self._run, self._states[-1], self._issued, detail=self._note)

    def _build_result(self, parting: _Divergence, at: int) -> Replayed:
        return build_result(parting.verdict, self._run, self._states[-1], self._issued, at=at, detail=parting.detail)

    def _with_own_ids(self, event: events.Event) -> events.Event:
        if isinstance(event, events.Answer):
            return replace(event, answers=self._ids.get(event.answers, 0))
        if isinstance(event, events.ApprovalDecided):
            return replace(event, question=self._ids.get(event.question, 0))
        return event

    # --- whether the event would have happened, and in the same way

    def _check_event(self, event: events.Event, before: Run) -> _Divergence | None:
        fired = self._find_earlier_timer(event, before)
        if fired is not None:
            return self._try_end(fired) or _diverge_undetermined("a timer would have fired before")
        if not isinstance(event, events.Answer):
            return None
        theirs = _find_pending(before, event.answers)
        ours = _find_pending(self._run, self._ids.get(event.answers, 0))
        if theirs is None or ours is None:
            return None
        return self._compare_patience(event, theirs, ours) or self._check_answer(event, theirs.command)

    def _find_earlier_timer(self, event: events.Event, before: Run) -> events.TimerFired | None:
        """A timer of a question or a pause that would have fired before this event."""
        for theirs in before.pending:
            ours = _find_pending(self._run, self._ids.get(theirs.command.id, 0))
            if (
                ours is None
                or not isinstance(theirs.command, commands.Wait)
                or not isinstance(ours.command, commands.Wait)
            ):
                continue
            due = ours.at + ours.command.seconds
            if ours.command.seconds < theirs.command.seconds and due <= event.at:
                return events.TimerFired(answers=ours.command.id, at=due)
        for ours in self._run.pending:
            if isinstance(ours.command, commands.Wait) and ours.command.id not in self._ids.values():
                due = ours.at + ours.command.seconds
                if due <= event.at:
                    return events.TimerFired(answers=ours.command.id, at=due)
        return None

    def _compare_patience(self, event: events.Answer, theirs: Issued, ours: Issued) -> _Divergence | None:
        """The divergence, if the answer came in time for only one of the two runs.

        If the process died during the command, it is unknown when: the time without a process counts as work.
        """
        if isinstance(theirs.command, commands.Wait) and isinstance(ours.command, commands.Wait):
            waits, waited = ours.command.seconds, theirs.command.seconds
            if waited < waits and event.at < ours.at + waits:
                detail = f"the recorded run stopped waiting after {waited:g} s, this one would have waited {waits:g} s"
                return _Divergence(verdict="not_recorded", detail=detail)
            return None
        patience = self._allowed_seconds(ours.command, self._new, event)
        allowed = self._allowed_seconds(theirs.command, self._old, event)
        took, doing = event.at - ours.at, describe(theirs.command)
        if patience < allowed and took > patience:
            given_up = self._build_timeout_answer(ours.command, event, min(event.at, ours.at + patience + TICK))
            if patience == find_timeout(ours.command) and given_up and (ended := self._try_end(given_up)):
                return ended
            return _diverge_undetermined(
                f"to {doing} took {took:.1f} s, and would have been given up after {patience:g} s"
            )
        if patience > allowed and took + SLACK >= allowed:
            return _diverge_undetermined(
                f"to {doing} was given up after {allowed:g} s, and would have been given more time"
            )
        return None

    def _allowed_seconds(self, command: commands.Command, limits: Limits, event: events.Answer) -> float:
        """The seconds that a command may take. The duration of its parts was not recorded, so the shortest changed limit counts."""
        times = [find_timeout(command)]
        acts = isinstance(command, commands.Act | commands.Verify)
        reads = isinstance(event, events.Planned) and any(step.effect == "irreversible" for step in event.steps)
        if acts and self._old.act_timeout_seconds != self._new.act_timeout_seconds:
            times.append(limits.act_timeout_seconds)
        if (acts or reads) and self._old.look_timeout_seconds != self._new.look_timeout_seconds:
            times.append(limits.look_timeout_seconds)
        models = self._old.reads_words and (acts or isinstance(command, commands.CheckDone))
        if models and self._old.plan_timeout_seconds != self._new.plan_timeout_seconds:
            times.append(limits.plan_timeout_seconds)
        return min(times)

    def _build_timeout_answer(self, command: commands.Command, event: events.Answer, at: float) -> events.Answer | None:
        """The answer of a command that ran out of time, if there is only one. Its cost is the recorded one."""
        answer = answer_for_lost(command, event.cost)
        if not isinstance(command, GIVEN_UP) or not isinstance(answer, events.Answer):
            return None
        return replace(answer, at=at)

    def _check_answer(self, event: events.Answer, command: commands.Command) -> _Divergence | None:
        """The divergence, if a limit was changed that the answer itself depends on."""
        old, new = self._old, self._new
        looks = isinstance(command, commands.Act | commands.Verify) or (
            isinstance(command, commands.Observe) and not command.free
        )
        looks = looks or (isinstance(command, commands.CheckDone) and command.look)
        if looks and old.look_calls != new.look_calls and not (isinstance(event, events.Acted) and not event.looked):
            return _diverge_undetermined("what a look costs was changed, and the recorded looks cost what they did")
        charged = isinstance(event, CHARGED)
        if charged and event.verdict in ("transport", "garbage") and worst_plan(old) != worst_plan(new):
            return _diverge_undetermined("what a planner call that failed is charged was changed")
        thinks = isinstance(command, commands.Observe | commands.Act | commands.Verify | commands.CheckDone)
        if thinks and (old.vision, old.reads_words) != (new.vision, new.reads_words):
            return _diverge_undetermined("whether a model reads was changed, and its answer is unknown")
        asked = isinstance(event, events.Acted) and event.ruled in ("ask", "proven")
        if asked and (old.approvals == "never") != (new.approvals == "never"):
            return _diverge_undetermined("whether a step is asked about that passes on what was entered was changed")
        if not isinstance(event, events.Planned):
            return None
        if self._run.has_detours and bool(old.detour_iterations) != bool(new.detour_iterations):
            return _diverge_undetermined("the planner would have been told otherwise about detours")
        steps = sum(step.place != "replan" for step in event.steps)
        if new.max_plan_steps < steps:
            return _diverge_undetermined(f"the plan of {steps} steps would have been cut after {new.max_plan_steps}")
        if old.max_plan_steps <= steps and new.max_plan_steps > old.max_plan_steps:
            return _diverge_undetermined(f"the plan may have been cut after {old.max_plan_steps} steps")
        adaptive = (old.approvals == "adaptive") != (new.approvals == "adaptive")
        if adaptive and any(step.effect == "reversible" for step in event.steps):
            return _diverge_undetermined(
                "whether people had agreed to the like of its reversible steps was not recorded"
            )
        return None

    # --- whether the same commands would follow

    def _try_end(self, event: events.Event) -> _Divergence | None:
        """Take this event if it ends the run, and return the divergence; otherwise leave the run as it is and return None."""
        run, issued = take_turn(self._run, event)
        end = find_end(issued)
        if end is None:
            return None
        self._run = run
        self._issued.append(issued)
        return _Divergence(verdict="ends_earlier", detail=describe_end(end))

    def _compare(self, ours: Commands, theirs: Commands, gave_up: moves.End | None) -> _Divergence | None:
        end, recorded_end = find_end(ours), find_end(theirs)
        if recorded_end is not None:
            return self._compare_ends(end, recorded_end)
        if end is not None:
            return _Divergence(verdict="ends_earlier", detail=describe_end(end))
        if asks_person(ours) and not asks_person(theirs):
            detail = f"instead of going on to {describe_commands(theirs)}"
            return _Divergence(verdict="asks_earlier", detail=detail)
        self._match_ids(ours, theirs)
        mine, its = normalize(ours), tuple(self._with_own_doubt(command) for command in normalize(theirs))
        if mine == its:
            return None
        if gave_up is not None:
            return _diverge_unrecorded(gave_up)
        if _end_after_check(self._run) is not None:
            return self._end_after_failed_check(ours)
        return _diverge_undetermined(describe_difference(mine, its))

    def _end_after_failed_check(self, ours: Commands) -> _Divergence | None:
        """The end of a run that would only have checked once more whether the task is done."""
        check = next(command for command in ours if isinstance(command, commands.CheckDone))
        self._issued.pop()
        ended = self._try_end(events.DoneChecked(answers=check.id, at=self._run.now))
        return ended and replace(ended, detail=f"{ended.detail}; unless done_when was met by then")

    def _with_own_doubt(self, command: commands.Command) -> commands.Command:
        return (
            replace(command, doubted=self._ids.get(command.doubted, 0))
            if isinstance(command, commands.Verify)
            else command
        )

    def _compare_ends(self, end: commands.Finish | None, recorded: commands.Finish) -> _Divergence | None:
        if end is None:
            return _diverge_unrecorded(recorded)
        self._ids[recorded.id] = end.id
        if (end.reason, end.detail) != (recorded.reason, recorded.detail):
            self._note = (
                f"it would have ended at the same point, as {describe_end(end)} instead of {describe_end(recorded)}"
            )
        return None

    def _match_ids(self, ours: Commands, theirs: Commands) -> None:
        for kind in (False, True):
            mine, its = (
                [command for command in some if isinstance(command, commands.Wait) is kind] for some in (ours, theirs)
            )
            self._ids.update((it.id, my.id) for my, it in zip(mine, its, strict=False))


def _find_pending(run: Run, number: int) -> Issued | None:
    return next((issued for issued in run.pending if issued.command.id == number), None)


def _end_after_check(run: Run) -> moves.End | None:
    """The end of a run that only checks whether the task is done before it ends; None for any other run."""
    otherwise = run.phase.otherwise if isinstance(run.phase, phases.Concluding) else None
    return otherwise if isinstance(otherwise, moves.End) else None


def _diverge_unrecorded(recorded: commands.Finish | moves.End) -> _Divergence:
    detail = f"the recorded run ended there ({describe_end(recorded)}), this one would have gone on"
    return _Divergence(verdict="not_recorded", detail=detail)


def _diverge_undetermined(detail: str) -> _Divergence:
    return _Divergence(verdict="undetermined", detail=detail)
