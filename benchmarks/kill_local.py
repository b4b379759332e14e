"""Is an order lost or placed twice when the process is killed with -9 and resumed? Counted in the shop's own log.

    python -m benchmarks.kill_local --runs 200 --json

The seed of a run decides its fault and the times of its kills. A run is killed up to three times, in `run` or in `resume`.

lost                 the run did not succeed in time, or the shop has no order, and the approver was not asked
repeated             steps that were finished and then executed again
irreversible_twice   more than one order in the shop's log
asked                runs that asked the approver what happened, as they must when a probe finds no order for the second time
"""

import asyncio
import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import ROOT
from benchmarks.harness.replay_check import Replayed, check_journals
from benchmarks.harness.report import describe_machine, format_table, keep, make_parser

ORDER = ROOT / "examples" / "tasks" / "order.toml"
FAULT_COMMENT = '# [[world.faults]]\n# kind = "stored_but_error"\n# skill = "place_order"\n'
FAULTS = ("", "", "stored_but_error", "error_not_stored", "stored_late", "done_but_timeout")
MAX_KILLS = 3
NOT_BEGUN = "not begun"
KILL_SPREAD = 1.5
"""Kills are spread over this multiple of the duration of an undisturbed run, because runs share the machine."""
STUCK_FACTOR = 20.0
"""A run is stuck if, after its last kill, it takes a minute plus this multiple of the duration of an undisturbed run."""


@dataclass
class RunOutcome:
    seed: int
    fault: str
    killed_in: list[str]
    orders: int
    result: dict[str, object] | None
    repeated: int
    asked: bool
    again: Replayed

    @property
    def lost(self) -> bool:
        return not self.asked and (self.result is None or not self.result["verified"] or self.orders == 0)


def write_task(folder: Path, fault: str) -> Path:
    """Write the packaged task with a slow shop, so that there is time to kill the run."""
    seconds = "seconds = 0.3\n" if fault in ("stored_late", "done_but_timeout") else ""
    trouble = f'[[world.faults]]\nkind = "{fault}"\nskill = "place_order"\n{seconds}' if fault else ""
    text = ORDER.read_text()
    assert FAULT_COMMENT in text
    folder.mkdir()
    task = folder / "order.toml"
    slow = "process = true\noptions = { act_seconds = 0.05 }\n"
    task.write_text(text.replace(FAULT_COMMENT, trouble).replace("process = true\n", slow))
    return task


async def run_once(seed: int, folder: Path, typical_seconds: float) -> RunOutcome:
    chance = random.Random(seed)
    fault = chance.choice(FAULTS)
    task = write_task(folder, fault)
    home = folder / "home"
    words = ["run", str(task), "--run-id", "victim", "--json"]
    killed_in: list[str] = []
    result = None
    for attempt in range(MAX_KILLS + 5):
        is_spared = attempt >= MAX_KILLS
        limit = (
            60.0 + STUCK_FACTOR * typical_seconds if is_spared else chance.uniform(0.0, KILL_SPREAD * typical_seconds)
        )
        output = await run_midcourse(words, home, limit, signal.SIGABRT if is_spared else signal.SIGKILL)
        if output is None and is_spared:
            print(f"seed {seed} is stuck in {read_phase(home)}\n{describe_stuck_run(home)}", file=sys.stderr)
            break
        if output is None:
            killed_in.append(read_phase(home))
        elif output.strip():
            answer = json.loads(output.splitlines()[-1])
            result = None if "error" in answer else answer
            if result:
                break
        if read_phase(home) != NOT_BEGUN:
            words = ["resume", "victim", "--json"]
    replayed = await check_journals(home / "midcourse.db")
    return RunOutcome(
        seed, fault, killed_in, count_orders(home), result, count_repeated(home), was_asked(home), replayed
    )


async def run_midcourse(words: list[str], home: Path, limit: float | None, by: signal.Signals) -> str | None:
    """Run a command and return its output, or None if it was killed at the limit."""
    with stderr_file(home).open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "midcourse",
            *words,
            env={**os.environ, "MIDCOURSE_HOME": str(home), "PYTHONFAULTHANDLER": "1"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
        )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), limit)
    except TimeoutError:
        with suppress(ProcessLookupError):  # it may have ended by itself just now
            process.send_signal(by)
        await process.wait()
        return None
    return output.decode()


