"""Functions that all handlers share: the type of a turn, and the only way to issue a command."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from midcourse.domain import moves, phases
from midcourse.domain.budget import FREE, Cost, Limits, Spent, total
from midcourse.domain.commands import Command
from midcourse.domain.events import Accounted, Answer
from midcourse.domain.failure import Attempt
from midcourse.domain.observation import ObservationRef
from midcourse.domain.replace import replace
from midcourse.domain.run import Counts, Issued, Progress, Run
from midcourse.policy.failure.classification import classify, may_pass
from midcourse.policy.identity import digest_of
from midcourse.policy.plan.admission import MISSING_RESULTS
from midcourse.policy.spending import (
    add_costs,
    can_afford,
    compute_ceiling,
    is_past_deadline,
    propose_more,
    seconds_left,
    worst_plan,
)

REFUSALS = ("already_finished", "repeats_failure")
"""Reasons why a step was refused before it was tried: the plan is at fault, not the step."""

MOST_ATTEMPTS = 100
"""Failed tries that a run remembers; the planner gets all of them from the store."""


@dataclass(frozen=True)
class Rest:
    """No further move: wait in this phase."""

    phase: phases.Phase


Turn: TypeAlias = tuple[Run, moves.Move | Rest]


def issue(
    run: Run, phase: phases.Phase, make: Callable[[int, float], Command], *, seconds: float, worst: Cost = FREE
) -> Turn:
    """Reserve the worst case, issue the command and wait for it in `phase`; or end the run, or ask for more.

    `make` gets the command's id and its timeout, which is never longer than the run's remaining time.
    """
    if is_past_deadline(run):
        return run, moves.End(reason="deadline_exceeded", detail=f"{run.limits.deadline_seconds:g} s have passed")
    time = seconds_left(run)
    if not can_afford(run, worst):
        out = moves.End(reason="budget_exhausted", detail=_describe_shortage(run, worst))
        # A doubt does not wait for money: what shows whether something happened may be gone when the answer comes.
        if (
            time <= 0
            or not run.asks_for_more
            or not isinstance(phase, phases.Repeatable)
            or isinstance(phase, phases.Verifying)
        ):
            return run, out
        more = propose_more(run, worst)
        then = repeat_command(phase)
        return run, moves.Ask(
            about="more", steps=(), purpose="segment", then=then, detail=out.detail, more=more, otherwise=out
        )
    if time <= 0:
        return run, moves.End(
            reason="budget_exhausted", detail=f"{run.limits.max_wall_seconds:g} s of work are used up"
        )
    return send(run, make(run.next_id, min(seconds, time)), worst), Rest(phase)


def repeat_command(phase: phases.Repeatable) -> moves.Move:
    """The move that issues the command again that this phase waits for."""
    match phase:
        case phases.Opening():
            return moves.Open(then=phase.then, failures=phase.failures)
        case phases.Looking():
            return moves.Look(then=phase.then, failures=phase.failures)
        case phases.Planning():
            return phase.asked
        case phases.Advising():
            return moves.Begin() if phase.drafted else phase.then
        case phases.Acting():
            return phase.doing
        case phases.Verifying():
            return phase.doubt
        case phases.Trying() | phases.Weighing():
            return phase.asked
        case phases.Undoing():
            return moves.Revert()
        case phases.Concluding():
            return moves.Conclude(detail=phase.detail, otherwise=phase.otherwise, turn=phase.turn)
        case _:
            assert_never(phase)


ADVISER_TIME_SHARE = 0.25
"""The maximum share of the remaining time for a command to an adviser."""


def can_afford_adviser(run: Run, plans: int = 1) -> bool:
    """Whether this number of plans can still be paid for after one call to an adviser."""
    worst = worst_plan(run.limits)
    together = worst
    for _ in range(plans):
        together = together.plus(worst)
    return can_afford(run, together) and seconds_left(run) > 0


def issue_to_adviser(
    run: Run, phase: phases.Phase, make: Callable[[int, float], Command], *, due: float | None, otherwise: moves.Move
) -> Turn:
    """Issue a command like `issue`, for advisers: at most one call and a share of the time, and `otherwise` instead of ending."""
    time = seconds_left(run) if due is None else min(seconds_left(run), due - run.budget.active_seconds)
    if time <= 0:
        return run, otherwise
    seconds = min(run.limits.plan_timeout_seconds, ADVISER_TIME_SHARE * time)
    after, nxt = issue(run, phase, make, seconds=seconds, worst=worst_plan(run.limits))
    return (after, nxt) if isinstance(nxt, Rest) else (run, otherwise)


def send(run: Run, command: Command, reserved: Cost = FREE) -> Run:
    """Issue a command without checking the budget, for commands that must always be possible, such as `Finish`."""
    return replace(
        run,
        next_id=run.next_id + 1,
        pending=(*run.pending, Issued(command=command, reserved=reserved, at=run.now)),
        budget=replace(run.budget, reserved=run.budget.reserved.plus(reserved)),
    )


def settle(run: Run, answer: Answer) -> tuple[Run, Issued | None]:
    """Remove the answered command from `pending` and replace its reservation by its actual cost. None: the answer is late."""
    issued = next((item for item in run.pending if item.command.id == answer.answers), None)
    if issued is None:
        return run, None
    cost = _excess(answer.cost, FREE)  # a negative cost is an error of the component that reports it
    over = _limited_overrun(run.limits, _excess(cost, issued.reserved))
    return (
        replace(
            run,
            spent=add_costs(run.spent, _cost_by_role(answer, cost)),
            pending=tuple(item for item in run.pending if item is not issued),
            budget=replace(
                run.budget,
                spent=run.budget.spent.plus(cost),
                reserved=run.budget.reserved.minus(issued.reserved),
            ),
            overrun=run.overrun.plus(over),
        ),
        issued,
    )


def withdraw(run: Run) -> Run:
    """Give up all commands under way. Their reservations may have been spent, so they count as spent."""
    unknown = add_costs(run.spent, (Spent(cost=run.budget.reserved),))
    return replace(
        run, pending=(), spent=unknown, budget=replace(run.budget, spent=run.budget.committed, reserved=FREE)
    )


def _cost_by_role(answer: Answer, cost: Cost) -> tuple[Spent, ...]:
    """The cost by role, if the answer reports it and it adds up."""
    if isinstance(answer, Accounted) and total(answer.spent) == cost:
        return answer.spent
    return (Spent(cost=cost),)


def update_seen(run: Run, seen: ObservationRef | None) -> Run:
    """Update the observation. None: the last one stays, marked stale."""
    if seen is None:
        seen = replace(run.seen, stale=True) if run.seen else None
    run = replace(run, seen=seen, look_first=False)
    return run if seen is None or seen.stale else note(run, seen.fingerprint, seen.view)


MOST_KNOWN = 200
"""The number of digests that a run keeps to tell what is new: a run must stay small, and a longer loop ends by other limits."""


def note(run: Run, *what: str) -> Run:
    """Note a screen, an effect, a result or a person's words: it is progress if it is new to the run."""
    if run.format < 4:
        return run
    digest = digest_of(*what, size=4)
    if digest in run.progress.known:
        return run
    known = (*run.progress.known, digest)[-MOST_KNOWN:]
    return replace(run, progress=replace(run.progress, known=known, fresh=True))


