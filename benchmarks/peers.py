"""Compares Midcourse with other agent systems: repeated effects, false reports of success, completed runs, and cost.

    python -m benchmarks.peers --json --log benchmarks/results/peers.jsonl

Every system works on the same pages, behind a proxy with the same faults (`peer_systems/faults.py`), with the same scripted model, which
sees only what each request shows. Each system has its own environment and lock file. Stored effects are read from the application.

completed     reported as done, and stored exactly once, as the goal asks
repeated      runs in which the effect was stored more than once
false 'done'  reported as done, but not stored as the goal asks
asked         runs that asked the approver whether something had happened

The cells are fixed in `peer_systems/cells.py`; `--cells` prints all of them. Runs that are in the log are not run again. A pair of system
and application that does not complete every undisturbed run is reported as not comparable.

pretix, a ticket shop, has its own list of cells and its own log:

    python -m benchmarks.peers --apps pretix --json --log benchmarks/results/peers_pretix.jsonl

So has Magentic, of Microsoft's agent-framework:

    python -m benchmarks.peers --systems midcourse magentic --json --log benchmarks/results/peers_magentic.jsonl
"""

import argparse
import json
import signal
import sys
import tempfile
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import Lock, local

from benchmarks.harness.arm_workers import Worker
from benchmarks.harness.report import describe_machine, keep, make_parser
from benchmarks.llm.tokenizer import is_installed, tokenizer
from benchmarks.peer_systems.cells import (
    FROZEN,
    MAGENTIC,
    MAGENTIC_FROZEN,
    PRETIX,
    PRETIX_FROZEN,
    Cell,
    digest_cells,
    list_cells,
    list_magentic_cells,
    list_pretix_cells,
)
from benchmarks.peer_systems.summary import format_tables, summarize
from benchmarks.peer_systems.systems import SYSTEMS
from benchmarks.peer_systems.trial import RunOutcome, run_cell
from midcourse.store.postgres import development

LISTS = {
    "peers": (list_cells, FROZEN),
    "peers_pretix": (list_pretix_cells, PRETIX_FROZEN),
    "peers_magentic": (list_magentic_cells, MAGENTIC_FROZEN),
}
"""The lists of cells and their digests, by the name of the kept result."""


class WorkerPool:
    """Worker processes: one of each system for each thread."""

    def __init__(self) -> None:
        self._local = local()
        self._all: list[Worker] = []
        self._lock = Lock()

    def get_worker(self, system: str) -> Worker:
        own_workers: dict[str, Worker] = self._local.__dict__.setdefault("workers", {})
        if system not in own_workers:
            own_workers[system] = Worker(f"peer-{SYSTEMS[system].folder}", SYSTEMS[system].make_command)
            with self._lock:
                self._all.append(own_workers[system])
        return own_workers[system]

    def kill(self) -> None:
        for worker in self._all:
            worker.kill()

    def close(self) -> None:
        for worker in self._all:
            worker.close()


@contextmanager
def start_postgres(cells: list[Cell]) -> Generator[str]:
    """Start a PostgreSQL server for LangGraph's checkpoints and yield its address; an empty one without runs of LangGraph."""
    if not any(cell.system == "langgraph" for cell in cells):
        yield ""
        return
    with tempfile.TemporaryDirectory() as folder:
        try:
            yield development.start(Path(folder) / "postgres")
        finally:
            development.remove(Path(folder) / "postgres")


def run_cells(cells: list[Cell], jobs: int, log: Path | None, minutes: float) -> list[RunOutcome]:
    """Run the cells that are not in the log, and return the outcomes of all."""
    outcomes = select_from_log(cells, log)
    known_cells = {outcome.cell for outcome in outcomes}
    cells_left = [cell for cell in cells if cell not in known_cells]
    encode = tokenizer() if log or is_installed() else None  # a run that is kept must not count 0 tokens
    deadline = time.monotonic() + 60 * minutes if minutes else float("inf")
    workers = WorkerPool()
    with start_postgres(cells_left) as postgres, ThreadPoolExecutor(jobs) as pool:

        def run_one(cell: Cell) -> RunOutcome | None:
            return (
                run_cell(cell, workers.get_worker(cell.system), encode, postgres)
                if time.monotonic() < deadline
                else None
            )

        try:
            for future in as_completed([pool.submit(run_one, cell) for cell in cells_left]):
                if outcome := future.result():
                    outcomes.append(outcome)
                    print(f"{len(outcomes)}/{len(cells)} {describe_run(outcome)}", file=sys.stderr, flush=True)
                    if log:
                        with log.open("a", encoding="utf-8") as file:
                            print(json.dumps(asdict(outcome)), file=file)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            workers.kill()  # if this was interrupted, the runs under way end here
    workers.close()
    return outcomes


