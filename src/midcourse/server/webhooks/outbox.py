"""The outbox of webhooks: messages that wait to be delivered, and which runs are watched. Stored, so a restart loses none."""

import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from midcourse.files import private_file, private_folder

TABLES = (
    """CREATE TABLE IF NOT EXISTS hook_messages (id TEXT PRIMARY KEY, hook TEXT, body BLOB, made REAL, due REAL, tries INTEGER,
    state TEXT, problem TEXT)""",
    "CREATE INDEX IF NOT EXISTS hook_messages_due ON hook_messages (hook, state, due)",
    """CREATE TABLE IF NOT EXISTS hook_runs (tenant TEXT, run TEXT, place INTEGER, ended INTEGER DEFAULT 0,
    PRIMARY KEY (tenant, run))""",
    "CREATE TABLE IF NOT EXISTS hook_places (tenant TEXT PRIMARY KEY, first INTEGER, last INTEGER)",
)
KEPT = 7 * 24 * 3600.0
"""Seconds for which messages are kept after they were made, to recognise repeats and for inspection."""
RUNS_KEPT = 5000
"""The number of latest runs of a tenant that are remembered."""


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """A message to be sent now."""

    id: str
    body: bytes
    tries: int


@dataclass(frozen=True, kw_only=True)
class HookState:
    waiting: int = 0
    delivered: int = 0
    failed: int = 0
    problem: str = ""
    """Why the latest unsuccessful attempt failed."""


def message_id(hook: str, *about: object) -> str:
    """The id of a message. It is the same for the same occurrence, so that this is sent only once even if it is noticed again."""
    return "msg_" + sha256("\x1f".join((hook, *map(str, about))).encode()).hexdigest()[:32]


class Outbox:
    def __init__(self, folder: Path) -> None:
        private_folder(folder)
        path = folder / "webhooks.db"
        private_file(path)
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        for table in TABLES:
            self._db.execute(table)

    def close(self) -> None:
        self._db.close()

    # --- messages

    def add(self, hook: str, message: str, body: bytes) -> None:
        """Store a message to be sent now, unless it was stored before."""
        now = time.time()
        sql = "INSERT OR IGNORE INTO hook_messages VALUES (?, ?, ?, ?, ?, 0, 'waiting', '')"
        self._db.execute(sql, (message, hook, body, now, now))

    def next(self, hook: str) -> Waiting | None:
        """The message that has been due for the longest time."""
        sql = "SELECT id, body, tries FROM hook_messages WHERE hook = ? AND state = 'waiting' AND due <= ? ORDER BY due LIMIT 1"
        found = self._db.execute(sql, (hook, time.time())).fetchone()
        return Waiting(id=found[0], body=found[1], tries=found[2]) if found else None

    def delivered(self, message: str) -> None:
        self._db.execute("UPDATE hook_messages SET state = 'delivered', tries = tries + 1 WHERE id = ?", (message,))
        self._db.execute("DELETE FROM hook_messages WHERE state <> 'waiting' AND made < ?", (time.time() - KEPT,))

    def put_off(self, message: str, problem: str, seconds: float | None) -> None:
        """Note that an attempt failed. The next one is made after this many seconds; None: no further attempt is made."""
        state, due = ("failed", 0.0) if seconds is None else ("waiting", time.time() + seconds)
        sql = "UPDATE hook_messages SET state = ?, due = ?, tries = tries + 1, problem = ? WHERE id = ?"
        self._db.execute(sql, (state, due, problem, message))

    def state(self, hook: str) -> HookState:
        sql = "SELECT state, count(*) FROM hook_messages WHERE hook = ? GROUP BY 1"
        counts = dict(self._db.execute(sql, (hook,)).fetchall())
        sql = "SELECT problem FROM hook_messages WHERE hook = ? AND problem <> '' AND state <> 'delivered' ORDER BY due DESC LIMIT 1"
        found = self._db.execute(sql, (hook,)).fetchone()
        return HookState(
            waiting=counts.get("waiting", 0),
            delivered=counts.get("delivered", 0),
            failed=counts.get("failed", 0),
            problem=found[0] if found else "",
        )

    # --- watched runs

    def places(self, tenant: str, latest: int) -> tuple[int, int]:
        """The places of the first and the last run that were noticed. Runs before the first are history and not reported."""
        self._db.execute("INSERT OR IGNORE INTO hook_places VALUES (?, ?, ?)", (tenant, latest, latest))
        sql = "SELECT first, last FROM hook_places WHERE tenant = ?"
        first, last = self._db.execute(sql, (tenant,)).fetchone()
        return first, last

    def watch(self, tenant: str, runs: Iterable[tuple[str, int]], last: int) -> None:
        """Remember these runs until their ends have been reported."""
        self._db.execute("BEGIN")
        sql = "INSERT OR IGNORE INTO hook_runs (tenant, run, place) VALUES (?, ?, ?)"
        self._db.executemany(sql, [(tenant, run, place) for run, place in runs])
        self._db.execute("UPDATE hook_places SET last = max(last, ?) WHERE tenant = ?", (last, tenant))
        sql = "DELETE FROM hook_runs WHERE tenant = ? AND ended = 1 AND place < ?"
        self._db.execute(sql, (tenant, last - RUNS_KEPT))
        self._db.execute("COMMIT")

    def not_ended(self, tenant: str) -> tuple[str, ...]:
        sql = "SELECT run FROM hook_runs WHERE tenant = ? AND ended = 0"
        return tuple(run for (run,) in self._db.execute(sql, (tenant,)))

    def ended(self, tenant: str, run: str) -> None:
        self._db.execute("UPDATE hook_runs SET ended = 1 WHERE tenant = ? AND run = ?", (tenant, run))
