"""Counts of a trial: effects and actions in the office's log, plans in the planner's notes.

lost                 the run did not come to a verified end, or an effect is missing
repeated             visits to a counter whose earlier one was known to be over: the run had gone on, or had recorded it
irreversible_twice   irreversible effects beyond the first, for one counter of one run
reversible_twice     the same for reservations
asked                questions to a person whether something had happened
asked_bar            irreversible visits that nothing could decide: no probe, and lost with their driver or met by trouble
over                 runs above any of their ceilings
unrecorded           acts that the office saw and the run's journal does not know
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
from benchmarks.fleet.tenant import Given
from benchmarks.fleet.testbed import TestBed
from benchmarks.fleet.world import Line, read_log
from benchmarks.harness.replay_check import Replayed

CLAIMS = ("lost", "repeated", "irreversible_twice", "reversible_twice", "over", "unrecorded")
"""What must be nought."""


@dataclass(frozen=True, kw_only=True)
class Counted:
    """Of one run."""

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


def counted(
    assignment: Assignment, account: Account, log: list[Line], calls: list[Mapping[str, Any]], *, replays: bool = True
) -> Counted:
    """`log` and `calls` are those of this run. `replays`: whether its journal must replay, since one director decided it."""
    return Counted(
        lost=_is_lost(assignment, account, log),
        repeated=len(repeated(log, account.recorded)),
        irreversible_twice=_beyond_the_first(assignment, log, "irreversible"),
        reversible_twice=_beyond_the_first(assignment, log, "reversible"),
        asked=len(account.asked),
        asked_bar=len(undecidable(assignment, account, log)),
        over=over_a_ceiling(assignment, account, log, calls) if account.result else [],
        unrecorded=sum(line.what == "began" and line.command not in account.steps for line in log),
        again=Replayed(1, not account.identical) if replays else Replayed(),
    )


@dataclass(frozen=True, kw_only=True)
class Reckoning:
    """Of all runs of a trial."""

    accounts: list[Account]
    log: list[Line]
    counted: dict[str, Counted]
    summary: dict[str, Any]


async def reckon(
    given: Given,
    testbed: TestBed,
    assignments: Mapping[str, Assignment],
    accounts: list[Account],
    trouble: Mapping[str, str],
    *,
    replays: bool = True,
) -> Reckoning:
    """Tells the story of every run that something is wrong with."""
    log, calls = read_log(testbed.site.log), Tail(testbed.site.calls).new()
    lines: dict[str, list[Line]] = defaultdict(list)
    for line in log:
        lines[line.run].append(line)
    paid: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for call in calls:
        paid[call["run"]].append(call)
    found = {
        one.run: counted(assignments[one.run], one, lines[one.run], paid[one.run], replays=replays) for one in accounts
    }
    for one in accounts:
        if found[one.run].wrong:
            given.say(
                f"\n{one.run}: {found[one.run]}\n{assignments[one.run]}\n{one.result}\n{one.story(lines[one.run])}"
            )
    summary = _summed_up(found)
    summary["replays"] = asdict(await replay([account.histories for account in accounts]))
    if trouble:
        summary["trouble"] = dict(trouble)
    return Reckoning(accounts=accounts, log=log, counted=found, summary=summary)


def _summed_up(found: Mapping[str, Counted]) -> dict[str, Any]:
    names = ("lost", "repeated", "irreversible_twice", "asked", "asked_bar", "reversible_twice", "unrecorded")
    total = {name: sum(getattr(one, name) for one in found.values()) for name in names}
    total["over"] = sum(bool(one.over) for one in found.values())
    wrong = sorted(run for run, one in found.items() if one.wrong)
    again = asdict(sum((one.again for one in found.values()), Replayed()))
    return {"runs": len(found), **total, "again": again, **({"look_at": wrong} if wrong else {})}


def median(seconds: Sequence[float]) -> float | None:
    return round(statistics.median(seconds), 2) if seconds else None


# --- one by one


def _is_lost(assignment: Assignment, account: Account, log: list[Line]) -> bool:
    result = account.result
    there = {line.counter for line in log if line.what == "effect"}
    due = {number for number, counter in enumerate(assignment.counters, start=1) if counter.effect != "read"}
    return result is None or (assignment.must_succeed and not (result.success and result.verified and due <= there))


def repeated(log: Iterable[Line], recorded: Collection[int]) -> list[Line]:
    """Since counters are visited in order, a visit to a later one shows that this one counted as done."""
    again: list[Line] = []
    furthest, over = 0, set[int]()
    for line in log:
        if line.what == "began" and line.counter:
            if line.counter < furthest or line.counter in over:
                again.append(line)
            furthest = max(furthest, line.counter)
        elif line.what == "ended" and line.counter and line.command in recorded:
            over.add(line.counter)
    return again


def _beyond_the_first(assignment: Assignment, log: Iterable[Line], effect: str) -> int:
    times = [0] * (len(assignment.counters) + 1)
    for line in log:
        if line.what == "effect" and assignment.counters[line.counter - 1].effect == effect:
            times[line.counter] += 1
    return sum(max(0, count - 1) for count in times)


def undecidable(assignment: Assignment, account: Account, log: Iterable[Line]) -> list[int]:
    """Acts by their commands. A counter has trouble for its first visitor only."""
    first: dict[int, int] = {}
    for line in log:
        if line.what == "began":
            first.setdefault(line.counter, line.command)
    doubtful: list[int] = []
    for command, number in account.acts.items():
        counter = assignment.counters[number - 1] if number else None
        if counter is None or counter.effect != "irreversible" or counter.shown == "probe":
            continue
        if command in account.lost_acts or (counter.fault and first.get(number) == command):
            doubtful.append(command)
    return doubtful


def over_a_ceiling(
    assignment: Assignment, account: Account, log: Iterable[Line], calls: list[Mapping[str, Any]]
) -> list[str]:
    """Which ones. What was paid for is what the planner noted, whether or not anybody heard its answer."""
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
    return [name for name, (spent, most) in pairs.items() if most is not None and spent > most]