def take_stock(run: Run) -> Run:
    """Begin another plan: count it as idle if nothing was new since the one before."""
    idle = 0 if run.progress.fresh else run.progress.idle + 1
    return replace(run, progress=replace(run.progress, fresh=False, idle=idle))


def lose_world(run: Run) -> Run:
    """Record a lost session: finished steps may be undone, the plan is void, and the new session must be observed."""
    return replace(forget_session(count(run, reopenings=1)), look_first=True)


def forget_session(run: Run) -> Run:
    """Forget the last session: in a new one, a step that failed may work on the same screen, and what worked is new again."""
    watch = replace(run.watch, since=run.next_id)
    return replace(run, reopened=True, attempts=(), remembered_plans=(), watch=watch, progress=Progress())


def find_current_view(run: Run) -> ObservationRef | None:
    """The last observation; None if there is none, or the screen may have changed since."""
    return None if run.seen is None or run.seen.stale else run.seen


def ensure_view(run: Run, move: moves.Move) -> moves.Move:
    """The move, after an observation if there is no current one."""
    return move if find_current_view(run) else moves.Look(then=move)


def seen_fingerprint(run: Run) -> str:
    return run.seen.fingerprint if run.seen else ""


def count(run: Run, **more: int) -> Run:
    """Add to the run's counters by name."""
    counts: Counts = replace(run.counts, **{name: getattr(run.counts, name) + n for name, n in more.items()})
    return replace(run, counts=counts)


