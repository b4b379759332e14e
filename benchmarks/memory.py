"""Is the right lesson recalled for a failure? One message of each cause is stored, the others are queried.

    python -m benchmarks.memory --json

Five ways to recall: the same signature; PostgreSQL's full text search; trigrams of the text; the signature first and else the
trigrams, which is what runs do; and the same at the default of `lesson_similarity`. Queries of causes that are not stored are asked
besides: anything recalled for those is a false match. The threshold is chosen from the curve on one half of the causes and of the
strangers, and everything is reported on the other half. Which message is stored is drawn again in each round. The last column asks
for what the stored program itself said the next time, of other names and numbers.
"""

import json
import random
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.report import describe_machine, format_table, keep, make_parser
from benchmarks.lesson_recall.curve import draw
from benchmarks.lesson_recall.full_text import full_text_scores
from benchmarks.lesson_recall.scoring import Corpus, Figures, Round, best_threshold, figures, load, rounds, same_again
from midcourse.perform.ports import ALIKE
from midcourse.policy.failure.signature import normalise, trigram_embedding

METHODS = ("signature", "full text", "trigrams", "signature, then trigrams", "the same, by default")
FLOORS = {"signature": 1.0, "the same, by default": ALIKE}
"""Thresholds that need no choosing: equal is equal."""


def trigram_scores(texts: list[str]) -> NDArray[np.float32]:
    points = np.array([trigram_embedding(text).values for text in texts], dtype=np.float32)
    return points @ points.T


def signature_scores(texts: list[str]) -> NDArray[np.float32]:
    words = np.array([normalise(text) for text in texts])
    return (words[:, None] == words[None, :]).astype(np.float32)


def compute_scores(corpus: Corpus) -> dict[str, NDArray[np.float32]]:
    texts = corpus.texts
    signature, trigrams = signature_scores(texts), trigram_scores(texts)
    with tempfile.TemporaryDirectory() as folder:
        full_text = full_text_scores(texts, Path(folder))
    return {
        "signature": signature,
        "full text": full_text,
        "trigrams": trigrams,
        "signature, then trigrams": np.where(signature == 1, 2.0, trigrams),
        "the same, by default": np.where(signature == 1, 2.0, trigrams),
    }


@dataclass(frozen=True)
class Outcome:
    method: str
    threshold: float
    tuned: Figures
    tested: Figures
    same: Figures
    """The same program again, with other names."""


def measure(
    method: str, corpus: Corpus, scores: NDArray[np.float32], tuning: list[Round], testing: list[Round]
) -> Outcome:
    threshold = FLOORS.get(method) or best_threshold(scores, tuning)
    asked = (tuning, testing, same_again(corpus, testing))
    return Outcome(method, threshold, *(figures(scores, given, threshold) for given in asked))


def format_outcomes(outcomes: list[Outcome]) -> str:
    header = [
        "recalled by",
        "threshold",
        "top 1 %",
        "top 3 %",
        "wrong first %",
        "false match %",
        "same program: top 1 %",
    ]
    return format_table(
        header,
        [
            [
                o.method,
                f"{o.threshold:.2f}",
                str(o.tested.top1),
                str(o.tested.top3),
                str(o.tested.wrong),
                str(o.tested.false),
                str(o.same.top1),
            ]
            for o in outcomes
        ],
    )


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument(
        "--rounds", type=int, default=20, help="rounds, each of which draws the stored message of each cause again"
    )
    parser.add_argument("--causes", type=int, default=None, help="of how many causes, drawn at random; all by default")
    options = parser.parse_args()
    began = time.monotonic()
    corpus = load(options.causes)
    tuning, testing = rounds(corpus, options.rounds)
    scores = compute_scores(corpus)
    outcomes = [measure(method, corpus, scores[method], tuning, testing) for method in METHODS]
    size = (
        f"{len(corpus.causes)} causes, {corpus.known} messages of {corpus.programs} programs, {len(corpus.strangers)} strangers; "
        f"half for choosing the threshold, half for this table; {options.rounds} rounds; 95 % intervals over causes"
    )
    text = f"{size}\n\n{format_outcomes(outcomes)}"
    print(text)
    summary: dict[str, object] = {
        "causes": len(corpus.causes),
        "messages": corpus.known,
        "strangers": len(corpus.strangers),
        "programs": corpus.programs,
        "rounds": options.rounds,
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
        "methods": {outcome.method: asdict(outcome) for outcome in outcomes},
    }
    if options.keep:
        draw(scores, tuning, testing, {outcome.method: outcome.threshold for outcome in outcomes})
        keep(
            "memory",
            summary,
            f"{text}\n\n![curve](memory.png)",
        )
    if options.json:
        print(json.dumps(summary))


if __name__ == "__main__":
    random.seed(7)
    main()
