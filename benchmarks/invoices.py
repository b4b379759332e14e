"""Is an invoice lost or booked twice when the batch is killed with -9 every few seconds? Counted in the ERP's log.

    python -m benchmarks.invoices --rows 500 --json

All rows share one ERP; the seed of a row decides the faults it meets. When the batch is killed, the same command continues it. Rows
that ended without success run again as a separate batch, with the same business keys and other faults, until nothing is missing or
`--rounds` are over. If a key is taken because an earlier run booked the invoice, or may have, a user would look: the benchmark reads
the ERP's log instead, and uses `--again` only for invoices that are not there.

booked_once     invoices with one line in the ERP's log
booked_twice    invoices with more than one
missing         invoices with none
kills           kills of the process
asked           runs that asked the approver what happened
failed          rows that ended without success in the first round
looked          of these, rows with a key that stayed taken, so that a user would have to look
"""

import argparse
import asyncio
import contextlib
import csv
import json
import os
import random
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks import ROOT
from benchmarks.harness.replay_check import check_journals
from benchmarks.harness.report import describe_machine, format_table, keep, make_parser
from midcourse.worlds.simulated.drift import PROFILES

TASK = ROOT / "examples" / "tasks" / "invoice.toml"
SUPPLIERS = (
    "Harbour Supplies",
    "Nordwind GmbH",
    "Café Müller, Inh. Ö. Yılmaz",
    'The "Paper" Company',
    "O'Neill & Sons",
)
LIMITS = {"max_calls": 400, "max_segments": 200, "max_replans": 60, "max_error_replans": 40}
"""Generous limits, because every kill costs a plan, and limits are not measured here."""
LEGEND = """Counted in the ERP's own log. `failed` rows ended without success in the first round and were run again, with other trouble
and under the same keys, in as many further `rounds` as it took; `looked` are those of them whose key stayed taken."""
MIN_KILL_SECONDS, MAX_KILL_SECONDS = 3.0, 6.0
"""Seconds between two kills."""


