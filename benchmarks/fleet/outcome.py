"""Counts of a trial: effects and acts from the office's log, plans from the planner's notes.

lost                 the run did not end with verified success, or an effect is missing
repeated             visits to a counter after the run had continued past it, or had recorded its outcome
irreversible_twice   irreversible effects beyond the first, for one counter of one run
reversible_twice     the same for reservations
asked                questions to the approver whether something had happened
asked_bar            irreversible visits that nothing could decide: without a probe, and lost with their driver or hit by a fault
over                 runs above any of their limits
unrecorded           acts in the office's log that are not in the run's journal
"""

import statistics
from collections import Counter as Tally
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.fleet.account import Account
from benchmarks.fleet.histories import replay
from benchmarks.fleet.tail import Tail
from benchmarks.fleet.task import Assignment
from benchmarks.fleet.tenant import TrialOptions
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.world import Line, read_log
from benchmarks.harness.replay_check import Replayed

CLAIMS = ("lost", "repeated", "irreversible_twice", "reversible_twice", "over", "unrecorded")
"""Counts that must be zero."""


@dataclass(frozen=True, kw_only=True)
class RunCounts:
    """The counts of one run."""

    lost: bool
    repeated: int
    irreversible_twice: int
    reversible_twice: int
    asked: int
    asked_bar: int
    over: list[str]
    unrecorded: int
    again: Replayed

    @property
    def wrong(self) -> bool:
        return any(getattr(self, claim) for claim in CLAIMS) or self.asked > self.asked_bar or self.again.differing > 0


def count_run(
    assignment: Assignment, account: Account, log: list[Line], calls: list[Mapping[str, Any]], *, replays: bool = True
) -> RunCounts:
    """Count one run. `log` and `calls` are those of this run. `replays`: whether its journal must replay, because one director decided it."""
    return RunCounts(
        lost=_is_lost(assignment, account, log),
        repeated=len(find_repeated(log, account.recorded)),
        irreversible_twice=_count_repeated_effects(assignment, log, "irreversible"),
        reversible_twice=_count_repeated_effects(assignment, log, "reversible"),
        asked=len(account.asked),
        asked_bar=len(find_undecidable(assignment, account, log)),
        over=find_exceeded_limits(assignment, account, log, calls) if account.result else [],
        unrecorded=sum(line.what == "began" and line.command not in account.steps for line in log),
        again=Replayed(1, not account.identical) if replays else Replayed(),
    )


@dataclass(frozen=True, kw_only=True)
class TrialCounts:
    """The counts of all runs of a trial."""

    accounts: list[Account]
    log: list[Line]
    counted: dict[str, RunCounts]
    summary: dict[str, Any]


async def count_all(
    options: TrialOptions,
    testbed: TestBed,
    assignments: Mapping[str, Assignment],
    accounts: list[Account],
    trouble: Mapping[str, str],
    *,
    replays: bool = True,
) -> TrialCounts:
    """Count all runs of a trial, and print the timeline of every run with something wrong."""
    log, calls = read_log(testbed.site.log), Tail(testbed.site.calls).read_new_lines()
    lines_by_run: dict[str, list[Line]] = defaultdict(list)
    for line in log:
        lines_by_run[line.run].append(line)
    calls_by_run: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for call in calls:
        calls_by_run[call["run"]].append(call)
    counts = {
        account.run: count_run(
            assignments[account.run], account, lines_by_run[account.run], calls_by_run[account.run], replays=replays
        )
        for account in accounts
    }
    for account in accounts:
        if counts[account.run].wrong:
            options.say(
                f"\n{account.run}: {counts[account.run]}\n{assignments[account.run]}\n{account.result}\n{account.format_timeline(lines_by_run[account.run])}"
            )
    summary = _summarize(counts)
    summary["replays"] = asdict(await replay([account.histories for account in accounts]))
    if trouble:
        summary["trouble"] = dict(trouble)
    return TrialCounts(accounts=accounts, log=log, counted=counts, summary=summary)


