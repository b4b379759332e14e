"""Midcourse beside other agent systems: what is repeated, what is falsely called done, what is completed, and at which cost?

    python -m benchmarks.peers --json --log benchmarks/results/peers.jsonl

Every system works on the same pages, behind a proxy with the same faults (`peer_systems/faults.py`), with the same scripted model, which
sees only what each request shows. Each has an environment and a lock of its own. What was stored is read from the application.

completed     reported as done, stored as asked for, and once
repeated      runs in which it was stored more than once
false 'done'  reported as done, and not stored as asked for
asked         runs in which a person was asked whether something had happened

The cells are fixed in `peer_systems/cells.py`; `--cells` prints all of them. Runs that are in the log are not run again. A pair of system
and application that does not complete every undisturbed run is reported as not comparable.
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

from benchmarks.harness.report import describe_machine, keep, make_parser
from benchmarks.llm.tokenizer import is_installed, tokenizer
from benchmarks.peer_systems.cells import FROZEN, Cell, all_cells, digest
from benchmarks.peer_systems.summary import summary_of, tables
from benchmarks.peer_systems.systems import SYSTEMS, Worker
from benchmarks.peer_systems.trial import Ended, run_cell
from midcourse.store.postgres import development


class Workers:
    """A process of each system for each thread."""

    def __init__(self) -> None:
        self._local = local()
        self._all: list[Worker] = []
        self._lock = Lock()

    def of(self, system: str) -> Worker:
        mine: dict[str, Worker] = self._local.__dict__.setdefault("workers", {})
        if system not in mine:
            mine[system] = Worker(SYSTEMS[system])
            with self._lock:
                self._all.append(mine[system])
        return mine[system]

    def kill(self) -> None:
        for worker in self._all:
            worker.kill()

    def close(self) -> None:
        for worker in self._all:
            worker.close()


@contextmanager
def postgres_for(cells: list[Cell]) -> Generator[str]:
    """The address of a server for LangGraph's checkpoints, if there are any to keep."""
    if not any(cell.system == "langgraph" for cell in cells):
        yield ""
        return
    with tempfile.TemporaryDirectory() as folder:
        try:
            yield development.start(Path(folder) / "postgres")
        finally:
            development.remove(Path(folder) / "postgres")


def run(cells: list[Cell], jobs: int, log: Path | None, minutes: float) -> list[Ended]:
    """Those of the log, and those that are still to be run."""
    ended = of_log(cells, log)
    done = {one.cell for one in ended}
    left = [cell for cell in cells if cell not in done]
    encode = tokenizer() if is_installed() else None
    until = time.monotonic() + 60 * minutes if minutes else float("inf")
    workers = Workers()
    with postgres_for(left) as postgres, ThreadPoolExecutor(jobs) as pool:

        def one(cell: Cell) -> Ended | None:
            return run_cell(cell, workers.of(cell.system), encode, postgres) if time.monotonic() < until else None

        try:
            for future in as_completed([pool.submit(one, cell) for cell in left]):
                if told := future.result():
                    ended.append(told)
                    print(f"{len(ended)}/{len(cells)} {progress(told)}", file=sys.stderr, flush=True)
                    if log:
                        with log.open("a", encoding="utf-8") as file:
                            print(json.dumps(asdict(told)), file=file)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            workers.kill()  # if this was interrupted, the runs under way end here
    workers.close()
    return ended


def of_log(cells: list[Cell], log: Path | None) -> list[Ended]:
    wanted = set(cells)
    return [one for one in logged(log) if one.cell in wanted]


def logged(log: Path | None) -> list[Ended]:
    lines = log.read_text(encoding="utf-8").splitlines() if log and log.exists() else []
    return [Ended(**json.loads(line)) for line in lines]


def progress(ended: Ended) -> str:
    how = "completed" if ended.completed else f"NOT COMPLETED ({ended.reason[:120]!r}, {ended.trouble})"
    again = f", {ended.repeated} repeated" if ended.repeated else ""
    unhurt = "" if ended.happened else ", the fault did not happen"
    return f"{ended.cell}: {how}{again}{unhurt}, {ended.calls} calls, {ended.tokens_in} tokens, {ended.seconds:.0f} s"


def chosen(args: argparse.Namespace) -> list[Cell]:
    """All cells, or those with these systems, applications, faults, profiles and seeds."""
    wanted = {
        name: getattr(args, f"{name}s") for name in ("system", "app", "fault", "profile") if getattr(args, f"{name}s")
    }
    return [
        cell
        for cell in all_cells()
        if all(getattr(cell, name) in values for name, values in wanted.items())
        and (args.seeds is None or cell.seed < args.seeds)
    ]


def main() -> None:
    parser = make_parser(__doc__)
    for name in ("systems", "apps", "faults", "profiles"):
        parser.add_argument(f"--{name}", nargs="+", help="only these")
    parser.add_argument("--seeds", type=int, help="so many of each cell; all without it")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=0.0, help="start no run after this time")
    parser.add_argument("--log", type=Path, help="a file for every run as it ends; those in it are not run again")
    parser.add_argument("--cells", action="store_true", help="print all cells in their order, and run none")
    parser.add_argument("--report", action="store_true", help="run nothing, and report what the log has")
    args = parser.parse_args()
    if digest() != FROZEN:
        raise SystemExit(f"The cells are not those that were fixed: {digest()}, not {FROZEN}")
    cells = chosen(args)
    if args.cells:
        print(f"{len(cells)} cells, {FROZEN}", *cells, sep="\n")
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the workers and PostgreSQL, too
    began = time.monotonic()
    ended = of_log(cells, args.log) if args.report else run(cells, args.jobs, args.log, args.minutes)
    ended.sort(key=lambda one: cells.index(one.cell))
    seconds = sum(one.seconds for one in ended) / args.jobs if args.log else time.monotonic() - began
    told = {**summary_of(ended, len(cells)), "seconds": round(seconds, 1), "machine": describe_machine()}
    print(tables(told))
    if args.keep:
        keep("peers", told, tables(told))
    if args.json:
        print(json.dumps(told))


if __name__ == "__main__":
    main()
