"""How many MiniWoB++ tasks are solved from the picture alone, beside the accessibility tree?

    python -m benchmarks.vision --json

Twenty tasks, frozen by digest before the first run (`vision_tasks/tasks.py`), with the same rules in both arms. `tree` sees the
zones of the page. `picture` gets none: a separate process receives PNG bytes and their size, reads text with Debian's
`tesseract-ocr` and finds boxes by colour, and what it found is clicked and typed into by position. A label may be misread and
a role mistaken, so the picture arm takes the nearest label, and it looks again after every click, because positions move.
The reader was written on seeds 0 to 2 and is reported on seeds from 1000 on. The pages' time limit is lifted.

solved     the page's own reward, without its discount for time, is full
pictures   pictures read, mean
"""

import asyncio
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.harness.report import Share, describe_machine, format_table, make_parser, report
from benchmarks.miniwob_tasks.pages import serve_pages
from benchmarks.vision_tasks.tasks import FROZEN, TASKS, check_frozen
from benchmarks.vision_tasks.trial import ARMS, Trial, begin_trials

FIRST_SEED = 1000
WANTED = 0.8
"""Share of the tree's success."""


async def run(tasks: Sequence[str], seeds: Sequence[int]) -> list[Trial]:
    trials: list[Trial] = []
    with serve_pages() as origin, tempfile.TemporaryDirectory() as folder:
        async with begin_trials(origin, Path(folder)) as attempts:
            for task in tasks:
                for seed in seeds:
                    for arm in ARMS:
                        trial = await attempts.attempt(task, seed, arm)
                        trials.append(trial)
                        if not trial.solved:
                            print(f"{arm}, {task} {seed}: {trial.reason}, {trial.detail}", file=sys.stderr)
    return trials


@dataclass(frozen=True)
class Row:
    task: str
    tree: Share
    picture: Share
    pictures: float
    ended: dict[str, int]
    """Why the episodes that were not solved from the picture ended."""


def row(task: str, trials: Sequence[Trial]) -> Row:
    of = {arm: [trial for trial in trials if trial.arm == arm and task in ("all", trial.task)] for arm in ARMS}
    tree, picture = (Share.of(sum(trial.solved for trial in of[arm]), len(of[arm])) for arm in ARMS)
    reasons = [trial.reason for trial in of["picture"] if not trial.solved]
    return Row(
        task=task,
        tree=tree,
        picture=picture,
        pictures=round(sum(trial.pictures for trial in of["picture"]) / max(len(of["picture"]), 1), 2),
        ended={reason: reasons.count(reason) for reason in sorted(set(reasons))},
    )


def format_tables(rows: Sequence[Row]) -> str:
    header = ["task", "tree % (95 %)", "picture % (95 %)", "pictures", "not solved from the picture, why"]
    body = [
        [
            one.task,
            str(one.tree),
            str(one.picture),
            f"{one.pictures:.2f}",
            ", ".join(f"{reason} {often}" for reason, often in one.ended.items()),
        ]
        for one in rows
    ]
    return format_table(header, body)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="episodes per task and arm")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS, metavar="TASK")
    args = parser.parse_args()
    check_frozen()
    if shutil.which("tesseract") is None:
        print("this benchmark reads pictures with tesseract: apt install tesseract-ocr", file=sys.stderr)
        return 2
    began = time.monotonic()
    trials = asyncio.run(run(args.tasks, range(args.first_seed, args.first_seed + args.seeds)))
    rows = [row(task, trials) for task in args.tasks]
    everything = row("all", trials)
    ratio = everything.picture.share / everything.tree.share if everything.tree.share else 0.0
    summary: dict[str, object] = {
        "seeds": args.seeds,
        "first_seed": args.first_seed,
        "tasks": len(rows),
        "frozen": FROZEN,
        "overall": asdict(everything),
        "share_of_tree": round(ratio, 4),
        "reached": ratio >= WANTED,
        "rows": [asdict(one) for one in rows],
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    said = format_tables([everything, *rows])
    report(args, "vision", summary, said)
    return 0 if ratio >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
