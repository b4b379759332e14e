"""Does a detour find a way that replanning does not, and how accurate must its judge be?

    python -m benchmarks.detour --runs 1000 --browser 30 --json

Each run looks for one dialog in a desktop application generated from its seed: menus, nested dialogs, context menus, and a fourth of the
entries in unexpected places. All arms have the same searcher, which compares words, and the same 24 calls; a judgement of closeness
costs a call, too. The judge knows the true distance and reports it with noise: 0 % is the truth, 100 % is random. Tuning used seeds
below 1,000; the reported seeds begin at 20,000.

`--browser` adds runs in a Chromium, in the settings of the drift suite and in Wagtail (`search/browser_dialogs.py`), with a judge that
compares the words on the screen and costs nothing.

reached        the dialog was open at the end, by the application's own state
by detour      the same, without a new plan
iterations     tries of the detours that reached it, mean
cancelled      detours that gave up, although the goal can always be reached
explored well  share of the tries following a hint that led nearer or to the goal
held           tries that would have sent something; nothing was sent, or `sent` would not be 0
reverts        each must be verified by the fingerprint or flagged as `revert_unverified`
unlike         verified reverts after which something differed that no screen shows
"""

import json
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter

from benchmarks.harness.replay_check import Replayed
from benchmarks.harness.report import RESULTS, Share, describe_machine, format_table, keep, make_parser
from benchmarks.search.browser_dialogs import APPLICATIONS, run_in_browser
from benchmarks.search.episodes import ARMS, DETOUR, NO_OPTIONS, RANDOM, REPLAN, WORDS, Episode, run_episode
from benchmarks.search.generated import generate_application

FIRST_SEED = 20_000
NOISES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
NOISY = (DETOUR, NO_OPTIONS, RANDOM)
CLAIMED_ELSEWHERE = {"iterations": "3–5", "reverted": "15–20 %", "explored well": "60 %", "cancelled": "< 5 %"}
"""As the document that proposed detours states it, without a method."""

IN_BROWSER = ((DETOUR.name, 0.0), (DETOUR.name, 0.5), (DETOUR.name, 1.0), (RANDOM.name, 0.0), (REPLAN.name, 0.0))

Cell = tuple[str, float, int, int]
PageCell = tuple[str, str, float, int, int]
C = TypeVar("C", Cell, PageCell)
EPISODES = TypeAdapter(list[Episode])


@dataclass(frozen=True)
class Row:
    arm: str
    noise: float
    runs: int
    reached: Share
    by_detour: Share
    false_done: int
    iterations: float
    acts: float
    calls: float
    cancelled: Share
    explored_well: Share
    held: int
    reverts: int
    verified: int
    done_already: int
    flagged: int
    with_revert: Share
    unlike: int
    sent: int
    again: Replayed


def run_cell(cell: Cell) -> list[Episode]:
    name, noise, first, count = cell
    return [run_episode(ARMS[name], noise, seed) for seed in range(first, first + count)]


def summarize_arm(arm: str, noise: float, episodes: Sequence[Episode]) -> Row:
    n = len(episodes)
    found = [episode for episode in episodes if episode.by_detour]
    return Row(
        arm=arm,
        noise=noise,
        runs=n,
        reached=Share.of(sum(e.reached for e in episodes), n),
        by_detour=Share.of(len(found), n),
        false_done=sum(e.claimed and not e.reached for e in episodes),
        iterations=round(sum(e.iterations for e in found) / max(1, len(found)), 2),
        acts=round(sum(e.acts for e in episodes) / n, 2),
        calls=round(sum(e.calls for e in episodes) / n, 2),
        cancelled=Share.of(sum(bool(e.cancelled) for e in episodes), n),
        explored_well=Share.of(sum(e.explored_well for e in episodes), sum(e.explored for e in episodes)),
        held=sum(e.held for e in episodes),
        reverts=sum(e.reverts for e in episodes),
        verified=sum(e.verified for e in episodes),
        done_already=sum(e.done_already for e in episodes),
        flagged=sum(e.flagged for e in episodes),
        with_revert=Share.of(sum(e.reverts > 0 for e in episodes), n),
        unlike=sum(e.unlike for e in episodes),
        sent=sum(e.sent for e in episodes),
        again=sum((e.again for e in episodes), Replayed()),
    )


