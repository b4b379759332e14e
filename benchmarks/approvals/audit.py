"""Is tampering with the audit log detected? (Trial 22)

    python -m benchmarks.approvals.audit --tamperings 10000 --postgres 1000 --json

Runs in which people approve, reject, guide, pause and cancel fill a store. Then the rows are tampered with in SQL, each time in another
way and at another place, and verified; and all of it is taken back. Hashes are recomputed where a forger would do so.

detected   by what is in the store alone: chain, results and journals
with head  if the head of the log had been kept elsewhere
limits     ways that make everything in the store fit; only a kept head shows them, and rows after that head are not covered
"""

import asyncio
import json
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from benchmarks.harness.report import describe_machine, format_table, keep, make_parser
from midcourse.agent.agent import Agent
from midcourse.codec import decode
from midcourse.config.settings import Settings
from midcourse.domain.approval import Decision
from midcourse.domain.budget import Limits
from midcourse.domain.plan import GLOBAL, Draft
from midcourse.domain.records.audit import START, AuditLog, AuditRow, Head, HumanInput
from midcourse.domain.task import Task
from midcourse.policy.audit import HUMAN_INPUT_KINDS, next_row, verify_log
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.ports.store import Store
from midcourse.store.sqlite import SqliteStore
from midcourse.testing import Answers
from midcourse.worlds.base import BaseWorld, Scene, Zone, skill

RUNS = 12
COLUMNS = ["tampered with how", "tried", "detected", "with head"]


# --- a log to tamper with


class Post(BaseWorld):
    def look(self) -> Scene:
        return Scene("Post office", Zone(id="counter", role="text", label="Counter"))

    @skill(effect="irreversible")
    def send(self, to: str) -> None:
        """What the name describes."""


class Planner:
    async def plan(self, context: PlanningContext) -> PlanDraft:
        to = f"Ada, {len(context.guidance)} times"
        return PlanDraft(steps=(Draft(zone=GLOBAL, skill="send", arguments=(("to", to),)),), final=True)


async def fill(store: Store, chance: random.Random) -> None:
    """So many runs, of which each is rejected with guidance a few times, then approved, and one in three rejected for good."""
    settings = Settings.load()
    for number in range(RUNS):
        no = Decision(verdict="rejected", guidance="write to somebody else", by="grace")
        yes = Decision(verdict="approved", by="ada", once=chance.random() < 0.5)
        last = Decision(verdict="rejected", by="grace") if number % 3 == 0 else yes
        person = Answers(*[no] * chance.randrange(3), last, Decision(verdict="happened", by="ada"))
        agent = Agent(world=Post(), planner=Planner(), approver=person, settings=settings, store=store)
        live = agent.start(Task(goal="Write", limits=Limits(replan_interval_seconds=0.0)), run_id=f"run-{number}")
        live.guide("be brief")
        await live.result()


# --- where it is kept


class Log(Protocol):
    """An audit log that can be tampered with and put back as it was."""

    def tampering(self) -> Any: ...
    def execute(self, sql: str, *values: object) -> None: ...
    def read(self) -> AuditLog: ...


class InSqlite:
    def __init__(self, path: Path) -> None:
        self._store = SqliteStore(path)
        self._db: sqlite3.Connection = self._store._db
        for trigger in ("audit_stays", "audit_lasts"):
            self._db.execute(f"DROP TRIGGER {trigger}")
        self._db.execute("PRAGMA foreign_keys = OFF")

    @contextmanager
    def tampering(self) -> Iterator[None]:
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("ROLLBACK")

    def execute(self, sql: str, *values: object) -> None:
        self._db.execute(sql, values)

    def read(self) -> AuditLog:
        return asyncio.run(self._store.audit())


