"""Does a secret appear in anything a run stores, though the site repeats it in nine encodings?

    python -m benchmarks.leaks --secrets 50 --json

The site echoes secrets in titles, addresses, labels, values, errors, dialogs, downloads, request bodies and their field names, frames
and the console. Runs are started from the command line, on the local runtime and in a fleet. Then the raw bytes of everything stored
are searched: files, tables, histories, logs, printed output, and what the planner received.

hits          (secret, encoding) pairs that were found: must be 0 everywhere
control       the same without masking, with one secret of each kind: must be found in every place, or the search proves nothing
told apart    pictures that look different with another set of secrets of the same shapes: a difference shows a part of a secret
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from benchmarks import ROOT
from benchmarks.harness.report import describe_machine, format_table, keep, make_parser
from benchmarks.leak_checks.kinds import KINDS, make_secrets
from benchmarks.leak_checks.pictures import Pictures, find_unmatched
from benchmarks.leak_checks.sinks import Sinks, find_hits, read_files, read_histories, read_tables
from benchmarks.leak_checks.site import Telltale
from midcourse.config.up_file import read_up
from midcourse.testing.models import ModelServer, Says
from midcourse.testing.sites import serve

UNMASKED = ROOT / "benchmarks" / "leak_checks" / "unmasked"
SEED, TWIN_SEED = 17, 1017
STUCK_SECONDS = 3600.0
"""Seconds after which a run counts as stuck."""
WITHOUT_TEXT = ("pictures", "other files")
"""Places without text: pictures are compared instead."""
COLUMNS = ["", "bytes", "hits", "of", "control"]


@dataclass(kw_only=True)
class Arm:
    """One set of runs, and everything it stored."""

    runtime: str
    secrets: Mapping[str, str]
    masked: bool = True
    thorough: bool = True
    """Whether there are screenshots and a model that receives everything."""
    sinks: Sinks = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    pictures: Pictures = field(default_factory=dict)

    def count_hits(self) -> dict[str, int]:
        return {name: len(find_hits(content, self.secrets)) for name, content in self.sinks.items()}


def task_text(url: str, arm: Arm, heard: Path, model: str) -> str:
    names, screenshots = list(arm.secrets), "all" if arm.thorough else "never"
    rules = '[{ request = "POST /fetched*", status = 422 }]'
    policy = f'{{ "{url}" = {{ secrets = {json.dumps(names)}, evidence = {rules} }} }}'
    return f"""
goal = "Tell the site everything, and press every button"
secrets = {json.dumps(names)}

[done_when]
probe = "page_shows"
arguments = {{ url = "$secret.s00", text = "a page whose address is a secret cannot be asked, and what went wrong is logged" }}

[world]
name = "browser"
process = true
options = {{ start = "{url}/say/0", origins = {policy}, screenshots = "{screenshots}", quiet_seconds = 0.05 }}

[planner]
name = "benchmarks.leak_checks.clerk:Clerk"
options = {{ heard = {json.dumps(str(heard))}, model = "{model if arm.thorough else ""}" }}

