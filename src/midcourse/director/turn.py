"""Shared by all handlers: the shape of a turn, and the only way to issue a command."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from midcourse.domain.budget import FREE, Cost, Limits, Spent, total
from midcourse.domain.command import Command
from midcourse.domain.event import Accounted, Answer
from midcourse.domain.failure import Attempt
from midcourse.domain.move import End, Move, Report
from midcourse.domain.observation import ObservationRef
from midcourse.domain.phase import Phase
from midcourse.domain.replace import replace
from midcourse.domain.run import Counts, Issued, Run
from midcourse.policy.failure.classification import classify, may_pass
from midcourse.policy.spending import affords, book, is_past_deadline, seconds_left, worst_plan

REFUSALS = ("already_finished", "repeats_failure")
"""Reasons why a step was turned down before it was tried: the plan is at fault, not the step."""

MOST_ATTEMPTS = 100
"""How many failed tries a run remembers; the planner is told of all of them from the store."""


@dataclass(frozen=True)
class Rest:
    """No further move: wait in this phase."""

    phase: Phase


Turn: TypeAlias = tuple[Run, Move | Rest]


def issue(run: Run, phase: Phase, make: Callable[[int, float], Command], *, seconds: float, worst: Cost = FREE) -> Turn:
    """Reserve the worst case, send the command out and wait for it in `phase`; or end the run.

    `make` gets the command's id and how long it may take: never longer than what is left of the run's time.
    """
    if is_past_deadline(run):
        return run, End(reason="deadline_exceeded", detail=f"{run.limits.deadline_seconds:g} s have passed")
    if not affords(run, worst):
        return run, End(reason="budget_exhausted", detail=_short_of(run, worst))
    time = seconds_left(run)
    if time <= 0:
        return run, End(reason="budget_exhausted", detail=f"{run.limits.max_wall_seconds:g} s of work are used up")
    return send(run, make(run.next_id, min(seconds, time)), worst), Rest(phase)


SHARE = 0.25
"""Of the time that is left, at most, for a command to an adviser."""


def can_wait(run: Run, plans: int = 1) -> bool:
    """Whether this many plans can still be paid for after one more call, which an adviser is about to make."""
    worst = worst_plan(run.limits)
    together = worst
    for _ in range(plans):
        together = together.plus(worst)
    return affords(run, together) and seconds_left(run) > 0


def issue_aside(
    run: Run, phase: Phase, make: Callable[[int, float], Command], *, due: float | None, otherwise: Move
) -> Turn:
    """As `issue`, for advisers: at most one call and a share of the time, and `otherwise` instead of ending the run."""
    time = seconds_left(run) if due is None else min(seconds_left(run), due - run.now)
    if time <= 0:
        return run, otherwise
    seconds = min(run.limits.plan_timeout_seconds, SHARE * time)
    then, rest = issue(run, phase, make, seconds=seconds, worst=worst_plan(run.limits))
    return (then, rest) if isinstance(rest, Rest) else (run, otherwise)


def send(run: Run, command: Command, reserved: Cost = FREE) -> Run:
    """Issue a command without checking the budget: for what must always be possible, such as ending."""
    return replace(
        run,
        next_id=run.next_id + 1,
        pending=(*run.pending, Issued(command=command, reserved=reserved, at=run.now)),
        budget=replace(run.budget, reserved=run.budget.reserved.plus(reserved)),
    )


def settle(run: Run, answer: Answer) -> tuple[Run, Issued | None]:
    """Take the answered command off `pending` and turn its reservation into what it really cost. None: too late."""
    issued = next((item for item in run.pending if item.command.id == answer.answers), None)
    if issued is None:
        return run, None
    cost = _excess(answer.cost, FREE)  # a negative cost is a mistake of the component that reports it
    over = _limited(run.limits, _excess(cost, issued.reserved))
    return (
        replace(
            run,
            spent=book(run.spent, _accounts(answer, cost)),
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
    """Give up all commands under way. What was reserved for them may have been spent, so all of it counts as spent."""
    unknown = book(run.spent, (Spent(cost=run.budget.reserved),))
    return replace(
        run, pending=(), spent=unknown, budget=replace(run.budget, spent=run.budget.committed, reserved=FREE)
    )


def _accounts(answer: Answer, cost: Cost) -> tuple[Spent, ...]:
    """Who spent it, if that is said and adds up."""
    if isinstance(answer, Accounted) and total(answer.spent) == cost:
        return answer.spent
    return (Spent(cost=cost),)


def see(run: Run, seen: ObservationRef | None) -> Run:
    """Take in what was seen. Nothing seen: the last observation stays, marked stale."""
    if seen is None:
        seen = replace(run.seen, stale=True) if run.seen else None
    return replace(run, seen=seen, look_first=False)


def lose_world(run: Run) -> Run:
    """The session is gone: finished steps may be undone, the plan is void, and the new session must be observed."""
    return replace(fresh_session(count(run, reopenings=1)), look_first=True)


def fresh_session(run: Run) -> Run:
    """Forget failures of the last session: in a new one the same step may work on a screen that looks the same."""
    return replace(run, reopened=True, attempts=(), walked=(), watch=replace(run.watch, since=run.next_id))


def seen_fingerprint(run: Run) -> str:
    return run.seen.fingerprint if run.seen else ""


def count(run: Run, **more: int) -> Run:
    """Add to the run's counters by name."""
    counts: Counts = replace(run.counts, **{name: getattr(run.counts, name) + n for name, n in more.items()})
    return replace(run, counts=counts)