def _summarize(counts: Mapping[str, RunCounts]) -> dict[str, Any]:
    names = ("lost", "repeated", "irreversible_twice", "asked", "asked_bar", "reversible_twice", "unrecorded")
    total = {name: sum(getattr(count, name) for count in counts.values()) for name in names}
    total["over"] = sum(bool(count.over) for count in counts.values())
    wrong = sorted(run for run, count in counts.items() if count.wrong)
    again = asdict(sum((count.again for count in counts.values()), Replayed()))
    return {"runs": len(counts), **total, "again": again, **({"look_at": wrong} if wrong else {})}


def median(seconds: Sequence[float]) -> float | None:
    return round(statistics.median(seconds), 2) if seconds else None


# --- single counts


def _is_lost(assignment: Assignment, account: Account, log: list[Line]) -> bool:
    result = account.result
    visited = {line.counter for line in log if line.what == "effect"}
    required = {number for number, counter in enumerate(assignment.counters, start=1) if counter.effect != "read"}
    return result is None or (
        assignment.must_succeed and not (result.success and result.verified and required <= visited)
    )


def find_repeated(log: Iterable[Line], recorded: Collection[int]) -> list[Line]:
    """Find repeated visits. Counters are visited in order, so a visit to a later counter shows that the earlier ones were done."""
    repeated: list[Line] = []
    furthest, recorded_counters = 0, set[int]()
    for line in log:
        if line.what == "began" and line.counter:
            if line.counter < furthest or line.counter in recorded_counters:
                repeated.append(line)
            furthest = max(furthest, line.counter)
        elif line.what == "ended" and line.counter and line.command in recorded:
            recorded_counters.add(line.counter)
    return repeated


def _count_repeated_effects(assignment: Assignment, log: Iterable[Line], effect: str) -> int:
    times = [0] * (len(assignment.counters) + 1)
    for line in log:
        if line.what == "effect" and assignment.counters[line.counter - 1].effect == effect:
            times[line.counter] += 1
    return sum(max(0, count - 1) for count in times)


def find_undecidable(assignment: Assignment, account: Account, log: Iterable[Line]) -> list[int]:
    """Find the acts, by command, that nothing could decide. A counter has its fault only at the first visit."""
    first_commands: dict[int, int] = {}
    for line in log:
        if line.what == "began":
            first_commands.setdefault(line.counter, line.command)
    doubtful: list[int] = []
    for command, number in account.acts.items():
        counter = assignment.counters[number - 1] if number else None
        if counter is None or counter.effect != "irreversible" or counter.shown == "probe":
            continue
        if command in account.lost_acts or (counter.fault and first_commands.get(number) == command):
            doubtful.append(command)
    return doubtful


def find_exceeded_limits(
    assignment: Assignment, account: Account, log: Iterable[Line], calls: list[Mapping[str, Any]]
) -> list[str]:
    """Return the names of the exceeded limits. Calls are counted by the planner's notes, whether or not its answer arrived."""
    assert account.result, "only a run that ended has used anything"
    limits, used = assignment.limits, account.result.budget
    tokens, microusd = (sum(call[name] for call in calls) for name in ("tokens", "microusd"))
    acts = Tally(account.steps.get(line.command) for line in log if line.what == "began")
    pairs = {
        "calls": (max(len(calls), used.calls), limits.max_calls),
        "tokens": (max(tokens, used.tokens), limits.max_tokens),
        "cost": (max(microusd / 1e6, used.cost_usd), limits.max_cost_usd),
        "segments": (used.segments, limits.max_segments),
        "replans": (used.replans, limits.max_replans),
        "error replans": (used.error_replans, limits.max_error_replans),
        "retries": (max(acts.values(), default=1) - 1, limits.max_step_retries),
        "wall time": (used.wall_seconds, limits.max_wall_seconds),
    }
    return [name for name, (spent, limit) in pairs.items() if limit is not None and spent > limit]
