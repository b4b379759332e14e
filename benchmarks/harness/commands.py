"""`midcourse` commands as forked processes, which start immediately and can be killed.

    python -m benchmarks.harness.commands

has everything imported and forks a process for each line that it reads, which is then `midcourse` with those words. It answers
with the process's pid. Its processes end with it.
"""

import asyncio
import importlib
import json
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from benchmarks import ROOT
from benchmarks.harness.process_pool import serve_forks

IMPORTED = (
    "midcourse.cli.main",
    "midcourse.cli.commands.run",
    "midcourse.cli.commands.resume",
    "midcourse.cli.session.durable",
    "midcourse.cli.commands.fleet.worker",
    "midcourse.worlds.remote",
    "midcourse.worlds.browser",
    "benchmarks.web_apps.shop",
)
"""What would otherwise be imported by each of them again, which takes longer than many a run."""


@dataclass(frozen=True)
class Command:
    pid: int
    ended: asyncio.Event
    said: Path

    @classmethod
    def of(cls, pid: int, said: Path) -> "Command":
        return cls(pid, _end_of(pid), said)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    @property
    def last_words(self) -> dict[str, Any] | None:
        """The object on its last line. None if it was killed before it printed anything."""
        lines = self.said.read_text(encoding="utf-8").splitlines()
        with suppress(IndexError, ValueError):
            return json.loads(lines[-1])
        return None


@dataclass
class Commands:
    """`with Commands(folder) as commands`: their output is kept in the folder, a file each."""

    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """For the environment of each."""

    def __enter__(self) -> "Commands":
        self._begun = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.harness.commands"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, **self.settings},
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def begin(self, words: Sequence[str], home: Path) -> Command:
        assert self._process.stdin
        assert self._process.stdout
        self._begun += 1
        said = self.folder / f"{self._begun}-{words[0]}.out"
        line = {"words": [*words, "--json"], "home": str(home), "said": str(said)}
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()
        pid = int(self._process.stdout.readline())
        return Command.of(pid, said)


def _end_of(pid: int) -> asyncio.Event:
    """Set when the process ended. It is not a child of this process, which could wait for it."""
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    try:
        file = os.pidfd_open(pid)
    except ProcessLookupError:
        ended.set()
        return ended

    def gone() -> None:
        loop.remove_reader(file)
        os.close(file)
        ended.set()

    loop.add_reader(file, gone)
    return ended


def main() -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    serve_forks(lambda line: _be_midcourse(**json.loads(line)))


def _be_midcourse(words: list[str], home: str, said: str) -> NoReturn:
    from midcourse.cli.main import main as midcourse

    os.environ["MIDCOURSE_HOME"] = home
    nothing = os.open(os.devnull, os.O_RDONLY)
    out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    log = os.open(f"{said}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for file, stream in ((nothing, 0), (out, 1), (log, 2)):
        os.dup2(file, stream)
    code = 1
    try:
        code = midcourse(words)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(code)  # without winding down: Temporal's threads may still want the interpreter


if __name__ == "__main__":
    main()