@dataclass
class Trial:
    """One table of invoices with its ERP, and the counts of the trial."""

    folder: Path
    rows: list[dict[str, str]]
    concurrency: int
    chance: random.Random
    kills: int = 0
    rounds: int = 0
    failed: int = 0
    looked: int = 0
    task: Path = field(init=False)

    def __post_init__(self) -> None:
        self.task = self.folder / "invoice.toml"

    @property
    def log(self) -> Path:
        return self.folder / "erp.jsonl"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def write_task(self, drift: str, *, process: bool) -> None:
        """Write the packaged task with one ERP for all rows, drift by seed, and a business key."""
        text = TASK.read_text()
        options = (
            f'options = {{ effects = "{self.log}", seed = "$input.seed", drift = "{drift}", act_seconds = 0.02 }}\n'
        )
        world = 'name = "erp"\n' + ("process = true\n" if process else "") + options
        room = "".join(f"{name} = {most}\n" for name, most in LIMITS.items())
        for old, new in (
            ("[inputs]\n", "[inputs]\nseed = 0\n"),
            ('name = "erp"\n', world),
            ("[settings]\n", f"[settings]\n{room}"),
        ):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        if "\nkey = " not in text:
            text = 'key = "invoice $input.number"\n' + text
        self.task.write_text(text)

    def count_booked(self) -> Counter[str]:
        if not self.log.exists():
            return Counter()
        lines = self.log.read_text().splitlines()
        return Counter(str(json.loads(line)["number"]) for line in lines)

    def list_missing(self) -> list[dict[str, str]]:
        booked = self.count_booked()
        return [row for row in self.rows if not booked[row["number"]]]

    async def run_round(self, rows: list[dict[str, str]], *, again: bool = False) -> list[dict[str, str]]:
        """Run these rows until the batch ends, continuing it after every kill, and return their results."""
        self.rounds += 1
        name = f"round-{self.rounds}"
        table = self.folder / f"{name}.csv"
        with table.open("w", newline="") as file:
            writer = csv.DictWriter(file, [*rows[0], "seed"])
            writer.writeheader()
            writer.writerows({**row, "seed": self.chance.randrange(10**9)} for row in rows)
        results = self.folder / f"{name}-results.csv"
        words = ["run", str(self.task), "--inputs", str(table), "--batch", name, "--results", str(results)]
        words += ["--concurrency", str(self.concurrency), *(["--again"] if again else [])]
        while not await self._run_until_killed(words):
            self.kills += 1
        with results.open(newline="") as file:
            return list(csv.DictReader(file))

    async def _run_until_killed(self, words: list[str]) -> bool:
        """Run the command and kill it after a random time from its first output on. Return whether it ended before that."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "midcourse",
            *words,
            env={**os.environ, "MIDCOURSE_HOME": str(self.home), "MIDCOURSE_SECRET_PASSWORD": "lovelace"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        assert process.stdout
        await process.stdout.readline()
        try:
            await asyncio.wait_for(process.communicate(), self.chance.uniform(MIN_KILL_SECONDS, MAX_KILL_SECONDS))
        except TimeoutError:
            process.send_signal(signal.SIGKILL)
            await process.wait()
            return False
        if process.returncode not in (0, 1):
            raise SystemExit(f"midcourse ended with {process.returncode}")
        return True

    def close(self) -> None:
        """Stop the ERP clients that a killed batch left running."""
        for ready in self.home.glob("runs/*/world/host-*.json"):
            with contextlib.suppress(OSError, ValueError):
                os.kill(json.loads(ready.read_text())["pid"], signal.SIGTERM)

    def count_asked(self) -> int:
        with sqlite3.connect(self.home / "midcourse.db") as store:
            return store.execute(
                "SELECT count(DISTINCT run) FROM journal WHERE commands LIKE '%ask_person%'"
            ).fetchone()[0]


def make_invoices(count: int, chance: random.Random) -> list[dict[str, str]]:
    return [
        {
            "number": f"INV-{10_000 + number}",
            "supplier": chance.choice(SUPPLIERS),
            "amount": f"{chance.randrange(100, 500_000) / 100:.2f}",
            "date": f"2026-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}",
            "cost_centre": str(chance.randrange(1000, 10_000)),
        }
        for number in range(count)
    ]


async def book_all(trial: Trial, max_rounds: int, verbose: bool) -> None:
    results = await trial.run_round(trial.rows)
    trial.failed = sum(row["success"] == "false" for row in results)
    while (missing := trial.list_missing()) and trial.rounds < max_rounds:
        if verbose:
            print(f"round {trial.rounds}: {len(missing)} not booked, {trial.kills} kills", file=sys.stderr)
        results = await trial.run_round(missing)
        taken_rows = [
            row for row, result in zip(missing, results, strict=True) if result["final_reason"] == "key_taken"
        ]
        trial.looked += len(taken_rows)
        unbooked = [row for row in taken_rows if not trial.count_booked()[row["number"]]]
        if unbooked:
            await trial.run_round(unbooked, again=True)


async def main(args: argparse.Namespace) -> int:
    began = time.monotonic()
    chance = random.Random(args.seed)
    with tempfile.TemporaryDirectory() as name:
        trial = Trial(Path(name), make_invoices(args.rows, chance), args.concurrency, chance)
        trial.write_task(args.drift, process=not args.in_process)
        try:
            await book_all(trial, args.rounds, not args.json)
        finally:
            trial.close()
        booked = trial.count_booked()
        asked = trial.count_asked()
        replayed = await check_journals(trial.home / "midcourse.db")
    known = {row["number"] for row in trial.rows}
    summary = {
        "rows": args.rows,
        "booked_once": sum(booked[number] == 1 for number in known),
        "booked_twice": sum(booked[number] > 1 for number in known),
        "missing": sum(booked[number] == 0 for number in known),
        "kills": trial.kills,
        "asked": asked,
        "failed": trial.failed,
        "looked": trial.looked,
        "rounds": trial.rounds,
        "again": asdict(replayed),
        "drift": {args.drift: PROFILES[args.drift].digest},
        "process": not args.in_process,
        "concurrency": args.concurrency,
        "seed": args.seed,
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    text = format_table(["", "invoices"], [[name, str(value)] for name, value in list(summary.items())[:9]])
    if args.keep:
        keep("invoices", summary, text + "\n\n" + LEGEND)
    if not args.json:
        print(text)
    print(json.dumps(summary))
    right = summary["booked_once"] == args.rows and set(booked) <= known and not replayed.differing
    return 0 if right else 1


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--drift", default="moderate", choices=PROFILES)
    parser.add_argument("--in-process", action="store_true", help="the ERP client of each row dies with the batch")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    sys.exit(asyncio.run(main(parser.parse_args())))
