"""Is an e-mail lost or sent twice when the process is killed with -9 while it is being sent? Counted by the mail server.

    python -m benchmarks.kill_mail --runs 20 --json

Each run sends one e-mail from claws-mail to its own server. The server receives the e-mail and delays its answer. During the delay
`midcourse run` is killed, at a moment that the seed decides, and `midcourse resume` continues.

survives    the desktop is a separate process (`process = true` in the task file) and still exists when the run continues
dies        the desktop and claws-mail end with the run's process, before the server answers

lost        the server has no such e-mail, or the run neither finished nor asked
repeated    e-mails beyond the first
asked       runs that ended with a question, because nothing on the machine shows whether the e-mail was sent
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.desktop_stories.mail import MailServer, is_whole, prepare_claws, serving_mail, task_text
from benchmarks.harness.commands import Command, Commands
from benchmarks.harness.report import describe_machine, format_table, keep, make_parser

DESKTOPS = ("survives", "dies")
STUCK_SECONDS = 600.0
"""Seconds after which a run counts as stuck."""
_POLL_SECONDS = 0.01


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    desktop: str
    seed: int
    killed: bool
    received: int
    whole: bool
    result: dict[str, Any]

    @property
    def asked(self) -> bool:
        return self.result.get("final_reason") == "needs_human"

    @property
    def lost(self) -> bool:
        return not self.whole or not (self.result.get("verified") or self.asked)


async def run_with_kill(desktop: str, seed: int, commands: Commands, folder: Path) -> RunOutcome:
    chance, home = random.Random(seed), folder / f"{desktop}-{seed}"
    delay = chance.uniform(1.0, 2.0)
    moment = chance.uniform(0.0, delay)
    programs = home / "programs"
    programs.mkdir(parents=True)
    with serving_mail(delay) as server:
        prepare_claws(programs, server.port)
        task = home / "mail.toml"
        task.write_text(task_text(programs, process=desktop == "survives", approvals="never"), encoding="utf-8")
        running = commands.begin(["run", str(task), "--run-id", "victim"], home)
        killed = await _kill_after_receipt(running, server, moment)
        result = running.last_output
        if killed:
            resumed = commands.begin(["resume", "victim"], home)
            await asyncio.wait_for(resumed.ended.wait(), STUCK_SECONDS)
            result = resumed.last_output
        return RunOutcome(
            desktop=desktop,
            seed=seed,
            killed=killed,
            received=len(server.received),
            whole=any(map(is_whole, server.received)),
            result=result or {},
        )


async def _kill_after_receipt(running: Command, server: MailServer, delay: float) -> bool:
    """Kill the command `delay` seconds after the server received the e-mail. Return False if it had ended by itself."""
    deadline = time.monotonic() + STUCK_SECONDS
    while not server.received and not running.ended.is_set() and time.monotonic() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(_POLL_SECONDS)  # the server is in another thread
    await asyncio.sleep(delay)
    if running.ended.is_set():
        return False
    running.kill()
    await running.ended.wait()
    return True


async def run_all(options: argparse.Namespace) -> list[RunOutcome]:
    slots = asyncio.Semaphore(options.together)
    with tempfile.TemporaryDirectory(prefix="midcourse-kill-", ignore_cleanup_errors=True) as name:
        output_folder = Path(name) / "said"
        output_folder.mkdir()
        with Commands(output_folder) as commands:

            async def run_one(desktop: str, seed: int) -> RunOutcome:
                async with slots:
                    outcome = await run_with_kill(desktop, seed, commands, Path(name))
                print(
                    f"{desktop} {seed}: {_read_reason(outcome)}, {outcome.received} received",
                    file=sys.stderr,
                    flush=True,
                )
                return outcome

            seeds = range(options.first_seed, options.first_seed + options.runs)
            return list(await asyncio.gather(*(run_one(desktop, seed) for desktop in DESKTOPS for seed in seeds)))


def _read_reason(outcome: RunOutcome) -> str:
    return str(outcome.result.get("final_reason") or outcome.result.get("error") or "nothing")


def summarize(desktop: str, outcomes: list[RunOutcome]) -> dict[str, object]:
    selected = [outcome for outcome in outcomes if outcome.desktop == desktop]
    return {
        "runs": len(selected),
        "killed": sum(outcome.killed for outcome in selected),
        "received": sum(outcome.received for outcome in selected),
        "lost": sum(outcome.lost for outcome in selected),
        "repeated": sum(max(0, outcome.received - 1) for outcome in selected),
        "asked": sum(outcome.asked for outcome in selected),
        "ended": dict(Counter(map(_read_reason, selected))),
    }


async def main(options: argparse.Namespace) -> int:
    began = time.monotonic()
    outcomes = await run_all(options)
    rows = {desktop: summarize(desktop, outcomes) for desktop in DESKTOPS}
    wrong = [outcome for outcome in outcomes if outcome.lost or outcome.received > 1]
    summary: dict[str, object] = {
        **rows,
        "first_seed": options.first_seed,
        "seconds": round(time.monotonic() - began, 1),
        "machine": describe_machine(),
    }
    if wrong:
        summary["look_at"] = {f"{outcome.desktop} {outcome.seed}": outcome.result for outcome in wrong}
    header = ["desktop", *rows["survives"]]
    text = format_table(header, [[desktop, *map(str, row.values())] for desktop, row in rows.items()])
    if options.keep:
        keep("kill_mail", summary, text)
    if not options.json:
        print(text)
    print(json.dumps(summary))
    return 0 if not wrong else 1


if __name__ == "__main__":
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=20, help="for each kind of desktop")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--together", type=int, default=2, help="runs at a time")
    sys.exit(asyncio.run(main(parser.parse_args())))
