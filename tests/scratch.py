"""Temporary files of the tests in memory, where the machine has room for them.

A commit of SQLite waits for the disk, and tests make thousands. What tests show of durability is what is left after a process is killed,
for which the disk makes no difference.
"""

import os
import shutil
import tempfile

MEMORY = "/dev/shm"
ROOM = 4 * 2**30
"""Bytes that have to be free: a container often has 64 MB."""


def pytest_configure() -> None:
    if "TMPDIR" not in os.environ and _usable(MEMORY):
        os.environ["TMPDIR"] = MEMORY  # for workers and all other processes that tests start
        tempfile.tempdir = None  # forgets the folder that was found before


def _usable(folder: str) -> bool:
    try:
        flags, free = os.statvfs(folder).f_flag, shutil.disk_usage(folder).free
    except (AttributeError, OSError):
        return False
    return free >= ROOM and not flags & os.ST_NOEXEC and os.access(folder, os.W_OK | os.X_OK)