def stderr_file(home: Path) -> Path:
    """Return the file with the stderr of the last process, including the stacks of its threads if it was aborted."""
    return home.parent / "stderr.txt"


def describe_stuck_run(home: Path) -> str:
    """Collect the logs and the last journal events of a stuck run."""
    logs = [stderr_file(home), *sorted(home.rglob("*.log"))]
    parts = [f"{log.name}: {log.read_text(errors='replace')[-4000:]}" for log in logs]
    parts += [event for (event,) in query(home, "SELECT event FROM journal ORDER BY seq DESC LIMIT 3")]
    return "\n".join(parts)


def read_phase(home: Path) -> str:
    """Return the last stored phase of the run."""
    rows = query(home, "SELECT phase FROM runs")
    return rows[0][0] if rows else NOT_BEGUN


def was_asked(home: Path) -> bool:
    return bool(query(home, "SELECT 1 FROM journal WHERE commands LIKE '%ask_person%'"))


def count_orders(home: Path) -> int:
    log = home / "runs" / "victim" / "effects.jsonl"
    return sum('"effect": "order"' in line for line in log.read_text().splitlines()) if log.exists() else 0


def count_repeated(home: Path) -> int:
    """Count the further good outcomes in the ledger of steps that already had one in the same plan version."""
    rows = query(home, "SELECT body FROM ledger")
    entries = [json.loads(row[0]) for row in rows]
    good = Counter(
        (entry["version"], entry["index"])
        for entry in entries
        if entry["outcome"] and entry["outcome"]["status"] == "ok"
    )
    return sum(times - 1 for times in good.values())


def query(home: Path, sql: str) -> list[tuple[str]]:
    database = home / "midcourse.db"
    if not database.exists():
        return []
    with sqlite3.connect(database) as connection:
        try:
            rows = connection.execute(sql).fetchall()
        except sqlite3.OperationalError:
            rows = []
    connection.close()
    return rows


async def measure_undisturbed_run(folder: Path) -> float:
    """Measure the duration of an undisturbed run on this machine."""
    task = write_task(folder, "")
    began = time.monotonic()
    await run_midcourse(["run", str(task), "--json"], folder / "home", None, signal.SIGKILL)
    return time.monotonic() - began


async def main(runs: int, first_seed: int, concurrency: int, *, as_json: bool, kept: bool) -> int:
    began = time.monotonic()
    outcomes: list[RunOutcome] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        typical = await measure_undisturbed_run(folder / "typical")
        slots = asyncio.Semaphore(concurrency)

        async def run_seed(seed: int) -> None:
            async with slots:
                outcomes.append(await run_once(seed, folder / str(seed), typical))
            if not as_json or len(outcomes) % 20 == 0:
                print(
                    f"{len(outcomes)}/{runs} runs, {sum(len(outcome.killed_in) for outcome in outcomes)} kills",
                    file=sys.stderr,
                )

        await asyncio.gather(*(run_seed(first_seed + n) for n in range(runs)))
    summary: dict[str, object] = {
        "runs": runs,
        "lost": sum(outcome.lost for outcome in outcomes),
        "repeated": sum(outcome.repeated for outcome in outcomes),
        "irreversible_twice": sum(outcome.orders > 1 for outcome in outcomes),
        "asked": sum(outcome.asked for outcome in outcomes),
        "kills": sum(len(outcome.killed_in) for outcome in outcomes),
        "killed_runs": sum(bool(outcome.killed_in) for outcome in outcomes),
        "killed_in": dict(Counter(phase for outcome in outcomes for phase in outcome.killed_in).most_common()),
        "faults": dict(sorted(Counter(outcome.fault or "none" for outcome in outcomes).items())),
        "again": asdict(sum((outcome.again for outcome in outcomes), Replayed())),
        "first_seed": first_seed,
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    bad = sorted(
        outcome.seed
        for outcome in outcomes
        if outcome.lost or outcome.repeated or outcome.orders > 1 or outcome.again.differing
    )
    if bad:
        summary["look_at_seeds"] = bad
    text = format_table(["", "kill_local"], [[name, str(value)] for name, value in summary.items()])
    if kept:
        keep("kill_local", summary, text)
    if not as_json:
        print(text)
    print(json.dumps(summary))
    return 1 if bad else 0


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--concurrency", type=int, default=2)
    args = parser.parse_args()
    run = main(args.runs, args.first_seed, args.concurrency, as_json=args.json, kept=args.keep)
    sys.exit(asyncio.run(run))