class InPostgres:
    """Tampering by the owner of the database, in a transaction that is never committed."""

    def __init__(self, url: str, tenant: str) -> None:
        import psycopg

        self._owner = psycopg.connect(url)
        self._tenant = tenant
        self._owner.execute("SELECT set_config('midcourse.tenant', %s, false)", (tenant,))
        self._owner.execute("ALTER TABLE midcourse.audit DISABLE TRIGGER chain_audit")
        self._owner.commit()

    @contextmanager
    def tampering(self) -> Iterator[None]:
        try:
            yield
        finally:
            self._owner.rollback()

    def execute(self, sql: str, *values: object) -> None:
        for table_ in ("audit", "journal", "results"):
            sql = sql.replace(f" {table_} ", f" midcourse.{table_} ")
        sql = sql.replace(" runs SET result = NULL", " midcourse.results SET body = '{}'").replace("?", "%s")
        if sql.startswith("INSERT"):
            sql = sql.replace("(n,", "(tenant, n,").replace("VALUES (", f"VALUES ('{self._tenant}', ")
        self._owner.execute(sql.encode(), values)

    def read(self) -> AuditLog:
        from midcourse.store.postgres import records

        rows = self._owner.execute(records.AUDIT).fetchall()
        anchors = self._owner.execute(records.ANCHORS).fetchall()
        sent = self._owner.execute(records.HUMAN_INPUTS, (list(HUMAN_INPUT_KINDS),)).fetchall()
        return AuditLog(
            chain=self._tenant,
            rows=tuple(AuditRow(n=n, run=run, seq=seq, body=body, hash=hash_) for n, run, seq, body, hash_ in rows),
            anchors=tuple(decode(Head, head) for (head,) in anchors),
            inputs=tuple(HumanInput(run=run, seq=seq, body=body) for run, seq, body in sent),
        )


# --- ways to tamper


Way = Callable[[Log, AuditLog, AuditRow, random.Random], None]


def _body(log: Log, _: AuditLog, row: AuditRow, chance: random.Random) -> None:
    at = chance.randrange(len(row.body))
    other = chance.choice([c for c in "abc019 {" if c != row.body[at]])
    log.execute("UPDATE audit SET body = ? WHERE n = ?", row.body[:at] + other + row.body[at + 1 :], row.n)


def _verdict(log: Log, known: AuditLog, _: AuditRow, chance: random.Random) -> None:
    row = chance.choice([row for row in known.rows if '"rejected"' in row.body])
    log.execute("UPDATE audit SET body = ? WHERE n = ?", row.body.replace("rejected", "approved"), row.n)


def _who(log: Log, known: AuditLog, _: AuditRow, chance: random.Random) -> None:
    row = chance.choice([row for row in known.rows if '"by":"' in row.body])
    body = row.body.replace('"by":"ada"', '"by":"eve"').replace('"by":"grace"', '"by":"ada"')
    log.execute("UPDATE audit SET body = ? WHERE n = ?", body, row.n)


def _run(log: Log, _: AuditLog, row: AuditRow, chance: random.Random) -> None:
    log.execute("UPDATE audit SET run = ? WHERE n = ?", f"run-{RUNS + chance.randrange(9)}", row.n)


def _seq(log: Log, _: AuditLog, row: AuditRow, chance: random.Random) -> None:
    log.execute("UPDATE audit SET seq = ? WHERE n = ?", row.seq + chance.randint(1, 50), row.n)


def _hash(log: Log, _: AuditLog, row: AuditRow, chance: random.Random) -> None:
    other = f"{chance.randrange(16**64):064x}"
    log.execute("UPDATE audit SET hash = ? WHERE n = ?", other, row.n)


def _taken_out(log: Log, known: AuditLog, row: AuditRow, _: random.Random) -> None:
    _rewrite(log, known, [one for one in known.rows if one is not row], rehash=False)


def _closed_up(log: Log, known: AuditLog, row: AuditRow, _: random.Random) -> None:
    _rewrite(log, known, [one for one in known.rows if one is not row], rehash=True)