def remember(run: Run, move: Report) -> Run:
    """The same failure between the same two screens is counted; every other is listed."""
    attempt = Attempt(
        call=move.step.call,
        before=move.before,
        after=seen_fingerprint(run),
        reason=move.reason,
        at=run.now,
        passing=may_pass(move.reason, classify(move.reason, move.detail, run.limits.failures)),
    )
    same = next((a for a in run.attempts if replace(a, at=run.now, count=1) == attempt), None)
    others = tuple(a for a in run.attempts if a is not same)
    attempt = replace(attempt, count=1 + same.count if same else 1)
    return replace(run, attempts=(*others, attempt)[-MOST_ATTEMPTS:])


def look_into_deferred(run: Run, *, concludes: bool = False) -> Turn:
    """Find out now whether the step that was put off happened: other steps may have led to where that can be seen."""
    assert run.deferred is not None, "nothing was put off"
    return replace(run, deferred=None), replace(run.deferred, purpose="deferred", concludes=concludes)


def finish_identity(run: Run, identity: str) -> Run:
    """From now on no plan may do this again."""
    if not identity or identity in run.finished_irreversible:
        return run
    return replace(run, finished_irreversible=(*run.finished_irreversible, identity))


def unfinish_identity(run: Run, identity: str) -> Run:
    """There is evidence that it did not happen after all."""
    return replace(run, finished_irreversible=tuple(i for i in run.finished_irreversible if i != identity))


def advise(run: Run, guidance: str) -> Run:
    """Keep a person's words for the plans to come: the last ten, each cut to a paragraph."""
    text = guidance.strip()[:500]
    return replace(run, guidance=(*run.guidance, text)[-10:]) if text else run


def _excess(cost: Cost, reserved: Cost) -> Cost:
    return Cost(
        calls=max(0, cost.calls - reserved.calls),
        tokens=max(0, cost.tokens - reserved.tokens),
        microusd=max(0, cost.microusd - reserved.microusd),
    )


def _limited(limits: Limits, over: Cost) -> Cost:
    """A dimension without a ceiling cannot be overrun: tokens may be reported without a limit on them."""
    return Cost(
        calls=over.calls,
        tokens=0 if limits.max_tokens is None else over.tokens,
        microusd=0 if limits.max_cost_usd is None else over.microusd,
    )


def _short_of(run: Run, worst: Cost) -> str:
    used, limits = run.budget.committed, run.limits
    if used.calls + worst.calls > limits.max_calls:
        return f"{used.calls} of {limits.max_calls} calls are used, and the next command may take {worst.calls}"
    if limits.max_tokens is not None and used.tokens + worst.tokens > limits.max_tokens:
        return f"{used.tokens} of {limits.max_tokens} tokens are used, and the next command may take {worst.tokens}"
    return f"${used.microusd / 1e6:.2f} are spent, and the next command may take ${worst.microusd / 1e6:.2f}"