def run_chunks(
    run_cell: Callable[[C], list[Episode]], cells: Sequence[C], jobs: int, log: Path | None
) -> Generator[tuple[C, list[Episode]]]:
    """Run the cells that are not in the log, and yield the episodes of all cells."""
    lines = log.read_text(encoding="utf-8").splitlines() if log and log.exists() else []
    known = {tuple(cell): EPISODES.validate_python(episodes) for cell, episodes in map(json.loads, lines)}
    cells_left = [cell for cell in cells if cell not in known]
    yield from ((cell, known[cell]) for cell in cells if cell in known)
    with ProcessPoolExecutor(jobs) as pool:
        futures = {pool.submit(run_cell, cell): cell for cell in cells_left}
        for done, future in enumerate(as_completed(futures), start=1):
            cell, episodes = futures[future], future.result()
            if log:
                with log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([cell, EPISODES.dump_python(episodes)]) + "\n")
            print(f"{done}/{len(cells_left)} chunks", file=sys.stderr)
            yield cell, episodes


def run_arms(runs: int, first_seed: int, jobs: int, log: Path | None = None, chunk: int = 50) -> list[Row]:
    settings = [(arm.name, noise) for arm in NOISY for noise in NOISES]
    settings += [(WORDS.name, 0.0), (REPLAN.name, 0.0)]
    cells: list[Cell] = [
        (name, noise, first, min(chunk, first_seed + runs - first))
        for name, noise in settings
        for first in range(first_seed, first_seed + runs, chunk)
    ]
    episodes: dict[tuple[str, float], list[Episode]] = {}
    for cell, part in run_chunks(run_cell, cells, jobs, log):
        episodes.setdefault(cell[:2], []).extend(part)
    return [summarize_arm(name, noise, episodes[name, noise]) for name, noise in settings]


def run_page_cell(cell: PageCell) -> list[Episode]:
    return run_in_browser(*cell)


def run_browser_arms(
    runs: int, first_seed: int, jobs: int, log: Path | None = None, chunk: int = 10
) -> dict[str, list[Row]]:
    """Run the arms in the browser, and return their rows by application."""
    cells: list[PageCell] = [
        (application, arm, noise, first, min(chunk, first_seed + runs - first))
        for application in APPLICATIONS
        for arm, noise in IN_BROWSER
        for first in range(first_seed, first_seed + runs, chunk)
    ]
    episodes: dict[tuple[str, str, float], list[Episode]] = {}
    for cell, part in run_chunks(run_page_cell, cells, jobs, log):
        episodes.setdefault(cell[:3], []).extend(part)
    return {
        application: [summarize_arm(arm, noise, episodes[application, arm, noise]) for arm, noise in IN_BROWSER]
        for application in (APPLICATIONS if runs else ())
    }


def find_break_even(rows: Sequence[Row]) -> float | None:
    """Return the noise at which a detour reaches the goal as often as replanning, interpolated between two measured points."""
    plain = next(row.reached.share for row in rows if row.arm == REPLAN.name)
    curve = [(row.noise, row.reached.share - plain) for row in rows if row.arm == DETOUR.name]
    for (low, more), (high, less) in pairwise(curve):
        if more >= 0 > less:
            return round(low + (high - low) * more / (more - less), 3)
    return None


def digest_applications(seeds: Sequence[int]) -> str:
    """Return a digest of the applications of these seeds, which shows that they did not change while the searcher was tuned."""
    text = repr(
        [(made.application.views, made.application.shortcuts, made.goal) for made in map(generate_application, seeds)]
    )
    return blake2b(text.encode(), digest_size=8).hexdigest()


