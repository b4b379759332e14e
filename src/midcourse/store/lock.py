"""A lock file: held by one process at a time, and let go of by the operating system when that process dies, however it dies."""

import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from midcourse.errors import RunBusy

if sys.platform != "win32":
    import fcntl

TRIES, PAUSE = 5, 0.01
"""A process that only looks whether a file is locked holds it for a moment, so the first refusal is not the last word."""


@contextmanager
def lock_file(path: Path, run_id: str) -> Generator[None]:
    """Hold this file for a run; `RunBusy` if another process, or another holder in this one, has it. On Windows this does nothing."""
    if sys.platform == "win32":
        yield
        return
    lock = _lock(path, run_id)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # still locked, so no other process can have created a file there
        os.close(lock)


def is_locked(path: Path) -> bool | None:
    """Whether a process holds this file; None on Windows, where it cannot be known. Creates and deletes nothing."""
    if sys.platform == "win32":
        return None
    try:
        lock = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)  # several may look at the same time
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _lock(path: Path, run_id: str) -> int:
    looks = 0
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(lock, path):
                return lock
        except BlockingIOError:
            looks += 1
            if looks == TRIES:
                os.close(lock)
                raise RunBusy(f"another process is driving run {run_id!r}") from None
            time.sleep(PAUSE)
        os.close(lock)


def _is_at(lock: int, path: Path) -> bool:
    """Whether the locked file still exists at this path: a holder deletes it on release, after another may have opened it."""
    try:
        return os.path.samestat(os.fstat(lock), path.stat())
    except FileNotFoundError:
        return False