[settings]
approvals = "never"
max_replans = 5000
max_error_replans = 5000
max_segments = 5000
max_calls = 5000
max_wall_seconds = {STUCK_SECONDS}
"""


class CommandLine:
    """Runs `midcourse` commands with a separate home folder, and keeps their output."""

    def __init__(self, home: Path, arm: Arm) -> None:
        self.home = home
        paths = [os.environ.get("PYTHONPATH", "")] if arm.masked else [str(UNMASKED), os.environ.get("PYTHONPATH", "")]
        known = {f"MIDCOURSE_SECRET_{name.upper()}": secret for name, secret in arm.secrets.items()}
        self._environment = {
            **os.environ,
            "MIDCOURSE_HOME": str(home),
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "OPENAI_API_KEY": "none",
            **known,
        }
        (home / "said").mkdir(parents=True)
        self._commands = 0

    async def __call__(self, *words: str) -> str:
        """Run a command and return its output, even if it failed."""
        self._commands += 1
        output = self.home / "said" / f"{self._commands}-{words[0]}"
        with output.with_suffix(".out").open("wb") as out, output.with_suffix(".err").open("wb") as err:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "midcourse", *words),
                cwd=ROOT,
                env=self._environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )
            await asyncio.wait_for(process.wait(), STUCK_SECONDS)
        return output.with_suffix(".out").read_text(encoding="utf-8")


async def run_arm(arm: Arm, folder: Path) -> None:
    site, home = Telltale(len(arm.secrets)), folder / "home"
    cli = CommandLine(home, arm)
    with serve(site) as url, ModelServer(lambda _: Says({"verdict": "gave_up", "reason": "nobody listens"})) as server:
        task = folder / "tell.toml"
        task.write_text(task_text(url, arm, home / "heard.jsonl", server.url), encoding="utf-8")
        await (_run_locally if arm.runtime == "local" else _run_in_fleet)(arm, cli, str(task))
    missing = {*arm.secrets.values()} - site.received
    assert not missing, f"{len(missing)} of the secrets never got to the site: {arm.reasons}"
    arm.sinks.update(read_files(home))
    if server.requests:
        arm.sinks["prompts"] = json.dumps([request.body for request in server.requests]).encode()
    saved = [path.read_bytes() for path in (home / "shots").iterdir()]
    arm.pictures = {sha256(picture).hexdigest(): picture for picture in saved}


async def _run_locally(arm: Arm, cli: CommandLine, task: str) -> None:
    await cli("run", task, "--run-id", "tell")
    await _read_results(arm, cli)


async def _run_in_fleet(arm: Arm, cli: CommandLine, task: str) -> None:
    await cli("up", "--detach")
    try:
        await cli("run", task, "--durable", "--detach", "--run-id", "tell")
        await asyncio.gather(cli("runs", "watch", "tell"), cli("runs", "watch", "tell", "--json"))
        await _read_results(arm, cli, "--durable")
        up = read_up(cli.home)
        arm.sinks["PostgreSQL, tables"] = await asyncio.to_thread(read_tables, up.settings["database_url"])
        arm.sinks["Temporal, histories"] = await asyncio.to_thread(read_histories, up.settings["temporal_address"])
    finally:
        await cli("down")


async def _read_results(arm: Arm, cli: CommandLine, *where: str) -> None:
    shots = str(cli.home / "shots")
    for words in (
        ["show", "tell", "--pictures", shots],
        ["show", "tell", "--json"],
        ["show", "tell", "--plans"],
        ["runs", *where],
    ):
        output = await cli(*words)
        if "--json" in words:
            arm.reasons.append(str(json.loads(output.splitlines()[-1])["result"]["final_reason"]))


@dataclass(kw_only=True)
class Arms:
    """The measured runs, control runs without masking, and a twin with other secrets of the same shapes."""

    masked: list[Arm]
    controls: list[Arm]
    twin: Arm | None

    @classmethod
    def of(cls, number: int, runtimes: list[str], *, thorough: bool) -> "Arms":
        few = min(number, len(KINDS))
        return cls(
            masked=[
                Arm(runtime=runtime, secrets=make_secrets(number, SEED), thorough=thorough) for runtime in runtimes
            ],
            controls=[
                Arm(runtime=runtime, secrets=make_secrets(few, SEED), thorough=thorough, masked=False)
                for runtime in runtimes
            ],
            twin=Arm(runtime=runtimes[0], secrets=make_secrets(number, TWIN_SEED)) if thorough else None,
        )

    @property
    def pairs(self) -> list[tuple[Arm, Arm]]:
        return list(zip(self.masked, self.controls, strict=True))


async def measure(arms: Arms) -> None:
    for arm in (*arms.masked, *arms.controls, *([arms.twin] if arms.twin else [])):
        with tempfile.TemporaryDirectory(prefix="midcourse-leaks-") as folder:
            await run_arm(arm, Path(folder))
        mode = "masked" if arm.masked else "not masked"
        print(f"{arm.runtime}, {mode}: {arm.reasons}, {sum(arm.count_hits().values())} hits", file=sys.stderr)


def make_rows(arms: Arms) -> list[list[str]]:
    found: list[list[str]] = []
    for arm, control in arms.pairs:
        total, control_hits = str(9 * len(arm.secrets)), control.count_hits()
        found += [
            [f"{arm.runtime}: {name}", str(len(arm.sinks[name])), str(number), total, str(control_hits.get(name, 0))]
            for name, number in sorted(arm.count_hits().items())
        ]
    return found


def summarize(arms: Arms, seconds: float) -> dict[str, object]:
    masked = [*arms.masked, *([arms.twin] if arms.twin else [])]
    here, control = arms.pairs[0]
    figures: dict[str, object] = {
        "secrets": len(here.secrets),
        "encodings": 9,
        "places": len(make_rows(arms)),
        "hits": sum(sum(arm.count_hits().values()) for arm in masked),
        "blind": [
            f"{control_arm.runtime}: {name}"
            for control_arm in arms.controls
            for name, number in control_arm.count_hits().items()
            if not number and name not in WITHOUT_TEXT
        ],
        "ended": sorted({reason for arm in (*masked, *arms.controls) for reason in arm.reasons}),
        "where": {
            f"{arm.runtime}: {name}": found
            for arm in masked
            for name, content in arm.sinks.items()
            if (found := find_hits(content, arm.secrets)[:20])
        },
        "seconds": round(seconds, 1),
        "machine": describe_machine(),
    }
    if arms.twin is None:
        return figures
    return figures | {
        "pictures": len(here.pictures),
        "told_apart": len(
            find_unmatched(here.pictures, arms.twin.pictures) + find_unmatched(arms.twin.pictures, here.pictures)
        ),
        "control_told_apart": len(find_unmatched(control.pictures, here.pictures)),
    }


def has_passed(found: Mapping[str, object]) -> bool:
    pictures = not found["told_apart"] and bool(found["control_told_apart"]) if "pictures" in found else True
    return not found["hits"] and not found["blind"] and pictures


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--secrets", type=int, default=50)
    parser.add_argument("--runtime", choices=("local", "temporal", "both"), default="both")
    parser.add_argument("--quick", action="store_true", help="without screenshots and models")
    options = parser.parse_args()
    begun = time.monotonic()
    runtimes = ["local", "temporal"] if options.runtime == "both" else [options.runtime]
    arms = Arms.of(options.secrets, runtimes, thorough=not options.quick)
    asyncio.run(measure(arms))
    found, shown = summarize(arms, time.monotonic() - begun), format_table(COLUMNS, make_rows(arms))
    if options.keep:
        keep("leaks", found, shown)
    print(json.dumps(found) if options.json else shown)
    return 0 if has_passed(found) else 1


if __name__ == "__main__":
    sys.exit(main())
