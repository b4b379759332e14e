"""Blocks into figures: what a step costs, and how that compares with another arm in the same rounds."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TypeAlias

from benchmarks.overhead.trial import Block

RESAMPLES = 2000


@dataclass(frozen=True, kw_only=True)
class Round:
    """One arm's blocks of one round, by the length of a segment."""

    alone: dict[int, Block] = field(default_factory=dict[int, Block])
    together: dict[int, Block] = field(default_factory=dict[int, Block])


Rounds: TypeAlias = Sequence[Round]
Figure: TypeAlias = Callable[[Rounds, int], float]
"""Of whole runs with segments of that length, for each run: divide by its steps, or take the difference of two lengths."""


def alone_ms(rounds: Rounds, segment: int) -> float:
    return 1000 * median(s for one in rounds for s in one.alone[segment].seconds)


def together_ms(rounds: Rounds, segment: int) -> float:
    return 1000 * median(s for one in rounds for s in one.together[segment].seconds)


def cpu(part: str) -> Figure:
    """Milliseconds a run, which is seconds for a thousand; measured where runs share the machine."""

    def of(rounds: Rounds, segment: int) -> float:
        blocks = [one.together[segment] for one in rounds]
        return 1000 * sum(getattr(b, part) for b in blocks) / sum(len(b.seconds) for b in blocks)

    return of


@dataclass(frozen=True, kw_only=True)
class Span:
    """Over what a figure is spread: the steps of a whole run, or the steps by which two runs differ."""

    name: str
    segment: int
    less: int = 0

    def steps(self, segments: int) -> int:
        return segments * (self.segment - self.less)

    def of(self, figure: Callable[[int], float], segments: int) -> float:
        """A step's share."""
        less = figure(self.less) if self.less else 0.0
        return (figure(self.segment) - less) / self.steps(segments)


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """With its 95 % interval, from rounds drawn again and again with replacement."""

    ratio: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.ratio:.2f} ({self.low:.2f}–{self.high:.2f})"


def ratio(figure: Figure, span: Span, segments: int, ours: Rounds, theirs: Rounds) -> Ratio:
    """Rounds are drawn in pairs: what disturbed one arm has disturbed the other."""

    def of(places: Sequence[int]) -> float:
        share = [span.of(lambda n, s=side: figure([s[i] for i in places], n), segments) for side in (ours, theirs)]
        return share[0] / share[1] if share[1] else float("nan")

    chance, everything = random.Random(1), range(len(ours))
    drawn = sorted(of(chance.choices(everything, k=len(everything))) for _ in range(RESAMPLES))
    low, high = (drawn[round(q * (RESAMPLES - 1))] for q in (0.025, 0.975))
    return Ratio(ratio=round(of(everything), 3), low=round(low, 3), high=round(high, 3))
