"""A process, identified by its id and start time: an id alone may belong to another process by now."""

import contextlib
import logging
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    import psutil

PAUSE = 0.02

SAME_START = 2.0
"""Two readings of one start time may differ by so many seconds: the system derives it from the clock, which is adjusted."""

PROVIDERS = (("opentelemetry.trace", "tracer"), ("opentelemetry.metrics", "meter"), ("opentelemetry._logs", "logger"))
FLUSH_MILLISECONDS = 5_000


@dataclass(frozen=True, kw_only=True)
class Process:
    pid: int
    began: str
    """The start time in seconds since 1970, as text."""

    @property
    def alive(self) -> bool:
        began = _read_start(self.pid)
        try:
            return began is not None and abs(began - float(self.began)) < SAME_START
        except ValueError:  # written by an earlier version
            return False

    def stop(self, seconds: float) -> None:
        """Send SIGTERM, and SIGKILL after so many seconds. Returns when it has ended; one that had ended before is not an error."""
        self._send(signal.SIGTERM)
        if not self._wait(seconds):
            self._send(signal.SIGKILL)
            self._wait(seconds + 10)

    def _send(self, number: signal.Signals) -> None:
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _wait(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while self.alive and time.monotonic() < until:
            time.sleep(PAUSE)
        return not self.alive


def find_process(pid: int) -> Process | None:
    """The process with this id; None if it has ended."""
    began = _read_start(pid)
    return None if began is None else Process(pid=pid, began=f"{began:.2f}")


def _read_start(pid: int) -> float | None:
    """None for a process that has ended, also if its parent has not noticed yet."""
    try:
        import psutil
    except ModuleNotFoundError:  # it comes with the extra `up`, and without that extra there is no fleet to find here
        return None

    try:
        process = psutil.Process(pid)
        began = process.create_time()
        if process.status() != psutil.STATUS_ZOMBIE:
            return began
    except psutil.NoSuchProcess:  # or ZombieProcess, which is one of its kinds
        began = None
    try:
        # A child of ours keeps its id until we have asked for its exit code, and has none before its last thread has ended.
        ended, _ = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return None
    return None if ended else began


def leave(code: int) -> NoReturn:
    """End this process without winding down the interpreter: Temporal's threads may still want it then, and abort.

    github.com/temporalio/sdk-python/issues/300
    """
    flush_telemetry()
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def flush_telemetry() -> None:
    """Export what waits in the providers of OpenTelemetry, which otherwise happens when the interpreter ends."""
    for module, kind in PROVIDERS:
        provider = getattr(sys.modules.get(module), f"get_{kind}_provider", lambda: None)()
        flush = getattr(provider, "force_flush", None)
        if flush is not None:
            with contextlib.suppress(Exception):  # of an exporter: the process ends all the same
                flush(FLUSH_MILLISECONDS)


def end_marked(variable: str, value: str) -> None:
    """Kill every process of this user that has this environment variable, and return when all of them have ended.

    A child inherits it, so this also finds those whose parent has ended or that left its process group.
    """
    import psutil

    while found := [process for process in psutil.process_iter() if _is_marked(process, variable, value)]:
        for process in found:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(found, timeout=1)


def _is_marked(process: "psutil.Process", variable: str, value: str) -> bool:
    import psutil

    try:
        return process.environ().get(variable) == value and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, OSError):  # another user's, or it has ended
        return False


# --- processes of any machine


def identify_self() -> str:
    """Identifies this process among those of all machines; empty where that cannot be told, which is not on Linux."""
    try:
        return f"{_machine()} {os.getpid()} {_start_ticks(os.getpid())}"
    except (OSError, IndexError):
        return ""


def has_ended(identity: str) -> bool:
    """Whether the process certainly has ended. False also if that cannot be known from here: it is of another machine or container."""
    try:
        *machine, pid, began = identity.split(" ")
        if " ".join(machine) != _machine():
            return False
        return _start_ticks(int(pid)) != began
    except FileNotFoundError:
        return True
    except (OSError, IndexError, ValueError):
        return False


def _machine() -> str:
    """The boot of the kernel and the namespace of process ids: a number means the same process only where both are the same."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot} {os.readlink('/proc/self/ns/pid')}"


def _start_ticks(pid: int) -> str:
    """When it began, in ticks since the boot. Raises `FileNotFoundError` if it has ended, with all of its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    if fields[0] in "ZX" and len(os.listdir(f"/proc/{pid}/task")) <= 1:
        raise FileNotFoundError(f"process {pid} has ended")
    return fields[19]
