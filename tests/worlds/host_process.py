"""Runs `midcourse fleet host` in a separate process, for tests that use, stop or kill it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from midcourse.worlds.host.wire import Handle, read_host_file
from tests.forked import Forked

ROOT = Path(__file__).parents[2]
SHOP = "midcourse.worlds.simulated.shop:Shop"
ERP = "midcourse.worlds.simulated.erp:Erp"
GATE = "tests.worlds.hosted:Gate"
DIARY = "tests.worlds.hosted:Diary"
SLEEPER = "tests.worlds.hosted:Sleeper"


@dataclass(frozen=True, kw_only=True)
class HostProcess:
    process: Forked
    printed: dict[str, object]
    host: Handle

    @property
    def port(self) -> str:
        return self.host.url.rpartition(":")[2]


@contextmanager
def run_host(
    folder: Path, *arguments: str, worlds: str = f"shop,erp,{GATE},{DIARY},{SLEEPER}"
) -> Iterator[HostProcess]:
    ready = folder / "host.json"
    command = ["fleet", "host", "--json", "--worlds", worlds, "--ready", str(ready), "--set", f"home={folder}"]
    with Forked("midcourse", *command, *arguments, cwd=ROOT, errors=False) as process:
        try:
            printed = json.loads(process.stdout.readline())
            yield HostProcess(process=process, printed=printed, host=read_host_file(ready))
        finally:
            process.kill()
