"""Is an order lost or placed twice when the process is killed with -9 and resumed? Counted in the shop's own log.

    python -m benchmarks.kill_local --runs 200 --json

Each run draws its fault and its moments of death from its seed. A run is killed up to three times, in `run` or in `resume`.

lost                 the run did not end well or in time, or the shop has no order, and no person was asked
repeated             steps that were finished and then carried out again
irreversible_twice   more than one order in the shop's log
asked                runs that asked a person what happened, as they must when a probe finds no order for the second time
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
from benchmarks.harness.report import keep, machine, options_of, table

ORDER = ROOT / "examples" / "tasks" / "order.toml"
COMMENTED = '# [[world.faults]]\n# kind = "stored_but_error"\n# skill = "place_order"\n'
FAULTS = ("", "", "stored_but_error", "error_not_stored", "stored_late", "done_but_timeout")
MOST_KILLS = 3
NOT_BEGUN = "not begun"
SPREAD = 1.5
"""Moments of death are spread over this many times an undisturbed run, since runs share the machine."""
PATIENCE = 20.0
"""A run that is killed no more and takes this many times an undisturbed one, and a minute, is stuck."""


@dataclass
class Ended:
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
    """The packaged task in a shop that takes its time, so that there is something to interrupt."""
    seconds = "seconds = 0.3\n" if fault in ("stored_late", "done_but_timeout") else ""
    trouble = f'[[world.faults]]\nkind = "{fault}"\nskill = "place_order"\n{seconds}' if fault else ""
    text = ORDER.read_text()
    assert COMMENTED in text
    folder.mkdir()
    task = folder / "order.toml"
    slow = "process = true\noptions = { act_seconds = 0.05 }\n"
    task.write_text(text.replace(COMMENTED, trouble).replace("process = true\n", slow))
    return task


async def once(seed: int, folder: Path, typical: float) -> Ended:
    chance = random.Random(seed)
    fault = chance.choice(FAULTS)
    task = write_task(folder, fault)
    home = folder / "home"
    words = ["run", str(task), "--run-id", "victim", "--json"]
    killed_in: list[str] = []
    result = None
    for attempt in range(MOST_KILLS + 5):
        left_alone = attempt >= MOST_KILLS
        limit = 60.0 + PATIENCE * typical if left_alone else chance.uniform(0.0, SPREAD * typical)
        output = await midcourse(words, home, limit, signal.SIGABRT if left_alone else signal.SIGKILL)
        if output is None and left_alone:
            print(f"seed {seed} is stuck in {phase_of(home)}\n{whereabouts(home)}", file=sys.stderr)
            break
        if output is None:
            killed_in.append(phase_of(home))
        elif output.strip():
            answer = json.loads(output.splitlines()[-1])
            result = None if "error" in answer else answer
            if result:
                break
        if phase_of(home) != NOT_BEGUN:
            words = ["resume", "victim", "--json"]
    replayed = await check_journals(home / "midcourse.db")
    return Ended(seed, fault, killed_in, count_orders(home), result, count_repeated(home), was_asked(home), replayed)


async def midcourse(words: list[str], home: Path, limit: float | None, by: signal.Signals) -> str | None:
    """What it printed, or None if it was killed."""
    with complaints(home).open("wb") as stderr:
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


def complaints(home: Path) -> Path:
    """What the last process printed on stderr; if it was aborted, where its threads were."""
    return home.parent / "stderr.txt"


def whereabouts(home: Path) -> str:
    """All that a run which is stuck has left behind."""
    logs = [complaints(home), *sorted(home.rglob("*.log"))]
    told = [f"{log.name}: {log.read_text(errors='replace')[-4000:]}" for log in logs]
    told += [event for (event,) in query(home, "SELECT event FROM journal ORDER BY seq DESC LIMIT 3")]
    return "\n".join(told)


def phase_of(home: Path) -> str:
    """What the run was waiting for, as far as it had written it down."""
    rows = query(home, "SELECT phase FROM runs")
    return rows[0][0] if rows else NOT_BEGUN


def was_asked(home: Path) -> bool:
    return bool(query(home, "SELECT 1 FROM journal WHERE commands LIKE '%ask_person%'"))


def count_orders(home: Path) -> int:
    log = home / "runs" / "victim" / "effects.jsonl"
    return sum('"effect": "order"' in line for line in log.read_text().splitlines()) if log.exists() else 0


def count_repeated(home: Path) -> int:
    """Steps of one plan version with more than one good outcome in the ledger."""
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


async def typical_seconds(folder: Path) -> float:
    """How long an undisturbed run takes here: kills are spread over that."""
    task = write_task(folder, "")
    began = time.monotonic()
    await midcourse(["run", str(task), "--json"], folder / "home", None, signal.SIGKILL)
    return time.monotonic() - began


async def main(runs: int, first_seed: int, concurrency: int, *, as_json: bool, kept: bool) -> int:
    began = time.monotonic()
    ended: list[Ended] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        typical = await typical_seconds(folder / "typical")
        places = asyncio.Semaphore(concurrency)

        async def place(seed: int) -> None:
            async with places:
                ended.append(await once(seed, folder / str(seed), typical))
            if not as_json or len(ended) % 20 == 0:
                print(f"{len(ended)}/{runs} runs, {sum(len(one.killed_in) for one in ended)} kills", file=sys.stderr)

        await asyncio.gather(*(place(first_seed + n) for n in range(runs)))
    summary = {
        "runs": runs,
        "lost": sum(one.lost for one in ended),
        "repeated": sum(one.repeated for one in ended),
        "irreversible_twice": sum(one.orders > 1 for one in ended),
        "asked": sum(one.asked for one in ended),
        "kills": sum(len(one.killed_in) for one in ended),
        "killed_runs": sum(bool(one.killed_in) for one in ended),
        "killed_in": dict(Counter(phase for one in ended for phase in one.killed_in).most_common()),
        "faults": dict(sorted(Counter(one.fault or "none" for one in ended).items())),
        "again": asdict(sum((one.again for one in ended), Replayed())),
        "first_seed": first_seed,
        "seconds": round(time.monotonic() - began, 1),
        "machine": machine(),
    }
    bad = sorted(one.seed for one in ended if one.lost or one.repeated or one.orders > 1 or one.again.differing)
    if bad:
        summary["look_at_seeds"] = bad
    text = table(["", "kill_local"], [[name, str(value)] for name, value in summary.items()])
    if kept:
        keep("kill_local", summary, text)
    if not as_json:
        print(text)
    print(json.dumps(summary))
    return 1 if bad else 0


if __name__ == "__main__":
    parser = options_of(__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--concurrency", type=int, default=2)
    given = parser.parse_args()
    done = main(given.runs, given.first_seed, given.concurrency, as_json=given.json, kept=given.keep)
    sys.exit(asyncio.run(done))
