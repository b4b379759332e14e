"""Runs `midcourse` commands as forked processes, which start immediately and can be killed.

    python -m benchmarks.harness.commands

This process imports everything once, then forks for each line it reads. The child runs `midcourse` with the words of the line, and
the parent prints the child's pid. The children end with the parent.
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
"""Modules imported before forking, because importing them in each child takes longer than many runs."""


@dataclass(frozen=True)
class Command:
    pid: int
    ended: asyncio.Event
    output: Path

    @classmethod
    def of(cls, pid: int, output: Path) -> "Command":
        return cls(pid, _watch_end(pid), output)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    @property
    def last_output(self) -> dict[str, Any] | None:
        """The JSON object on the last line of its output. None if it was killed before it printed one."""
        lines = self.output.read_text(encoding="utf-8").splitlines()
        with suppress(IndexError, ValueError):
            return json.loads(lines[-1])
        return None


@dataclass
class Commands:
    """Starts commands: `with Commands(folder) as commands`. The output of each is a file in the folder."""

    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Environment variables for all commands."""

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
        output = self.folder / f"{self._begun}-{words[0]}.out"
        line = {"words": [*words, "--json"], "home": str(home), "output": str(output)}
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()
        pid = int(self._process.stdout.readline())
        return Command.of(pid, output)


def _watch_end(pid: int) -> asyncio.Event:
    """Return an event that is set when the process ends. It is not a child of this process, so `wait` is not possible."""
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    try:
        file = os.pidfd_open(pid)
    except ProcessLookupError:
        ended.set()
        return ended

    def set_ended() -> None:
        loop.remove_reader(file)
        os.close(file)
        ended.set()

    loop.add_reader(file, set_ended)
    return ended


def main() -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    serve_forks(lambda line: _run_midcourse(**json.loads(line)))


def _run_midcourse(words: list[str], home: str, output: str) -> NoReturn:
    from midcourse.cli.main import main as midcourse

    os.environ["MIDCOURSE_HOME"] = home
    nothing = os.open(os.devnull, os.O_RDONLY)
    output_file = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    log = os.open(f"{output}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for file, stream in ((nothing, 0), (output_file, 1), (log, 2)):
        os.dup2(file, stream)
    code = 1
    try:
        code = midcourse(words)
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(code)  # skips the interpreter's shutdown, during which Temporal's threads may still use it


if __name__ == "__main__":
    main()
