"""Starts a host in a detached process that outlives this one.

This needs `fork` (Linux, macOS), because the host detaches itself from the process that started it.
"""

import contextlib
import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import IO

from midcourse.codec import decode
from midcourse.files import private_folder, private_opener
from midcourse.worlds.host.wire import Handle, Ready


def start(world: str, folder: Path, idle: float) -> Handle:
    """Start a host and wait until it listens. It writes its log to a file and shares no pipe, so it can outlive this process."""
    private_folder(folder)
    stem = folder / f"host-{secrets.token_hex(4)}"
    ready, log = stem.with_suffix(".json"), stem.with_suffix(".log")
    command = [sys.executable, "-m", "midcourse.worlds.host", "--detach", "--world", world]
    command += ["--ready", str(ready), "--idle", str(idle)]
    with open(log, "ab", opener=private_opener) as out:
        code = _execute(command, out)
    if code:
        last_line = log.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2]
        raise ConnectionError(f"the host of {world} did not start: {last_line}")
    return read_host_file(ready)


def _execute(command: list[str], out: IO[bytes]) -> int:
    """Run a command in its own session, with its output in a file, and return its exit code."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        umask=0o077,  # a world may write files next to those of the run
        env=_environment(),
        check=False,
    ).returncode


def find_started_hosts(folder: Path) -> list[Handle]:
    """Find the hosts that were started in this folder, for example by a worker that died before it stored their handle."""
    found: list[Handle] = []
    for ready in sorted(folder.glob("host-*.json")):
        with contextlib.suppress(OSError, ValueError):
            found.append(read_host_file(ready))
    return found


def read_host_file(ready: Path) -> Handle:
    """Return the handle of the host that wrote this file."""
    return decode(Ready, ready.read_bytes()).handle


def _environment() -> dict[str, str]:
    """Return the host's environment, in which it finds modules where this process finds them."""
    path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
    return {**os.environ, "PYTHONPATH": path}
