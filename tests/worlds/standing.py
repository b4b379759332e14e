"""`midcourse fleet host` in a process of its own, for tests that work it, stop it, or kill it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from midcourse.worlds.host.start import read_host_file
from midcourse.worlds.host.wire import Handle
from tests.forked import Forked

ROOT = Path(__file__).parents[2]
SHOP = "midcourse.worlds.simulated.shop:Shop"
ERP = "midcourse.worlds.simulated.erp:Erp"
GATE = "tests.worlds.hosted:Gate"
DIARY = "tests.worlds.hosted:Diary"
SLEEPER = "tests.worlds.hosted:Sleeper"


@dataclass(frozen=True, kw_only=True)
class Standing:
    process: Forked
    said: dict[str, object]
    host: Handle

    @property
    def port(self) -> str:
        return self.host.url.rpartition(":")[2]


@contextmanager
def standing(folder: Path, *arguments: str, worlds: str = f"shop,erp,{GATE},{DIARY},{SLEEPER}") -> Iterator[Standing]:
    ready = folder / "host.json"
    command = ["fleet", "host", "--json", "--worlds", worlds, "--ready", str(ready), "--set", f"home={folder}"]
    with Forked("midcourse", *command, *arguments, cwd=ROOT, errors=False) as process:
        try:
            said = json.loads(process.stdout.readline())
            yield Standing(process=process, said=said, host=read_host_file(ready))
        finally:
            process.kill()
