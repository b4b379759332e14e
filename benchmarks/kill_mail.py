"""Is an e-mail lost or sent twice when the process is killed with -9 while it is being sent? Counted by the mail server.

    python -m benchmarks.kill_mail --runs 20 --json

Each run sends one e-mail from claws-mail to a server of its own. The server has it, and is slow to say so: in that time `midcourse run` is
killed, at a moment drawn from the seed, and `midcourse resume` continues.

survives    the desktop is in a separate process (`process = true` in the task file) and is there when the run continues
dies        the desktop and claws-mail end with the run's process, and so with no answer of the server

lost        the server has no such e-mail, or the run neither finished nor asked
repeated    e-mails beyond the one
asked       runs that ended with a question, since nothing on the machine tells whether the e-mail was sent
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
from benchmarks.harness.report import keep, machine, options_of, table

DESKTOPS = ("survives", "dies")
PATIENCE = 600.0
"""Seconds after which a run counts as stuck."""
_GLANCE = 0.01


@dataclass(frozen=True, kw_only=True)
class Ended:
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


async def interrupted(desktop: str, seed: int, commands: Commands, folder: Path) -> Ended:
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
        killed = await _killed(running, server, moment)
        result = running.last_words
        if killed:
            resumed = commands.begin(["resume", "victim"], home)
            await asyncio.wait_for(resumed.ended.wait(), PATIENCE)
            result = resumed.last_words
        return Ended(
            desktop=desktop,
            seed=seed,
            killed=killed,
            received=len(server.received),
            whole=any(map(is_whole, server.received)),
            result=result or {},
        )


async def _killed(running: Command, server: MailServer, moment: float) -> bool:
    """Whether it was killed so many seconds after the server got the e-mail."""
    until = time.monotonic() + PATIENCE
    while not server.received and not running.ended.is_set() and time.monotonic() < until:  # noqa: ASYNC110
        await asyncio.sleep(_GLANCE)  # the server is in another thread
    await asyncio.sleep(moment)
    if running.ended.is_set():
        return False
    running.kill()
    await running.ended.wait()
    return True


async def run(options: argparse.Namespace) -> list[Ended]:
    places = asyncio.Semaphore(options.together)
    with tempfile.TemporaryDirectory(prefix="midcourse-kill-", ignore_cleanup_errors=True) as name:
        said = Path(name) / "said"
        said.mkdir()
        with Commands(said) as commands:

            async def one(desktop: str, seed: int) -> Ended:
                async with places:
                    ended = await interrupted(desktop, seed, commands, Path(name))
                print(
                    f"{desktop} {seed}: {_end(ended)}, {ended.received} received",
                    file=sys.stderr,
                    flush=True,
                )
                return ended

            seeds = range(options.first_seed, options.first_seed + options.runs)
            return list(await asyncio.gather(*(one(desktop, seed) for desktop in DESKTOPS for seed in seeds)))


def _end(one: Ended) -> str:
    return str(one.result.get("final_reason") or one.result.get("error") or "nothing")


def summed(desktop: str, ended: list[Ended]) -> dict[str, object]:
    mine = [one for one in ended if one.desktop == desktop]
    return {
        "runs": len(mine),
        "killed": sum(one.killed for one in mine),
        "received": sum(one.received for one in mine),
        "lost": sum(one.lost for one in mine),
        "repeated": sum(max(0, one.received - 1) for one in mine),
        "asked": sum(one.asked for one in mine),
        "ended": dict(Counter(map(_end, mine))),
    }


async def main(options: argparse.Namespace) -> int:
    began = time.monotonic()
    ended = await run(options)
    rows = {desktop: summed(desktop, ended) for desktop in DESKTOPS}
    wrong = [one for one in ended if one.lost or one.received > 1]
    summary: dict[str, object] = {
        **rows,
        "first_seed": options.first_seed,
        "seconds": round(time.monotonic() - began, 1),
        "machine": machine(),
    }
    if wrong:
        summary["look_at"] = {f"{one.desktop} {one.seed}": one.result for one in wrong}
    header = ["desktop", *rows["survives"]]
    told = table(header, [[desktop, *map(str, row.values())] for desktop, row in rows.items()])
    if options.keep:
        keep("kill_mail", summary, told)
    if not options.json:
        print(told)
    print(json.dumps(summary))
    return 0 if not wrong else 1


if __name__ == "__main__":
    parser = options_of(__doc__)
    parser.add_argument("--runs", type=int, default=20, help="for each kind of desktop")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--together", type=int, default=2, help="runs at a time")
    sys.exit(asyncio.run(main(parser.parse_args())))
