"""A process that forks a child for each line that it reads, and answers with its pid. Its children end with it."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn


def serve_forks(live: Callable[[str], NoReturn]) -> None:
    """Until there is nothing more to read. `live` is what a child does with its line."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who dies is gone
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            live(line)
        print(pid, flush=True)
    for pid in _children():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _children() -> list[int]:
    """Asked of the system: the pid of a child that is gone may be a stranger's by now."""
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
