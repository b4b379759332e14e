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
"""Seconds by which two readings of one start time may differ: the system derives it from the clock, which is adjusted."""

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
        """Send SIGTERM, then SIGKILL if it is still running after these seconds. Return when it has ended, or if it had ended before."""
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
    """Return the process with this id, or None if it has ended."""
    began = _read_start(pid)
    return None if began is None else Process(pid=pid, began=f"{began:.2f}")


def _read_start(pid: int) -> float | None:
    """Return the start time, or None for a process that has ended, even if its parent has not collected its exit code yet."""
    try:
        import psutil
    except ModuleNotFoundError:  # psutil comes with the extra `up`; without it no fleet runs here
        return None

    try:
        process = psutil.Process(pid)
        began = process.create_time()
        if process.status() != psutil.STATUS_ZOMBIE:
            return began
    except psutil.NoSuchProcess:  # or ZombieProcess, which is one of its kinds
        began = None
    try:
        # A child keeps its id until its exit code is collected, and has no exit code before its last thread has ended.
        ended, _ = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return None
    return None if ended else began


def leave(code: int) -> NoReturn:
    """Exit without finalizing the interpreter: Temporal's threads may still use it during finalization, and abort.

    github.com/temporalio/sdk-python/issues/300
    """
    flush_telemetry()
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def flush_telemetry() -> None:
    """Export what OpenTelemetry's providers have buffered, which otherwise happens when the interpreter exits."""
    for module, kind in PROVIDERS:
        provider = getattr(sys.modules.get(module), f"get_{kind}_provider", lambda: None)()
        flush = getattr(provider, "force_flush", None)
        if flush is not None:
            with contextlib.suppress(Exception):  # an error of an exporter must not prevent the exit
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
    """Return an id of this process that is unique across machines; empty where it cannot be determined, as on other systems than Linux."""
    try:
        return f"{_machine()} {os.getpid()} {_start_ticks(os.getpid())}"
    except (OSError, IndexError):
        return ""


def has_ended(identity: str) -> bool:
    """Return whether the process has certainly ended. False also for one on another machine or in another container, which cannot be checked."""
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
    """Return the kernel's boot id and the namespace of process ids. Process ids can be compared only if both are equal."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return f"{boot} {os.readlink('/proc/self/ns/pid')}"


def _start_ticks(pid: int) -> str:
    """Return the start time in ticks since the boot. Raise `FileNotFoundError` if the process has ended, with all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    if fields[0] in "ZX" and len(os.listdir(f"/proc/{pid}/task")) <= 1:
        raise FileNotFoundError(f"process {pid} has ended")
    return fields[19]
