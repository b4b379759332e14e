"""What servers spend, read from outside: processor time from /proc, commits from PostgreSQL's transaction ids."""

import os
from pathlib import Path

import psycopg

TICK = os.sysconf("SC_CLK_TCK")
OWN, REAPED = (14, 15), (16, 17)
"""Fields of /proc/PID/stat, counted from 1: user and system time, of the process and of children that it has buried."""


def read_seconds(pid: int) -> float:
    return _spent(pid, OWN)


def seconds_of_thread(thread: int) -> float:
    """One of this process."""
    return _spent_in(Path(f"/proc/self/task/{thread}/stat"), OWN)


def seconds_of_family(pid: int) -> float:
    """A process, its children, and those that it had: PostgreSQL has one for every connection."""
    return _spent(pid, OWN + REAPED) + sum(_spent(child, OWN) for child in _children(pid))


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _spent(pid: int, fields: tuple[int, ...]) -> float:
    return _spent_in(Path(f"/proc/{pid}/stat"), fields)


def _spent_in(stat: Path, fields: tuple[int, ...]) -> float:
    try:
        words = stat.read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0  # gone, so its parent has it now
    return sum(int(words[field - 3]) for field in fields) / TICK


def commits(connection: psycopg.Connection) -> int:
    """Transactions that wrote something, so far: each took an id, and one that only reads takes none."""
    row = connection.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint").fetchone()
    assert row
    return row[0]
