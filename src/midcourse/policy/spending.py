"""Budgets: ceilings on calls, tokens, money and time, and the cost by role, plan and model."""

from midcourse.domain.budget import FREE, Cost, Limits, Spent
from midcourse.domain.commands import AskPerson, Command, Finish, Record, Wait
from midcourse.domain.replace import replace
from midcourse.domain.run import Run

MICRO = 1_000_000
UNLIMITED = 2**62


def compute_max_cost(limits: Limits) -> Cost:
    """The ceiling that a run begins with."""
    return Cost(
        calls=limits.max_calls,
        tokens=UNLIMITED if limits.max_tokens is None else limits.max_tokens,
        microusd=UNLIMITED if limits.max_cost_usd is None else convert_to_microusd(limits.max_cost_usd),
    )


def compute_ceiling(run: Run) -> Cost:
    """The ceiling of the run now: its limits, and what people have allowed beyond them."""
    ceiling = compute_max_cost(run.limits)
    for granted in run.raises:
        ceiling = ceiling.plus(granted.more)
    return ceiling


def convert_to_microusd(usd: float) -> int:
    return round(usd * MICRO)


def remaining_cost(run: Run) -> Cost:
    return compute_ceiling(run).minus(run.budget.committed)


def can_afford(run: Run, worst: Cost) -> bool:
    return worst.within(remaining_cost(run))


def propose_more(run: Run, worst: Cost) -> Cost:
    """What a person is asked for where this command does not fit: as much again as the run began with, and at least what is missing.

    A look is counted in, since the world is looked at after an answer: the command itself must fit then, or it is asked for again.
    """
    first, left, needed = compute_max_cost(run.limits), remaining_cost(run), worst.plus(worst_look(run.limits))
    return Cost(
        calls=max(first.calls, needed.calls - left.calls) if needed.calls > left.calls else 0,
        tokens=max(first.tokens, needed.tokens - left.tokens) if needed.tokens > left.tokens else 0,
        microusd=max(first.microusd, needed.microusd - left.microusd) if needed.microusd > left.microusd else 0,
    )


def worst_plan(limits: Limits) -> Cost:
    return Cost(calls=1, tokens=limits.plan_tokens, microusd=convert_to_microusd(limits.plan_cost_usd))


def worst_look(limits: Limits) -> Cost:
    """The maximum cost of one observation, including the reader if there is one."""
    flat = Cost(calls=limits.look_calls)
    return flat.plus(worst_plan(limits)) if limits.vision else flat


def worst_reading(limits: Limits) -> Cost:
    """The maximum cost of checking a verbal expectation."""
    return worst_plan(limits) if limits.reads_words else FREE


def is_near_ceiling(run: Run) -> bool:
    """Whether the share `wrap_up_at` of some ceiling is used, so that the run should wrap up."""
    used, limit, share = run.budget.committed, compute_ceiling(run), run.limits.wrap_up_at
    return (
        used.calls >= share * limit.calls
        or used.tokens >= share * limit.tokens
        or used.microusd >= share * limit.microusd
        or run.counts.segments >= share * run.limits.max_segments
        or run.budget.active_seconds >= share * run.limits.max_wall_seconds
    )


def seconds_worked(run: Run, until: float) -> float:
    """Active seconds since the last event. A command counts at most with its timeout: the rest was a queue or a dead worker."""
    due = max((issued.at + _most_seconds(issued.command) for issued in run.pending), default=until)
    return max(0.0, min(until, due) - run.now)


def _most_seconds(command: Command) -> float:
    match command:
        case Wait():
            return command.seconds
        case AskPerson() | Record() | Finish():
            return float("inf")  # the run waits or is over
        case _:
            return command.timeout


def seconds_left(run: Run) -> float:
    """Seconds until the wall-time ceiling or the deadline, whichever is nearer."""
    return min(run.limits.max_wall_seconds - run.budget.active_seconds, seconds_to_deadline(run))


def seconds_to_deadline(run: Run) -> float:
    if run.limits.deadline_seconds is None:
        return float("inf")
    return run.started_at + run.limits.deadline_seconds - run.now


def is_past_deadline(run: Run) -> bool:
    return seconds_to_deadline(run) <= 0


MOST_LINES = 60
"""The maximum number of lines, since a run must stay small. Beyond that, the earliest plans are merged into a line per role and model."""


def add_costs(lines: tuple[Spent, ...], more: tuple[Spent, ...]) -> tuple[Spent, ...]:
    """The lines with these costs added. Their sum is always what was spent."""
    kept = lines
    for spent in more:
        if spent.cost != FREE:
            kept = _add_line(kept, spent)
    while len(kept) > MOST_LINES and (versioned := [line for line in kept if line.version]):
        early = min(versioned, key=lambda line: line.version)
        kept = _add_line(tuple(line for line in kept if line is not early), replace(early, version=0))
    return kept


def _add_line(lines: tuple[Spent, ...], spent: Spent) -> tuple[Spent, ...]:
    for place, line in enumerate(lines):
        if (line.role, line.version, line.model) == (spent.role, spent.version, spent.model):
            return (*lines[:place], replace(line, cost=line.cost.plus(spent.cost)), *lines[place + 1 :])
    return (*lines, spent)