def select_from_log(cells: list[Cell], log: Path | None) -> list[RunOutcome]:
    wanted = set(cells)
    return [outcome for outcome in read_log(log) if outcome.cell in wanted]


def read_log(log: Path | None) -> list[RunOutcome]:
    lines = log.read_text(encoding="utf-8").splitlines() if log and log.exists() else []
    return [RunOutcome(**json.loads(line)) for line in lines]


def describe_run(outcome: RunOutcome) -> str:
    ending = "completed" if outcome.completed else f"NOT COMPLETED ({outcome.reason[:120]!r}, {outcome.trouble})"
    repeated = f", {outcome.repeated} repeated" if outcome.repeated else ""
    fault_note = "" if outcome.happened else ", the fault did not happen"
    return f"{outcome.cell}: {ending}{repeated}{fault_note}, {outcome.calls} calls, {outcome.tokens_in} tokens, {outcome.seconds:.0f} s"


def choose_list(args: argparse.Namespace) -> str:
    """Return the name of the list that is asked for: pretix alone and Magentic have their own."""
    if args.apps == [PRETIX]:
        return "peers_pretix"
    return "peers_magentic" if MAGENTIC in (args.systems or ()) else "peers"


def list_frozen_cells(name: str) -> list[Cell]:
    """Return the cells of this list, which must be those that were fixed."""
    list_all, frozen = LISTS[name]
    cells = list_all()
    if digest_cells(cells) != frozen:
        raise SystemExit(f"The cells are not those that were fixed: {digest_cells(cells)}, not {frozen}")
    return cells


def select_cells(args: argparse.Namespace, frozen: list[Cell]) -> list[Cell]:
    """Return the cells that match the systems, applications, faults, profiles and seeds on the command line."""
    wanted = {
        name: getattr(args, f"{name}s") for name in ("system", "app", "fault", "profile") if getattr(args, f"{name}s")
    }
    return [
        cell
        for cell in frozen
        if all(getattr(cell, name) in values for name, values in wanted.items())
        and (args.seeds is None or cell.seed < args.seeds)
    ]


def main() -> None:
    parser = make_parser(__doc__)
    for name in ("systems", "apps", "faults", "profiles"):
        parser.add_argument(f"--{name}", nargs="+", help="only these")
    parser.add_argument("--seeds", type=int, help="seeds per cell; all if omitted")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=0.0, help="start no run after this time")
    parser.add_argument("--log", type=Path, help="a file for every run as it ends; those in it are not run again")
    parser.add_argument(
        "--cells", action="store_true", help="print all cells in the order in which they run, and run none"
    )
    parser.add_argument("--report", action="store_true", help="run nothing, and report the runs in the log")
    args = parser.parse_args()
    chosen = choose_list(args)
    frozen = list_frozen_cells(chosen)
    cells = select_cells(args, frozen)
    if args.cells:
        print(f"{len(cells)} cells, {digest_cells(frozen)}", *cells, sep="\n")
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the workers and PostgreSQL, too
    began = time.monotonic()
    outcomes = select_from_log(cells, args.log) if args.report else run_cells(cells, args.jobs, args.log, args.minutes)
    outcomes.sort(key=lambda outcome: cells.index(outcome.cell))
    seconds = sum(outcome.seconds for outcome in outcomes) / args.jobs if args.log else time.monotonic() - began
    summary = {**summarize(outcomes, len(cells), frozen), "seconds": round(seconds, 1), "machine": describe_machine()}
    print(format_tables(summary))
    if args.keep:
        keep(chosen, summary, format_tables(summary))
    if args.json:
        print(json.dumps(summary))


if __name__ == "__main__":
    main()
