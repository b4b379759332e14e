"""A process that forks a child for each line it reads, and prints the pid of the child. Its children end with it."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn


def serve_forks(run_child: Callable[[str], NoReturn]) -> None:
    """Fork until the end of stdin. Each child calls `run_child` with its line."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that children leave no zombies
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            run_child(line)
        print(pid, flush=True)
    for pid in _list_children():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _list_children() -> list[int]:
    """Return the pids of the living children, read from /proc because the pid of an ended child may have been reused."""
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
