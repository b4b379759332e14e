"""A lock file, which one process at a time holds. The operating system releases it when that process dies, however it dies.

It contains the id of that process, so that whatever waits for it can say for what.
"""

import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from midcourse.errors import RunBusy
from midcourse.holding import hold, holder_of, release_abandoned

if sys.platform != "win32":
    import fcntl

TRIES, PAUSE = 5, 0.01
"""How often a lock is tried, and the seconds between. A process that only checks for a lock holds it for a moment, too."""


@contextmanager
def lock_file(path: Path, run_id: str) -> Generator[None]:
    """Hold this file for a run. Raise `RunBusy` if another process, or another holder in this one, has it. On Windows, do nothing."""
    if sys.platform == "win32":
        yield
        return
    lock = _lock(path, run_id)

    def release() -> None:
        path.unlink(missing_ok=True)  # it is still locked, so no other process can have created a file there
        os.close(lock)

    with hold(path, release, forget=lambda: os.close(lock)):
        yield


def is_locked(path: Path) -> bool | None:
    """Return whether a process holds this file, or None on Windows, where that cannot be known. Nothing is created or deleted."""
    if sys.platform == "win32":
        return None
    release_abandoned(path)
    try:
        lock = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)  # several processes may check at the same time
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _lock(path: Path, run_id: str) -> int:
    tries = 0
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(lock, path):
                with suppress(OSError):  # a full disk; the lock holds without it
                    os.truncate(lock, 0)
                    os.write(lock, str(os.getpid()).encode())
                return lock
        except BlockingIOError:
            if not release_abandoned(path):
                tries += 1
                if tries == TRIES:
                    holder = _describe_holder(lock, path)
                    os.close(lock)
                    raise RunBusy(f"{holder} is driving run {run_id!r}") from None
                time.sleep(PAUSE)
        os.close(lock)


def _describe_holder(lock: int, path: Path) -> str:
    if here := holder_of(path):
        return f"this process ({here})"
    pid = os.pread(lock, 20, 0).decode("ascii", "replace")
    return f"process {pid}" if pid.isdigit() else "another process"


def _is_at(lock: int, path: Path) -> bool:
    """Return whether the locked file still exists at this path. A holder deletes it on release, and another process may have opened it before."""
    try:
        return os.path.samestat(os.fstat(lock), path.stat())
    except FileNotFoundError:
        return False
