"""Stores runs in one SQLite file, for the local runtime. Several processes may share the file, each driving its own runs.

All writes survive kill -9. Writes that something outside depends on, as listed in `must_survive`, also survive loss of power if
the disk honours flushes. Everything that was committed before such a write is then on the disk as well, since the write-ahead log
is flushed as a whole. So a power failure may take a run back to an earlier state, but the run still knows of everything it sent.

The file must be on a local disk, because neither SQLite's write-ahead log nor file locks work over a network.
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from midcourse.codec import encode
from midcourse.domain.approval import Consequence, Question
from midcourse.domain.budget import Cost, total
from midcourse.domain.commands import AskPerson, Command
from midcourse.domain.events import Acted, Event
from midcourse.domain.observation import Observation
from midcourse.domain.phases import Asking, Ended
from midcourse.domain.plan import PlanVersion
from midcourse.domain.records.answers import AnsweredConsequence, AskedConsequence
from midcourse.domain.records.audit import START, AuditLog, Head
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.errors import RunBusy, StoreRestored, StoreUnusable
from midcourse.policy.audit import HUMAN_INPUT_KINDS, is_human_input, next_row
from midcourse.ports.controls import Message, Posted, Request
from midcourse.ports.driving import Claim, MessageWaiting
from midcourse.ports.store import JournalEvent, JournalRow, RunSummary
from midcourse.store.deltas import compress, expand
from midcourse.store.lock import is_locked, lock_file
from midcourse.store.observations import ObservationBase, pack, read_base_id, unpack
from midcourse.store.recent import Recent
from midcourse.store.sqlite.beside import ACCEPTED, Sent, SentLog, SessionFiles
from midcourse.store.sqlite.catalogue import ALL, SqliteCatalogue
from midcourse.store.sqlite.connection import StoreLocked
from midcourse.store.sqlite.schema import ADD_TO_AUDIT, CHAIN, open_file
from midcourse.store.state import (
    COMMANDS,
    build_exists_error,
    build_unknown_error,
    check_format,
    check_key,
    check_not_pruned,
    decode_stored,
    decode_stored_any,
    find_final_reason,
    read_answered,
    read_asked,
    read_audit_log,
    read_run,
)

T = TypeVar("T")

MOST_BASE_CHARACTERS = 4_000_000
"""The maximum number of characters of observations that are kept in memory, for the next ones to refer to."""

STANDING = """SELECT epoch, (SELECT max(seq) FROM journal WHERE run = id),
    (SELECT coalesce(max(number), 0) FROM inbox WHERE run = id) FROM runs WHERE id = ?"""
"""The latest claim, turn and message of a run."""
ANSWERED = """SELECT asked.run, question, shape, consequence, body FROM asked JOIN audit ON audit.run = asked.run
    AND json_extract(body, '$.kind') = 'approval_decided' AND json_extract(body, '$.question') = question
    WHERE shape = ? ORDER BY n DESC LIMIT ?"""

PRUNED_TABLES = ("journal", "plans", "observations", "consequences", "inbox", "questions")
"""Tables from which all rows of a pruned run are deleted."""

IS_PRUNABLE = "pruned_at IS NULL AND phase = 'ended' AND result IS NOT NULL"
PRUNABLE = f"SELECT id FROM runs WHERE {IS_PRUNABLE} AND json_extract(state, '$.now') < ? ORDER BY entered LIMIT ?"
MARK_PRUNED = f"UPDATE runs SET opening = '{{}}', pruned_at = ? WHERE id = ? AND {IS_PRUNABLE}"
FORGET_ACTS = "DELETE FROM ledger WHERE run = ? AND coalesce(json_extract(body, '$.identity'), '') = ''"
"""Deletes acts that may be repeated. The others stay, to prevent them from being done again."""


class SqliteStore(SqliteCatalogue):
    """A store with one connection, used by one thread at a time.

    Its methods are coroutines that never yield: a read or write blocks the event loop for a few milliseconds, or for up to
    `BUSY_SECONDS` while another process writes. That is acceptable, and makes every method atomic without a lock.
    """

    def __init__(self, path: Path | str) -> None:
        # Not by super().__init__, which opens a file of this version without the pragmas that writing needs.
        self.path = Path(path).absolute()
        self._db = open_file(self.path)
        self._db.execute("PRAGMA synchronous = NORMAL")  # except in _transaction(durable=True)
        self._sent = SentLog(self.path)
        self._sessions = SessionFiles(self.path)
        self._bases = Recent[str, ObservationBase](MOST_BASE_CHARACTERS)

    # --- locking of runs

    @contextmanager
    def claim(self, run_id: str) -> Generator[None]:
        """Lock a run while driving it. Raise `RunBusy` if another process, or another claim in this one, holds it.

        The operating system releases the lock when the process dies. On Windows this does nothing.
        """
        with lock_file(self._lock_path(run_id), run_id):
            yield

    # --- copies and restored backups

    def check_records(self, run_id: str) -> None:
        """Raise `StoreRestored` if this file is a copy or has lost records, so that records of the run's effects may be missing.

        Two copies of a home would both carry out the same run. A run without a recorded place is bound to this file.
        """
        (place,) = self._fetch_known(run_id, "SELECT place FROM runs WHERE id = ?")
        if not place:
            self._write(run_id, "UPDATE runs SET place = ? WHERE id = ?", self._place())
        elif place != self._place():
            raise StoreRestored(
                f"{self.path} is a copy of the database in which run {run_id!r} was begun: the original may have gone on, or"
                f" be going on elsewhere. {_how_to_accept(run_id)}"
            )
        if self._find_unrecorded(self._sent.last(run_id)):
            raise StoreRestored(
                f"{self.path} has lost records: run {run_id!r} sent something irreversible that it does not know of, as after"
                f" a restored backup or without its -wal file. {_how_to_accept(run_id)}"
            )

    def accept_records(self, run_id: str) -> None:
        """Accept this file's records of a run although some may be missing, after the user has checked what was done."""
        with self._transaction(durable=True):
            self._write(run_id, "UPDATE runs SET place = ? WHERE id = ?", self._place())
        self._sent.append(Sent(run=run_id, command=ACCEPTED))

    def _place(self) -> str:
        """Return the inode, which stays the same when the file is written or renamed, and usually differs in a copy."""
        # If it does not, as after restoring into the same file, the log of sent acts shows what the copy lacks.
        return str(self.path.stat().st_ino)

    def _find_unrecorded(self, sent: Sent | None) -> Sent | None:
        """Return this entry of the log if the ledger lacks its act."""
        if sent is None or sent.command == ACCEPTED:
            return None
        found = self._fetch_one("SELECT 1 FROM ledger WHERE run = ? AND command = ?", sent.run, sent.command)
        return None if found else sent

    # --- state and journal

    async def begin(self, run: Run, task: Task, *, after: str = "") -> None:
        state = encode(run)
        with self._transaction(durable=True):
            check_key(task.key, await self.run_with_key(task.key), after)
            if task.key and (lost := self._find_unrecorded(self._sent.last())):
                raise StoreRestored(
                    f"{self.path} has lost records: run {lost.run!r} sent something that it does not know of, and may have"
                    f" had the key {task.key!r}. Check what was done; then delete {self._sent.path} and start this run again"
                )
            entered = self._db.execute(
                "INSERT INTO runs (id, key, goal, task, opening, state, phase, final_reason, place)"
                " VALUES (:id, :key, :goal, :task, :state, :state, :phase, :final_reason, :place) ON CONFLICT (id) DO NOTHING",
                {
                    "id": run.id,
                    "key": task.key,
                    "goal": task.goal,
                    "task": encode(task),
                    "state": state,
                    "phase": run.phase.kind,
                    "final_reason": find_final_reason(run),
                    "place": self._place(),
                },
            )
            if not entered.rowcount:
                raise build_exists_error(run.id)

    async def run_with_key(self, key: str) -> str | None:
        row = self._fetch_one("SELECT id FROM runs WHERE key = ? AND key <> '' ORDER BY entered DESC LIMIT 1", key)
        return row[0] if row else None

    async def save_turn(
        self,
        run: Run,
        event: Event,
        commands: tuple[Command, ...],
        *,
        claim: Claim | None = None,
        known: int | None = None,
        message: int = 0,
    ) -> None:
        """See the port. Keeping a stored turn again has no effect. Raise `RunBusy` for a different turn with the same number."""
        turn = (encode(event, Event), encode(commands, COMMANDS))
        with self._transaction(durable=must_survive(run, event, commands)):
            epoch, last, last_message = self._fetch_known(run.id, STANDING)
            if claim:
                _check_claim(claim, epoch)
            if last is not None and run.seq <= last:
                stored = "SELECT event, commands FROM journal WHERE run = ? AND seq = ?"
                if self._fetch_one(stored, run.id, run.seq) != turn:
                    raise RunBusy(f"run {run.id!r} was continued by another process at turn {run.seq}")
                return
            if known is not None and last_message > known:
                raise MessageWaiting
            self._write(
                run.id,
                "UPDATE runs SET state = ?, phase = ?, final_reason = ?, messages_decided = max(messages_decided, ?),"
                " began_at = CASE WHEN began_at = 0 THEN ? ELSE began_at END WHERE id = ?",
                encode(run),
                run.phase.kind,
                find_final_reason(run),
                message,
                event.at,
            )
            self._db.execute("INSERT INTO journal VALUES (?, ?, ?, ?)", (run.id, run.seq, *turn))
            if is_human_input(event):
                row = next_row(CHAIN, self._audit_head(), run.id, run.seq, turn[0])
                self._db.execute(ADD_TO_AUDIT, (row.n, row.run, row.seq, row.body, row.hash))

    async def load(self, run_id: str) -> tuple[Run, Task]:
        state, task = self._fetch_known(run_id, "SELECT state, task FROM runs WHERE id = ?")
        return read_run(run_id, state), decode_stored(Task, task)

    async def runs(self) -> tuple[RunSummary, ...]:
        return self.newest()

    async def initial_state(self, run_id: str) -> Run:
        state, pruned_at = self._fetch_known(run_id, "SELECT opening, pruned_at FROM runs WHERE id = ?")
        check_not_pruned(run_id, pruned_at)
        return read_run(run_id, state)

    async def journal(self, run_id: str, above: int = 0) -> tuple[JournalRow, ...]:
        state, pruned_at = self._fetch_known(run_id, "SELECT state, pruned_at FROM runs WHERE id = ?")
        check_not_pruned(run_id, pruned_at)
        check_format(run_id, state)
        sql = "SELECT seq, event, commands FROM journal WHERE run = ? AND seq > ? ORDER BY seq"
        rows = self._db.execute(sql, (run_id, above))
        return tuple(
            JournalRow(seq=seq, event=decode_stored_any(Event, event), commands=decode_stored_any(COMMANDS, commands))
            for seq, event, commands in rows
        )

    async def events(self, run_id: str, above: int) -> tuple[JournalEvent, ...]:
        sql = "SELECT seq, event FROM journal WHERE run = ? AND seq > ? ORDER BY seq"
        rows = self._db.execute(sql, (run_id, above))
        return tuple(JournalEvent(seq=seq, event=decode_stored_any(Event, event)) for seq, event in rows)

    # --- driving: claims, rests and messages from other processes

    async def claim_run(self, run_id: str, *, placed: int = 0) -> Claim:
        with self._transaction():
            sql = "SELECT epoch, placed, messages_decided, rested_epoch, rested_seq FROM runs WHERE id = ?"
            epoch, earlier, decided, rested_epoch, rested_seq = self._fetch_known(run_id, sql)
            if placed and placed < earlier:
                raise RunBusy(f"run {run_id!r} was given to another worker meanwhile")
            change = "UPDATE runs SET epoch = ?, placed = ?, resting = 0 WHERE id = ?"
            self._write(run_id, change, epoch + 1, max(placed, earlier))
        rested_at = rested_seq if rested_epoch == epoch else -1
        return Claim(run=run_id, epoch=epoch + 1, decided=decided, rested_at=rested_at)

    async def rest(self, claim: Claim, *, seq: int, known: int, wake_at: float | None = None) -> bool:
        # `wake_at` is for a supervisor, and none wakes local runs.
        with self._transaction():
            epoch, _, last_message = self._fetch_known(claim.run, STANDING)
            _check_claim(claim, epoch)
            if last_message > known:
                return False
            change = "UPDATE runs SET resting = 1, rested_epoch = ?, rested_seq = ? WHERE id = ?"
            self._write(claim.run, change, claim.epoch, seq)
        return True

    async def post(self, run_id: str, event: Request) -> Posted:
        # Here, since listing runs must not load the director; before the transaction, which blocks all writers.
        from midcourse.director.decide import why_no_effect_after

        with self._transaction(durable=True):
            standing = "SELECT messages_decided, resting, state FROM runs WHERE id = ?"
            decided, resting, state = self._fetch_known(run_id, standing)
            waiting = await self.messages(run_id, decided)
            if refused := why_no_effect_after(read_run(run_id, state), (message.event for message in waiting), event):
                return Posted(refused=refused)
            (last,) = self._fetch_one("SELECT coalesce(max(number), 0) FROM inbox WHERE run = ?", run_id)
            number = last + 1
            self._db.execute("INSERT INTO inbox VALUES (?, ?, ?)", (run_id, number, encode(event, Event)))
        return Posted(number=number, resting=bool(resting))

    async def messages(self, run_id: str, after: int) -> tuple[Message, ...]:
        rows = self._db.execute(
            "SELECT number, event FROM inbox WHERE run = ? AND number > ? ORDER BY number", (run_id, after)
        )
        return tuple(Message(number=number, event=decode_stored_any(Request, event)) for number, event in rows)

    async def save_question(self, question: Question) -> None:
        sql = "INSERT OR REPLACE INTO questions SELECT id, ?, ? FROM runs WHERE id = ?"
        self._write(question.run, sql, question.id, encode(question))

    async def open_question(self, run_id: str) -> Question | None:
        (state,) = self._fetch_known(run_id, "SELECT state FROM runs WHERE id = ?")
        run = read_run(run_id, state)
        if not isinstance(run.phase, Asking):
            return None
        sql = "SELECT body FROM questions WHERE run = ? AND question = ?"
        return self._fetch_body(Question, sql, run_id, run.phase.question)

    # --- what a run refers to

    async def save_session(self, run_id: str, handle: str) -> None:
        # The write raises `RunUnknown`. The column held the handle in earlier versions.
        self._write(run_id, "UPDATE runs SET session = '' WHERE id = ?")
        self._sessions.save(run_id, handle)

    async def session(self, run_id: str) -> str:
        return self._sessions.read(run_id)

    async def save_observation(self, run_id: str, observation: Observation) -> None:
        packed = pack(encode(observation), self._bases.get(run_id))
        with self._transaction():
            if packed.new_base:
                self._write_observation(run_id, packed.new_base.id, packed.new_base.text)
            self._write_observation(run_id, observation.id, packed.body)
        if packed.new_base:
            self._bases.put(run_id, packed.new_base, len(packed.new_base.text))

    async def observation(self, run_id: str, observation_id: str) -> Observation | None:
        body = self._read_observation(run_id, observation_id)
        if body and (base_id := read_base_id(body)):
            base = self._read_observation(run_id, base_id)
            if base is None:
                raise StoreUnusable(f"{self.path} has lost a part of {observation_id!r}; restore it from a backup")
            body = unpack(body, ObservationBase(base_id, base))
        return decode_stored(Observation, body) if body else None

    def _write_observation(self, run_id: str, key: str, text: str) -> None:
        sql = "INSERT OR REPLACE INTO observations SELECT id, ?, ? FROM runs WHERE id = ?"
        self._write(run_id, sql, key, compress(text.encode()))

    def _read_observation(self, run_id: str, key: str) -> str | None:
        row = self._fetch_one("SELECT body FROM observations WHERE run = ? AND id = ?", run_id, key)
        # Text is from before observations were compressed.
        return row and (expand(row[0]).decode() if isinstance(row[0], bytes) else row[0])

    async def save_plan(self, run_id: str, plan: PlanVersion) -> None:
        sql = """INSERT INTO plans SELECT id, ?, ? FROM runs WHERE id = ?
            ON CONFLICT DO UPDATE SET body = CASE
                WHEN coalesce(json_extract(body, '$.made_by'), 0) > json_extract(excluded.body, '$.made_by')
                THEN body ELSE excluded.body END"""
        self._write(run_id, sql, plan.version, encode(plan))

    async def plan(self, run_id: str, version: int, made_by: int = 0) -> PlanVersion | None:
        sql = "SELECT body FROM plans WHERE run = ? AND version = ? AND ? IN (0, json_extract(body, '$.made_by'))"
        return self._fetch_body(PlanVersion, sql, run_id, version, made_by)

    async def plans(self, run_id: str, since: int = 0) -> tuple[PlanVersion, ...]:
        sql = "SELECT body FROM plans WHERE run = ? AND version >= ? ORDER BY version"
        return self._fetch_bodies(PlanVersion, sql, run_id, since)

    async def save_consequence(self, run_id: str, digest: str, consequence: Consequence) -> None:
        sql = "INSERT OR REPLACE INTO consequences SELECT id, ?, ? FROM runs WHERE id = ?"
        self._write(run_id, sql, digest, encode(consequence))

    async def consequence(self, run_id: str, digest: str) -> Consequence | None:
        return self._fetch_body(
            Consequence, "SELECT body FROM consequences WHERE run = ? AND digest = ?", run_id, digest
        )

    async def write_ledger(self, run_id: str, entry: LedgerEntry) -> None:
        sql = "INSERT OR REPLACE INTO ledger SELECT id, ?, ? FROM runs WHERE id = ?"
        dispatches = entry.dispatched_at is not None and entry.outcome is None
        with self._transaction(durable=dispatches):
            self._write(run_id, sql, entry.command, encode(entry))
        if dispatches and entry.identity:
            self._sent.append(Sent(run=run_id, command=entry.command))

    async def ledger_entry(self, run_id: str, command: int) -> LedgerEntry | None:
        return self._fetch_body(LedgerEntry, "SELECT body FROM ledger WHERE run = ? AND command = ?", run_id, command)

    async def ledger(self, run_id: str, since: int = 0) -> tuple[LedgerEntry, ...]:
        sql = "SELECT body FROM ledger WHERE run = ? AND command >= ? ORDER BY command"
        return self._fetch_bodies(LedgerEntry, sql, run_id, since)

    async def save_result(self, result: Result) -> None:
        self._write(result.run, "UPDATE runs SET result = ? WHERE id = ?", encode(result))

    async def result(self, run_id: str) -> Result | None:
        return self._fetch_body(Result, "SELECT result FROM runs WHERE id = ? AND result IS NOT NULL", run_id)

    # --- retention

    async def pruned_at(self, run_id: str) -> float | None:
        return self._fetch_known(run_id, "SELECT pruned_at FROM runs WHERE id = ?")[0]

    async def find_prunable(self, before: float, limit: int | None) -> tuple[str, ...]:
        rows = self._db.execute(PRUNABLE, (before, ALL if limit is None else limit))
        return tuple(run_id for (run_id,) in rows)

    async def prune(self, run_ids: tuple[str, ...], at: float) -> int:
        with self._transaction(durable=True):
            deleted = [run_id for run_id in run_ids if self._db.execute(MARK_PRUNED, (at, run_id)).rowcount]
            for run_id in deleted:
                for table in PRUNED_TABLES:
                    self._db.execute(f"DELETE FROM {table} WHERE run = ?", (run_id,))
                self._db.execute(FORGET_ACTS, (run_id,))
        for run_id in deleted:
            self._sessions.delete(run_id)
            self._bases.drop(run_id)
        return len(deleted)

    def shrink(self) -> bool:
        """Give the space of deleted records back to the file system.

        Return False if another process uses the file; then the space is only reused. A process that drives a run would have to wait.
        """
        if any(is_locked(path) for path in self.path.parent.glob(f"{self.path.name}.*.lock")):
            return False
        try:
            self._db.execute("VACUUM")
            return self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
        except StoreLocked:
            return False

    # --- what people decided

    async def save_asked_consequences(self, asked: tuple[AskedConsequence, ...]) -> None:
        sql = "INSERT OR REPLACE INTO asked SELECT id, ?, ?, ? FROM runs WHERE id = ?"
        with self._transaction():
            for record in asked:
                self._write(record.run, sql, record.question, record.consequence, record.shape)

    async def asked_consequences(self, run_id: str) -> tuple[AskedConsequence, ...]:
        sql = "SELECT run, question, shape, consequence FROM asked WHERE run = ? ORDER BY question, rowid"
        return tuple(read_asked(*row) for row in self._db.execute(sql, (run_id,)))

    async def answered_consequences(self, shape: str, limit: int) -> tuple[AnsweredConsequence, ...]:
        return read_answered(self._db.execute(ANSWERED, (shape, limit)))

    async def audit(self) -> AuditLog:
        kinds = ", ".join("?" for _ in HUMAN_INPUT_KINDS)
        anchors = (
            "SELECT json_extract(result, '$.audit') AS head FROM runs WHERE result IS NOT NULL AND head IS NOT NULL"
        )
        inputs = f"SELECT run, seq, event FROM journal WHERE json_extract(event, '$.kind') IN ({kinds})"
        return read_audit_log(
            CHAIN,
            self._db.execute("SELECT n, run, seq, body, hash FROM audit ORDER BY n"),
            self._db.execute(anchors),
            self._db.execute(inputs, HUMAN_INPUT_KINDS),
            backed=True,
            pruned=self._db.execute("SELECT id FROM runs WHERE pruned_at IS NOT NULL"),
        )

    async def audit_head(self) -> Head:
        return self._audit_head()

    def _audit_head(self) -> Head:
        found = self._fetch_one("SELECT n, hash FROM audit ORDER BY n DESC LIMIT 1")
        return Head(n=found[0], hash=found[1]) if found else START

    # --- SQL

    @contextmanager
    def _transaction(self, *, durable: bool = False) -> Generator[None]:
        """Open a write transaction. A durable one is flushed to the disk, together with all that were committed before.

        Other transactions survive the death of the process, but loss of power may lose them if no durable one has followed.
        """
        if durable:
            self._db.execute("PRAGMA synchronous = FULL")
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                yield
        finally:
            if durable:
                self._db.execute("PRAGMA synchronous = NORMAL")

    def _fetch_one(self, sql: str, *values: object) -> Any:
        return self._db.execute(sql, values).fetchone()

    def _fetch_known(self, run_id: str, sql: str) -> tuple[Any, ...]:
        row = self._fetch_one(sql, run_id)
        if row is None:
            raise build_unknown_error(run_id)
        return row

    def _fetch_body(self, kind: type[T], sql: str, *values: object) -> T | None:
        row = self._fetch_one(sql, *values)
        return decode_stored(kind, row[0]) if row else None

    def _fetch_bodies(self, kind: type[T], sql: str, *values: object) -> tuple[T, ...]:
        return tuple(decode_stored(kind, body) for (body,) in self._db.execute(sql, values))

    def _write(self, run_id: str, sql: str, *values: object) -> None:
        """Execute a statement with the run's id as its last parameter. Raise `RunUnknown` if the run does not exist."""
        if not self._db.execute(sql, (*values, run_id)).rowcount:
            raise build_unknown_error(run_id)


def _check_claim(claim: Claim, epoch: int) -> None:
    """Raise `RunBusy` unless this is the run's latest claim."""
    if claim.epoch != epoch:
        raise RunBusy(f"run {claim.run!r} was claimed by another process")


def _how_to_accept(run_id: str) -> str:
    return f"Check what was done, then continue with: midcourse resume {run_id} --restored"


def must_survive(run: Run, event: Event, commands: tuple[Command, ...]) -> bool:
    """Whether this turn must be on the disk before the next one, so that a power cut repeats nothing outside this computer.

    Other turns are observations, checks and plans that cost nothing, which a resumed run makes again. An act that must not be
    repeated is written to the ledger before it is sent, and the ledger is always flushed.
    """
    if isinstance(event, Acted) or is_human_input(event) or isinstance(run.phase, Ended):
        return True
    if any(isinstance(command, AskPerson) for command in commands) or _is_paid(total(getattr(event, "spent", ()))):
        return True
    issued = {command.id for command in commands}
    return any(_is_paid(pending.reserved) for pending in run.pending if pending.command.id in issued)


def _is_paid(cost: Cost) -> bool:
    """Whether a model was called. A planner that is a program costs a call and nothing else."""
    return bool(cost.tokens or cost.microusd)
