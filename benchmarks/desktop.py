"""Does Midcourse finish tasks in real desktop programs while they misbehave? Next to the same rules as one fixed plan.

    python -m benchmarks.desktop --seeds 20 --json

note      mousepad: write a note and save it over an older one, after 'Replace?' was asked
files     thunar: move a file to the trash, take it back with a verified revert, rename another one
mail      claws-mail: one e-mail with an attachment; a server on loopback counts what it gets
table     gnumeric: cells, a formula, saved; ssconvert reads the file

A seed draws what goes wrong, at least one of: a dialog of another program comes up, a window of another program comes to the front, the
control that matters has another name, the program stands still in the act that matters (and the mail server is slow), the first click on
it is lost. Renamed is what the planner and the policy get to see; all else happens on the display.

finished      reported as done, and so it is in the files and at the mail server
repeated      effects that happened beyond the one that was asked for, counted there
false done    reported as done, and it is not

The fixed plan is what the rules did in one run without trouble, carried out to the first step that fails. It asks about nothing.
"""

import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass

from benchmarks.desktop_stories.trial import ARMS, OURS, STORIES, Trial, record_script, run_trial
from benchmarks.harness.replay_check import Replayed
from benchmarks.harness.report import Share, describe_machine, format_table, make_parser, report

FIRST_SEED = 50_000
LEAST_FINISHED = 0.95


@dataclass(frozen=True, kw_only=True)
class Row:
    story: str
    arm: str
    runs: int
    finished: Share
    repeated: int
    false_done: int
    approvals: int
    doubts: int
    seconds: float
    ended: dict[str, int]


def summarize(story: str, arm: str, trials: list[Trial]) -> Row:
    return Row(
        story=story,
        arm=arm,
        runs=len(trials),
        finished=compute_share(trials),
        repeated=sum(trial.twice for trial in trials),
        false_done=sum(trial.claimed and not trial.happened for trial in trials),
        approvals=sum(trial.approvals for trial in trials),
        doubts=sum(trial.doubts for trial in trials),
        seconds=round(sum(trial.seconds for trial in trials) / max(1, len(trials)), 1),
        ended=dict(Counter(trial.reason for trial in trials)),
    )


def compute_share(trials: list[Trial]) -> Share:
    return Share.of(sum(trial.claimed and trial.happened for trial in trials), len(trials))


def run(stories: list[str], seeds: int, first_seed: int, jobs: int) -> list[Trial]:
    with ProcessPoolExecutor(jobs) as pool:
        scripts = dict(zip(stories, pool.map(record_script, stories), strict=True))
        wanted = [
            (story, arm, seed, scripts[story])
            for seed in range(first_seed, first_seed + seeds)
            for story in stories
            for arm in ARMS
        ]
        trials: list[Trial] = []
        for trial in pool.map(run_trial, wanted):
            trials.append(trial)
            print(
                f"{trial.story} {trial.seed} {trial.arm}: {trial.reason}, {trial.seconds} s, {'; '.join(trial.trouble)}",
                file=sys.stderr,
            )
    return trials


def format_tables(rows: list[Row], trials: list[Trial]) -> str:
    header = ["story", "arm", "finished % (95 %)", "repeated", "false done", "approvals", "doubts", "seconds", "ended"]
    body = [
        [
            row.story,
            row.arm,
            str(row.finished),
            str(row.repeated),
            str(row.false_done),
            str(row.approvals),
            str(row.doubts),
            f"{row.seconds:.1f}",
            ", ".join(f"{reason} {count}" for reason, count in row.ended.items()),
        ]
        for row in rows
    ]
    failed = [trial for trial in trials if trial.arm == OURS and not (trial.claimed and trial.happened)]
    lines = [f"- {one.story}, seed {one.seed} ({', '.join(one.trouble)}): {one.reason}; {one.detail}" for one in failed]
    return "\n".join([format_table(header, body), "", "Not finished by Midcourse:", "", *(lines or ["- none"])])


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="per story and arm")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--stories", default=",".join(STORIES), help="comma-separated")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    began, stories = time.monotonic(), args.stories.split(",")
    trials = run(stories, args.seeds, args.first_seed, args.jobs)
    by_arm = {arm: [trial for trial in trials if trial.arm == arm] for arm in ARMS}
    rows = [
        summarize(story, arm, [one for one in by_arm[arm] if one.story == story]) for story in stories for arm in ARMS
    ]
    rows += [summarize("all", arm, by_arm[arm]) for arm in ARMS]
    replayed = sum((trial.again for trial in trials), Replayed())
    repeated = {arm: sum(one.twice for one in by_arm[arm]) for arm in ARMS}
    false_done = {arm: sum(one.claimed and not one.happened for one in by_arm[arm]) for arm in ARMS}
    finished = {arm: compute_share(by_arm[arm]) for arm in ARMS}
    summary: dict[str, object] = {
        "seeds": args.seeds,
        "first_seed": args.first_seed,
        "runs": len(by_arm[OURS]),
        "finished": {arm: asdict(share) for arm, share in finished.items()},
        "repeated": repeated,
        "false_done": false_done,
        "bars": {
            "finished at least 95 %": finished[OURS].share >= LEAST_FINISHED,
            "0 repeated": repeated[OURS] == 0,
            "0 false done": false_done[OURS] == 0,
        },
        "trouble": dict(Counter(kind for one in by_arm[OURS] for kind in one.trouble)),
        "again": asdict(replayed),
        "rows": [asdict(row) for row in rows],
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    report(args, "desktop", summary, format_tables(rows, trials))
    return 1 if replayed.differing else 0


if __name__ == "__main__":
    sys.exit(main())