def _swapped(log: Log, known: AuditLog, _: AuditRow, chance: random.Random) -> None:
    rows = list(known.rows)
    one, other = chance.sample(range(len(rows)), 2)
    rows[one], rows[other] = rows[other], rows[one]
    _rewrite(log, known, rows, rehash=chance.random() < 0.5)


def _added(log: Log, known: AuditLog, row: AuditRow, chance: random.Random) -> None:
    forged = AuditRow(n=0, run=row.run, seq=row.seq + 1, body=row.body.replace("rejected", "approved"), hash="")
    rows = list(known.rows)
    rows.insert(chance.randrange(len(rows)), forged)
    _rewrite(log, known, rows, rehash=True)


def _appended(log: Log, known: AuditLog, row: AuditRow, _: random.Random) -> None:
    forged = AuditRow(n=0, run=row.run, seq=row.seq + 1, body=row.body.replace("rejected", "approved"), hash="")
    _rewrite(log, known, [*known.rows, forged], rehash=True)


def _rewritten(log: Log, known: AuditLog, row: AuditRow, _: random.Random) -> None:
    body = row.body.replace('"kind"', '"because":"nothing","kind"')
    changed = AuditRow(n=row.n, run=row.run, seq=row.seq, body=body, hash="")
    _rewrite(log, known, [changed if one is row else one for one in known.rows], rehash=True)


def _cut_off(log: Log, known: AuditLog, _: AuditRow, chance: random.Random) -> None:
    log.execute("DELETE FROM audit WHERE n > ?", chance.randrange(len(known.rows)))


def _cut_off_with_results(log: Log, known: AuditLog, row: AuditRow, chance: random.Random) -> None:
    _cut_off(log, known, row, chance)
    log.execute("UPDATE runs SET result = NULL")


def _change_journal(log: Log, known: AuditLog, _: AuditRow, chance: random.Random) -> None:
    """The journal is changed instead, and the log left alone."""
    event = chance.choice(known.inputs)
    body = event.body.replace('"at"', '"because":"nothing","at"')
    log.execute("UPDATE journal SET event = ? WHERE run = ? AND seq = ?", body, event.run, event.seq)


def _all_of_it(log: Log, known: AuditLog, row: AuditRow, _: random.Random) -> None:
    """The end is cut off, with every result, and with everything the journals have of it."""
    for later in known.rows[row.n - 1 :]:
        log.execute("DELETE FROM journal WHERE run = ? AND seq = ?", later.run, later.seq)
    log.execute("DELETE FROM audit WHERE n >= ?", row.n)
    log.execute("UPDATE runs SET result = NULL")


def _rewrite(log: Log, known: AuditLog, rows: list[AuditRow], *, rehash: bool) -> None:
    """Write all rows again in this order. Without new hashes each row keeps its old one."""
    log.execute("DELETE FROM audit WHERE n > ?", 0)
    head = START
    for row in rows:
        made = next_row(known.chain, head, row.run, row.seq, row.body)
        kept = made.hash if rehash or not row.hash else row.hash
        insert = "INSERT INTO audit (n, run, seq, body, hash) VALUES (?, ?, ?, ?, ?)"
        log.execute(insert, made.n, row.run, row.seq, row.body, kept)
        head = Head(n=made.n, hash=kept)


WAYS: dict[str, Way] = {
    "a character of a row": _body,
    "a verdict": _verdict,
    "who decided": _who,
    "which run": _run,
    "which event": _seq,
    "a hash": _hash,
    "a row taken out": _taken_out,
    "a row taken out, all after it hashed anew": _closed_up,
    "two rows swapped": _swapped,
    "a row added, all after it hashed anew": _added,
    "a row changed, all after it hashed anew": _rewritten,
    "the end cut off": _cut_off,
    "the end cut off, results emptied": _cut_off_with_results,
    "the journal changed": _change_journal,
    "a row appended, with the right hash": _appended,
}
BACKED = ("a row appended, with the right hash",)
"""Detected only where every row must be in a journal."""
LIMITS: dict[str, Way] = {"the end cut off, with results and journals": _all_of_it}


