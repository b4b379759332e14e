"""Temporary files of the tests in memory, where the machine has room for them.

A commit of SQLite waits for the disk, and tests make thousands. Tests of durability check what is left after a process is
killed, for which the disk makes no difference.
"""

import os
import shutil
import tempfile

MEMORY = "/dev/shm"
ROOM = 4 * 2**30
"""Bytes that have to be free. In a container the file system often has only 64 MB."""


def pytest_configure() -> None:
    if "TMPDIR" not in os.environ and _is_usable(MEMORY):
        os.environ["TMPDIR"] = MEMORY  # for workers and all other processes that tests start
        tempfile.tempdir = None  # forget the folder that was found before


def _is_usable(folder: str) -> bool:
    try:
        flags, free = os.statvfs(folder).f_flag, shutil.disk_usage(folder).free
    except (AttributeError, OSError):
        return False
    return free >= ROOM and not flags & os.ST_NOEXEC and os.access(folder, os.W_OK | os.X_OK)
