"""What really happened in a trial: effects and acts by the office's own log, plans by the planner's own notes.

lost                 the run did not come to a verified end, or an effect is missing
repeated             visits to a counter whose earlier one was known to be over: the run had gone on, or had recorded it
irreversible_twice   irreversible effects beyond the first, for one counter of one run
reversible_twice     the same for reservations
asked                questions to a person whether something had happened
asked_bar            irreversible visits that nothing could decide: no probe, and given up by the engine or met by trouble
over                 runs above any of their ceilings
"""

import statistics
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from account import Account
from errand import Errand
from fleet import Given
from office import Line
from replayed import Again

CLAIMS = ("lost", "repeated", "irreversible_twice", "reversible_twice", "over")
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
    over: bool
    again: Again

    @property
    def wrong(self) -> bool:
        return any(getattr(self, claim) for claim in CLAIMS) or self.asked > self.asked_bar or self.again.differing > 0


def counted(errand: Errand, account: Account, log: list[Line], calls: list[Mapping[str, Any]]) -> Counted:
    """`log` and `calls` are those of this run."""
    return Counted(
        lost=_is_lost(errand, account, log),
        repeated=len(repeated(log, account.recorded)),
        irreversible_twice=_beyond_the_first(errand, log, "irreversible"),
        reversible_twice=_beyond_the_first(errand, log, "reversible"),
        asked=len(account.asked),
        asked_bar=len(undecidable(errand, account, log)),
        over=bool(account.result and over_a_ceiling(errand, account, calls)),
        again=Again(1, not account.identical),
    )


def count_all(
    errands: Mapping[str, Errand],
    accounts: Iterable[Account],
    log: Iterable[Line],
    calls: Iterable[Mapping[str, Any]],
) -> dict[str, Counted]:
    lines: dict[str, list[Line]] = defaultdict(list)
    for line in log:
        lines[line.run].append(line)
    paid: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for call in calls:
        paid[call["run"]].append(call)
    return {one.run: counted(errands[one.run], one, lines[one.run], paid[one.run]) for one in accounts}


def summed_up(found: Mapping[str, Counted]) -> dict[str, Any]:
    total = {name: sum(getattr(one, name) for one in found.values()) for name in (*CLAIMS, "asked", "asked_bar")}
    wrong = sorted(run for run, one in found.items() if one.wrong)
    again = asdict(sum((one.again for one in found.values()), Again()))
    return {"runs": len(found), **total, "again": again, **({"look_at": wrong} if wrong else {})}


def tell_of_wrong_ones(
    given: Given,
    errands: Mapping[str, Errand],
    accounts: Iterable[Account],
    found: Mapping[str, Counted],
    log: list[Line],
) -> None:
    for account in accounts:
        if found[account.run].wrong:
            given.say(f"\n{account.run}: {found[account.run]}\n{errands[account.run]}\n{account.result}")
            given.say(account.story(line for line in log if line.run == account.run))


def median(seconds: Sequence[float]) -> float | None:
    return round(statistics.median(seconds), 2) if seconds else None


# --- one by one


def _is_lost(errand: Errand, account: Account, log: list[Line]) -> bool:
    result = account.result
    there = {line.counter for line in log if line.what == "effect"}
    due = {number for number, counter in enumerate(errand.counters, start=1) if counter.effect != "read"}
    return result is None or not (result.success and result.verified) or not due <= there


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


def _beyond_the_first(errand: Errand, log: Iterable[Line], effect: str) -> int:
    times = [0] * (len(errand.counters) + 1)
    for line in log:
        if line.what == "effect" and errand.counters[line.counter - 1].effect == effect:
            times[line.counter] += 1
    return sum(max(0, count - 1) for count in times)


def undecidable(errand: Errand, account: Account, log: Iterable[Line]) -> list[int]:
    """Acts by their commands. A counter has trouble for its first visitor only."""
    first: dict[int, int] = {}
    for line in log:
        if line.what == "began":
            first.setdefault(line.counter, line.command)
    doubtful: list[int] = []
    for command, number in account.acts.items():
        counter = errand.counters[number - 1] if number else None
        if counter is None or counter.effect != "irreversible" or counter.shown == "probe":
            continue
        if command in account.lost_acts or (counter.fault and first.get(number) == command):
            doubtful.append(command)
    return doubtful


def over_a_ceiling(errand: Errand, account: Account, calls: list[Mapping[str, Any]]) -> list[str]:
    """Which ones. What was paid for is what the planner noted, whether or not anybody heard its answer."""
    assert account.result, "only a run that ended has used anything"
    limits, used = errand.limits, account.result.budget
    pairs = {
        "calls": (max(len(calls), used.calls), limits.max_calls),
        "tokens": (max(sum(call["tokens"] for call in calls), used.tokens), limits.max_tokens),
        "segments": (used.segments, limits.max_segments),
        "replans": (used.replans, limits.max_replans),
        "error replans": (used.error_replans, limits.max_error_replans),
    }
    return [name for name, (spent, most) in pairs.items() if most is not None and spent > most]