def remember(run: Run, move: moves.Report) -> Run:
    """Remember a failed try. The same failure between the same two screens increases a count."""
    found = classify(move.reason, move.detail, run.limits.failures)
    attempt = Attempt(
        call=move.step.call,
        before=move.before,
        after=seen_fingerprint(run),
        reason=move.reason,
        at=run.now,
        passing=may_pass(move.reason, found),
        barred=run.bars_structural and run.limits.structural_stop and found.nature == "structural",
        completed=run.counts.completed if move.reason in MISSING_RESULTS else None,
    )
    same = next(
        (a for a in run.attempts if replace(a, at=run.now, count=1, completed=attempt.completed) == attempt), None
    )
    others = tuple(a for a in run.attempts if a is not same)
    attempt = replace(attempt, count=1 + same.count if same else 1)
    return replace(run, attempts=(*others, attempt)[-MOST_ATTEMPTS:])


def check_deferred(run: Run, *, concludes: bool = False) -> Turn:
    """Check now whether the deferred step happened: other steps may have led to where that is visible."""
    assert run.deferred is not None, "nothing was deferred"
    return replace(run, deferred=None), replace(run.deferred, purpose="deferred", concludes=concludes)


def finish_identity(run: Run, identity: str) -> Run:
    """Mark an effect as finished: no plan may repeat it."""
    if not identity or identity in run.finished_irreversible:
        return run
    return replace(run, finished_irreversible=(*run.finished_irreversible, identity))


def unfinish_identity(run: Run, identity: str) -> Run:
    """Unmark an effect, after evidence that it did not happen."""
    return replace(run, finished_irreversible=tuple(i for i in run.finished_irreversible if i != identity))


def add_guidance(run: Run, guidance: str) -> Run:
    """Keep a person's guidance for later plans: the last ten texts, each shortened."""
    text = guidance.strip()[:500]
    return note(replace(run, guidance=(*run.guidance, text)[-10:]), "guidance", text) if text else run


def _excess(cost: Cost, reserved: Cost) -> Cost:
    return Cost(
        calls=max(0, cost.calls - reserved.calls),
        tokens=max(0, cost.tokens - reserved.tokens),
        microusd=max(0, cost.microusd - reserved.microusd),
        at_most=cost.at_most,
    )


def _limited_overrun(limits: Limits, over: Cost) -> Cost:
    """The overrun of dimensions with a ceiling; the others cannot be overrun."""
    return Cost(
        calls=over.calls,
        tokens=0 if limits.max_tokens is None else over.tokens,
        microusd=0 if limits.max_cost_usd is None else over.microusd,
    )


def _describe_shortage(run: Run, worst: Cost) -> str:
    used, most = run.budget.committed, compute_ceiling(run)
    if used.calls + worst.calls > most.calls:
        return f"{used.calls} of {most.calls} calls are used, and the next command may take {worst.calls}"
    if used.tokens + worst.tokens > most.tokens:
        return f"{used.tokens} of {most.tokens} tokens are used, and the next command may take {worst.tokens}"
    spent, ceiling, next_one = (each.microusd / 1e6 for each in (used, most, worst))
    return f"${spent:.2f} of ${ceiling:.2f} are spent, and the next command may take ${next_one:.2f}"