def format_tables(rows: Sequence[Row], break_even: float | None, pages: Mapping[str, Sequence[Row]]) -> str:
    claimed = ", ".join(f"{name} {figure}" for name, figure in CLAIMED_ELSEWHERE.items())
    where = f"at {100 * break_even:.0f} % noise" if break_even is not None else "nowhere between 0 and 100 % noise"
    text = f"{format_rows(rows)}\n\nBreak-even with replanning only: {where}.\n\nClaimed elsewhere: {claimed}."
    for application, page_rows in pages.items():
        text += f"\n\nIn the browser, {application}, {page_rows[0].runs} runs each:\n\n{format_rows(page_rows)}"
    return text


def format_rows(rows: Sequence[Row]) -> str:
    header = ["arm", "noise %", "reached % (95 %)", "by detour %", "iterations", "acts", "calls", "cancelled %"]
    header += ["explored well %", "held", "reverts", "verified", "flagged", "unlike"]
    body = [
        [
            row.arm,
            f"{100 * row.noise:.0f}",
            str(row.reached),
            f"{100 * row.by_detour.share:.1f}",
            f"{row.iterations:.2f}",
            f"{row.acts:.2f}",
            f"{row.calls:.2f}",
            f"{100 * row.cancelled.share:.1f}",
            f"{100 * row.explored_well.share:.1f}",
            str(row.held),
            str(row.reverts),
            str(row.verified),
            str(row.flagged),
            str(row.unlike),
        ]
        for row in rows
    ]
    return format_table(header, body)


def plot(rows: Sequence[Row], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    for colour, arm in enumerate(NOISY):
        found = [row for row in rows if row.arm == arm.name]
        middle = [100 * row.reached.share for row in found]
        errors = [
            [100 * (row.reached.share - row.reached.low) for row in found],
            [100 * (row.reached.high - row.reached.share) for row in found],
        ]
        noise = [100 * row.noise for row in found]
        axes.errorbar(noise, middle, yerr=errors, fmt="o-", capsize=3, color=f"C{colour}", label=arm.name)
    for style, arm in ((":", REPLAN), ("--", WORDS)):
        share = next(row.reached.share for row in rows if row.arm == arm.name)
        axes.axhline(100 * share, color="k", linestyle=style, label=arm.name)
    axes.set_xlabel("noise of the closeness judge, %")
    axes.set_ylabel("goals reached, %")
    axes.set_ylim(0, 102)
    axes.grid(axis="y", alpha=0.3)
    axes.legend(loc="lower left")
    axes.set_title("To a dialog whose way is unknown")
    figure.savefig(path, dpi=110)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=50, help="per arm and noise")
    parser.add_argument("--browser", type=int, default=0, help="runs per application, arm and noise in a Chromium")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--log", type=Path, help="a file for every chunk as it ends; those in it are not run again")
    args = parser.parse_args()
    began = time.monotonic()
    rows = run_arms(args.runs, args.first_seed, args.jobs, args.log)
    pages = run_browser_arms(args.browser, args.first_seed, args.jobs, args.log)
    all_rows = [*rows, *(row for found in pages.values() for row in found)]
    replayed = sum((row.again for row in all_rows), Replayed())
    break_even = find_break_even(rows)
    broken = sum(row.reverts - row.verified - row.flagged for row in all_rows)
    summary: dict[str, object] = {
        "runs": args.runs,
        "first_seed": args.first_seed,
        "again": asdict(replayed),
        "applications": digest_applications(range(args.first_seed, args.first_seed + args.runs)),
        "break_even_noise": break_even,
        "reverts_neither_verified_nor_flagged": broken,
        "sent": sum(row.sent for row in all_rows),
        "rows": [asdict(row) for row in rows],
        "browser": {application: [asdict(row) for row in found] for application, found in pages.items()},
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    if args.keep:
        keep("detour", summary, f"{format_tables(rows, break_even, pages)}\n\n![goals reached](detour.png)")
        plot(rows, RESULTS / "detour.png")
    if not args.json:
        print(format_tables(rows, break_even, pages))
    print(json.dumps(summary))
    return 1 if replayed.differing or broken or any(row.sent for row in all_rows) else 0


if __name__ == "__main__":
    sys.exit(main())