@dataclass
class Tried:
    tried: int = 0
    detected: int = 0
    with_head: int = 0


def tamper(log: Log, tamperings: int, seed: int) -> dict[str, Tried]:
    known = log.read()
    honest = verify_log(known)
    assert not honest.problem, honest.problem
    found = {name: Tried() for name in (*WAYS, *LIMITS)}
    names = [name for name in WAYS if known.backed or name not in BACKED]
    for number in range(tamperings + tamperings // 50):
        name = names[number % len(names)] if number < tamperings else next(iter(LIMITS))
        chance = random.Random(seed + number)
        with log.tampering():
            (WAYS | LIMITS)[name](log, known, chance.choice(known.rows), chance)
            now = log.read()
        changed = now != known
        found[name].tried += changed
        found[name].detected += changed and bool(verify_log(now).problem)
        found[name].with_head += changed and bool(verify_log(now, honest.head).problem)
    assert log.read() == known, "all of it was taken back"
    return found


# --- summary


def in_sqlite(tamperings: int, seed: int) -> dict[str, Tried]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        with SqliteStore(path) as store:
            asyncio.run(fill(store, random.Random(seed)))
        return tamper(InSqlite(path), tamperings, seed)


def in_postgres(tamperings: int, seed: int) -> dict[str, Tried]:
    from midcourse.store.postgres import PostgresStore, development
    from midcourse.store.postgres.migrate import migrate

    async def filled(url: str) -> None:
        async with PostgresStore(url, tenant="audited") as store:
            await fill(store, random.Random(seed))

    with tempfile.TemporaryDirectory() as folder:
        url = development.start(Path(folder) / "postgres")
        try:
            migrate(url)
            asyncio.run(filled(url))
            return tamper(InPostgres(url, "audited"), tamperings, seed)
        finally:
            development.remove(Path(folder) / "postgres")


def summary(stores: dict[str, dict[str, Tried]], seconds: float) -> dict[str, object]:
    ways = [(of[name], name) for of in stores.values() for name in WAYS]
    tried, detected = sum(one.tried for one, _ in ways), sum(one.detected for one, _ in ways)
    limits = [of[name] for of in stores.values() for name in LIMITS]
    return {
        "tamperings": tried,
        "detected": detected,
        "undetected": tried - detected,
        "limits": sum(one.tried for one in limits),
        "limits_detected": sum(one.detected for one in limits),
        "limits_with_head": sum(one.with_head for one in limits),
        "seconds": round(seconds, 1),
        "machine": describe_machine(),
        "stores": {store: {name: vars(one) for name, one in of.items()} for store, of in stores.items()},
    }


def shown(stores: dict[str, dict[str, Tried]]) -> str:
    rows = [
        [f"{store}: {name}", str(one.tried), str(one.detected), str(one.with_head)]
        for store, of in stores.items()
        for name, one in of.items()
    ]
    return format_table(COLUMNS, rows)


def main() -> int:
    parser = make_parser(__doc__)
    parser.add_argument("--tamperings", type=int, default=10_000, help="in SQLite")
    parser.add_argument("--postgres", type=int, default=1000, help="in PostgreSQL")
    parser.add_argument("--seed", type=int, default=22_000)
    options = parser.parse_args()
    begun = time.monotonic()
    stores = {"SQLite": in_sqlite(options.tamperings, options.seed)}
    if options.postgres:
        stores["PostgreSQL"] = in_postgres(options.postgres, options.seed)
    result = summary(stores, time.monotonic() - begun)
    if options.keep:
        keep("audit", result, shown(stores))
    print(json.dumps(result) if options.json else shown(stores))
    return 0 if result["undetected"] == 0 and result["limits"] == result["limits_with_head"] else 1


if __name__ == "__main__":
    sys.exit(main())
