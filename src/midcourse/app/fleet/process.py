"""A process by its id and when it began: an id alone may belong to another process by now."""

import contextlib
import logging
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

PAUSE = 0.02


@dataclass(frozen=True, kw_only=True)
class Process:
    pid: int
    began: str
    """When, in the system's own notation. No two processes have both this and the id in common."""

    @property
    def alive(self) -> bool:
        return _began(self.pid) == self.began

    def stop(self, seconds: float) -> None:
        """Ask it to go, and after so many seconds make it. Returns when it has gone; one that has gone is not an error."""
        self._send(signal.SIGTERM)
        if not self._gone_within(seconds):
            self._send(signal.SIGKILL)
            self._gone_within(seconds + 10)

    def _send(self, number: signal.Signals) -> None:
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _gone_within(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while self.alive and time.monotonic() < until:
            time.sleep(PAUSE)
        return not self.alive


def process_of(pid: int) -> Process | None:
    """None: there is no such process any more."""
    began = _began(pid)
    return Process(pid=pid, began=began) if began else None


def _began(pid: int) -> str:
    """Nothing for a process that is gone, or that only waits for its parent to notice."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # if it is our own, this is how we notice
    return _from_proc(pid) if Path("/proc/self/stat").exists() else _from_ps(pid)


def _from_proc(pid: int) -> str:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    fields = stat.rpartition(")")[2].split()  # the name before may hold anything
    state, ticks = fields[0], fields[19]
    return "" if state in "ZX" else f"{boot} {ticks}"


def _from_ps(pid: int) -> str:
    command = ["ps", "-o", "state=,lstart=", "-p", str(pid)]
    shown = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    state, _, began = shown.partition(" ")
    return "" if state.startswith("Z") else began.strip()


def leave(code: int) -> NoReturn:
    """End this process without winding down the interpreter: Temporal's threads may still want it then, and abort.

    github.com/temporalio/sdk-python/issues/300
    """
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
