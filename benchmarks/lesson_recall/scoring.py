"""Which messages are stored, which are queried, and how often the right lesson is recalled."""

import json
import random
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

MESSAGES = Path(__file__).with_name("messages.json")
SEED = 7
RESAMPLES = 1000
Scores = NDArray[np.float32]


@dataclass(frozen=True)
class Corpus:
    """Messages by number: those of known causes first, then strangers, then later messages of the same programs."""

    texts: list[str]
    causes: dict[str, list[int]]
    strangers: list[int]
    again: dict[int, int]
    """For a message, the same program's message about other names."""
    programs: int

    @cached_property
    def known(self) -> int:
        return sum(map(len, self.causes.values()))


@dataclass(frozen=True)
class Round:
    """`stored` has one message of each cause; `asked` is (query, its cause's place among the stored)."""

    stored: list[int]
    asked: list[tuple[int, int]]
    strangers: list[int]


@dataclass(frozen=True)
class Measured:
    """A share, and where it lies in 95 of 100 resamples."""

    share: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.share:.1f} ({100 * self.low:.1f}–{100 * self.high:.1f})"


@dataclass(frozen=True)
class Figures:
    top1: Measured
    top3: Measured
    wrong: Measured
    """Something came back, and the first of it was of another cause."""
    false: Measured
    """Something came back for a stranger."""


def load(most: int | None = None) -> Corpus:
    found = json.loads(MESSAGES.read_text(encoding="utf-8"))
    chosen = {cause: said for cause, said in found["causes"].items() if len({one["program"] for one in said}) >= 3}
    if most is not None:
        chosen = {cause: chosen[cause] for cause in random.Random(SEED).sample(sorted(chosen), most)}
    texts: list[str] = []
    causes: dict[str, list[int]] = {}
    for cause, said in chosen.items():
        causes[cause] = list(range(len(texts), len(texts) + len(said)))
        texts += [one["message"] for one in said]
    strangers = [one["message"] for one in found["strangers"]]
    again = [one["again"] for said in chosen.values() for one in said]
    first, second = len(texts), len(texts) + len(strangers)
    programs = {one["program"].split()[0] for said in chosen.values() for one in said}
    return Corpus(
        texts=texts + strangers + again,
        causes=causes,
        strangers=list(range(first, second)),
        again={n: second + n for n in range(first)},
        programs=len(programs),
    )


def rounds(corpus: Corpus, number: int) -> tuple[list[Round], list[Round]]:
    """For choosing and for testing: no cause and no stranger is in both. Others are asked for than the one that is stored."""
    dice = random.Random(SEED)
    names, strangers = sorted(corpus.causes), list(corpus.strangers)
    dice.shuffle(names)
    dice.shuffle(strangers)
    halves = [(names[part::2], strangers[part::2]) for part in (0, 1)]
    tuning, testing = ([_round(corpus, causes, others, dice) for _ in range(number)] for causes, others in halves)
    return tuning, testing


def _round(corpus: Corpus, names: list[str], strangers: list[int], dice: random.Random) -> Round:
    stored = [dice.choice(corpus.causes[name]) for name in names]
    others = [(n, place) for place, name in enumerate(names) for n in corpus.causes[name] if n != stored[place]]
    asked = [(corpus.again[n], place) for n, place in others]  # of other names, or those would give the cause away
    return Round(stored, asked, strangers)


def same_again(corpus: Corpus, given: list[Round]) -> list[Round]:
    """The same rounds, queried with later messages of the stored programs."""
    return [
        Round(one.stored, [(corpus.again[n], place) for place, n in enumerate(one.stored)], one.strangers)
        for one in given
    ]


@dataclass(frozen=True)
class Answer:
    """Of one query: the best score, whether the first is right, and the score at which the right one is among three."""

    place: int
    best: float
    right: bool
    third: float


def answers(scores: Scores, one: Round) -> list[Answer]:
    found: list[Answer] = []
    for query, place in one.asked:
        row = scores[query, one.stored]
        order = np.argsort(-row, kind="stable")[:3]
        third = float(row[place]) if place in order else -1.0
        found.append(Answer(place, float(row[order[0]]), bool(order[0] == place), third))
    return found


def figures(scores: Scores, given: list[Round], threshold: float) -> Figures:
    """Queries of one cause resemble each other, so intervals are over causes; those of strangers over strangers."""
    causes = len(given[0].stored)
    hits = np.zeros((causes, 4))
    for one in given:
        for answer in answers(scores, one):
            is_recalled = answer.best >= threshold
            hits[answer.place] += (
                1,
                is_recalled and answer.right,
                answer.third >= threshold,
                is_recalled and not answer.right,
            )
    false = np.array([[_recalled(scores, one, n, threshold) for n in one.strangers] for one in given]).mean(axis=0)
    dice = np.random.default_rng(SEED)
    picks = dice.integers(0, causes, (RESAMPLES, causes))
    resampled = hits[picks].sum(axis=1)
    strangers = false[dice.integers(0, len(false), (RESAMPLES, len(false)))].mean(axis=1)
    total = hits.sum(axis=0)

    def measured(column: int) -> Measured:
        return _measured(total[column] / total[0], resampled[:, column] / resampled[:, 0])

    return Figures(measured(1), measured(2), measured(3), _measured(float(false.mean()), strangers))


def _recalled(scores: Scores, one: Round, stranger: int, threshold: float) -> bool:
    return bool(scores[stranger, one.stored].max() >= threshold)


def _measured(share: float, resampled: NDArray[np.float64]) -> Measured:
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Measured(round(float(share), 4), round(float(low), 4), round(float(high), 4))


def curve(scores: Scores, given: list[Round], thresholds: list[float]) -> list[tuple[float, float, float]]:
    """(threshold, share of right firsts, share of strangers for whom anything is recalled)."""
    all_answers = [answer for one in given for answer in answers(scores, one)]
    tops = np.array([float(scores[n, one.stored].max()) for one in given for n in one.strangers])
    best, right = np.array([a.best for a in all_answers]), np.array([a.right for a in all_answers])
    return [(t, float((right & (best >= t)).mean()), float((tops >= t).mean())) for t in thresholds]


def steps(scores: Scores, given: list[Round]) -> list[float]:
    most = max(float(scores[:, one.stored].max()) for one in given)
    return [round(n * most / 200, 4) for n in range(1, 201)]


def best_threshold(scores: Scores, tuning: list[Round]) -> float:
    """Where right firsts outnumber false matches by most."""
    walked = curve(scores, tuning, steps(scores, tuning))
    return max(walked, key=lambda point: point[1] - point[2])[0]
