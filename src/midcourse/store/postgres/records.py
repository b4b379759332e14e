"""The methods of the store port that a store and its batches share."""

from dataclasses import dataclass
from typing import TypeVar

from psycopg import AsyncConnection

from midcourse.codec import decode, decode_any, encode
from midcourse.domain.approval import Consequence, Question
from midcourse.domain.commands import Command
from midcourse.domain.events import Event
from midcourse.domain.observation import Observation
from midcourse.domain.plan import PlanVersion
from midcourse.domain.records.answers import AnsweredConsequence, AskedConsequence
from midcourse.domain.records.audit import START, AuditLog, Head
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.result import Result
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.errors import StoreUnusable
from midcourse.policy.audit import HUMAN_INPUT_KINDS
from midcourse.ports.store import JournalEvent, JournalRow, RunQuery, RunStatus, RunSummary
from midcourse.replay import take_turn
from midcourse.sealing import open_text
from midcourse.store.deltas import Base, expand
from midcourse.store.lists import FOUND, LISTED, SUCCEEDED, read_summary
from midcourse.store.observations import ObservationBase, pack, read_base_id, unpack
from midcourse.store.postgres.database import Database
from midcourse.store.postgres.statements import (
    BASE,
    CONSEQUENCE,
    ENTRY,
    NO_QUESTION,
    OBSERVATION,
    PLAN,
    RESULT,
    SAVE_ASKED,
    SAVE_QUESTION,
    SESSION,
    SINGLE,
    WITHDRAW_QUESTIONS,
    Key,
    Kind,
    Statement,
    Values,
)
from midcourse.store.state import (
    COMMANDS,
    build_exists_error,
    build_unknown_error,
    check_key,
    check_not_pruned,
    find_final_reason,
    read_answered,
    read_asked,
    read_audit_log,
    read_run,
)

T = TypeVar("T")

ENTER = b"""WITH known AS (INSERT INTO midcourse.tenants DEFAULT VALUES ON CONFLICT DO NOTHING)
INSERT INTO midcourse.runs (id, key, goal, task, job, opening, seq, phase, final_reason)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (tenant, id) DO NOTHING RETURNING month"""

HOLD_KEY = b"SELECT pg_advisory_xact_lock(hashtextextended(current_setting('midcourse.tenant') || ' key ' || %s, 0))"

STATE = b"""SELECT month, task, coalesce(runs.state, opening), runs.seq, drives.seq, drives.state, states.seq, states.body
FROM midcourse.runs LEFT JOIN midcourse.drives ON drives.run = runs.id
LEFT JOIN midcourse.states ON states.run = runs.id AND states.seq = drives.base WHERE runs.id = %s"""

LATEST_WITH_KEY = b"SELECT id FROM midcourse.runs WHERE key = %s AND key <> '' ORDER BY entered DESC LIMIT 1"

SUMMARIES = b"""SELECT id, goal, phase, final_reason, began_at, (results.body::json ->> 'verified')::bool, results.body::json ->> 'sending'
FROM midcourse.runs LEFT JOIN midcourse.results ON results.run = id"""

RUNS_NAMED = (
    SUMMARIES
    + b""" WHERE starts_with(id, %(name)s)
ORDER BY id = %(name)s DESC, entered DESC LIMIT %(limit)s"""
)

STATUS = f"""CASE WHEN status <> 'ended' THEN status WHEN final_reason = '' THEN 'running'
    WHEN final_reason IN ({SUCCEEDED}) THEN 'done' ELSE 'failed' END"""
WORLD = "task::json ->> 'world'"

FIND = f"""SELECT id, goal, phase, final_reason, began_at, (results.body::json ->> 'verified')::bool, results.body::json ->> 'sending',
    entered, key, {WORLD}, coalesce(latest.at, ended_at),
    (results.body::json -> 'budget' ->> 'calls')::int, (results.body::json -> 'budget' ->> 'cost_usd')::float8,
    CASE WHEN status = 'asking' THEN (approvals.body::json ->> 'expires_at')::float8
        - (opening::json -> 'limits' ->> 'approval_seconds')::float8 END,
    CASE WHEN job = '' THEN '' ELSE job::json ->> 'name' END
FROM midcourse.runs LEFT JOIN midcourse.results ON results.run = id
LEFT JOIN midcourse.approvals ON approvals.run = id AND approvals.open
LEFT JOIN LATERAL (SELECT (event::json ->> 'at')::float8 AS at FROM midcourse.journal
    WHERE journal.run = id AND journal.month = runs.month ORDER BY seq DESC LIMIT 1) AS latest ON true
WHERE (%(before)s::bigint IS NULL OR entered < %(before)s) AND (%(world)s = '' OR {WORLD} = %(world)s)
    AND (%(text)s = '' OR strpos(lower(concat_ws(chr(10), id, goal, key)), lower(%(text)s)) > 0)
    AND (cardinality(%(status)s::text[]) = 0 OR {STATUS} = ANY (%(status)s))
ORDER BY entered DESC LIMIT %(limit)s""".encode()

COUNT = f"SELECT {STATUS}, count(*) FROM midcourse.runs GROUP BY 1".encode()

EVENTS_ABOVE = b"""SELECT seq, event, commands FROM midcourse.journal WHERE run = %(run)s AND seq > %(seq)s
AND month = (SELECT month FROM midcourse.runs WHERE id = %(run)s) ORDER BY seq"""

OPEN_QUESTIONS = b"""SELECT body FROM midcourse.approvals JOIN midcourse.runs ON runs.id = approvals.run
WHERE approvals.open AND runs.status = 'asking' ORDER BY asked_at LIMIT %s"""

OPEN_QUESTION = b"""SELECT body FROM midcourse.approvals JOIN midcourse.runs ON runs.id = approvals.run
WHERE approvals.open AND runs.status = 'asking' AND approvals.run = %s"""

ANSWERED = b"""SELECT asked.run, question, shape, consequence, body FROM midcourse.asked JOIN midcourse.audit ON audit.run = asked.run
AND body::json ->> 'kind' = 'approval_decided' AND (body::json ->> 'question')::int = question
WHERE shape = %s ORDER BY n DESC LIMIT %s"""

AUDIT = b"SELECT n, run, seq, body, hash FROM midcourse.audit ORDER BY n"

AUDIT_HEAD = b"SELECT n, hash FROM midcourse.audit ORDER BY n DESC LIMIT 1"

ANCHORS = b"""SELECT head FROM (SELECT body::json ->> 'audit' AS head FROM midcourse.results) AS kept
WHERE head IS NOT NULL"""

HUMAN_INPUTS = b"SELECT run, seq, event FROM midcourse.journal WHERE kind = ANY (%s)"


@dataclass(frozen=True, kw_only=True)
class JournalEntry:
    """A row of the journal, without commands if only the event was written: the director can compute them again."""

    seq: int
    event: Event
    commands: tuple[Command, ...] | None = None


class PostgresRecords:
    """The records of a tenant's runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    # --- state and journal

    async def begin(self, run: Run, task: Task, *, after: str = "", job: str = "") -> None:
        """See the port. `job` is stored for the process that makes the run's ports."""
        goal = task.goal.replace("\0", " ")  # a PostgreSQL text cannot contain NUL; in the task it is escaped
        given = (run.id, task.key, goal, encode(task), job)
        values = (*given, encode(run), run.seq, run.phase.kind, find_final_reason(run))
        async with self._database.connections.borrow() as connection, connection.transaction():
            if task.key:
                await connection.execute(HOLD_KEY, (task.key,))
                latest = await (await connection.execute(LATEST_WITH_KEY, (task.key,))).fetchone()
                check_key(task.key, latest[0] if latest else None, after)
            entered = await (await connection.execute(ENTER, values)).fetchone()
        if entered is None:
            raise build_exists_error(run.id)
        self._database.enter(run.id, entered[0])

    async def run_with_key(self, key: str) -> str | None:
        rows = await self._database.rows(LATEST_WITH_KEY, (key,))
        return rows[0][0] if rows else None

    async def job(self, run_id: str) -> tuple[Task, str]:
        """Return the task and job with which the run was created."""
        sql = b"SELECT month, task, job FROM midcourse.runs WHERE id = %s"
        month, task, job = await self._database.find_run(sql, run_id)
        self._database.enter(run_id, month)
        return decode(Task, task), job

    async def load(self, run_id: str) -> tuple[Run, Task]:
        """Return the state of a run, which is the last stored one plus the events since then, and its task."""
        async with self._database.connections.borrow() as connection:
            run, task = await self._read(connection, run_id)
        for entry in await self._entries(run_id, run.seq):
            if entry.seq != run.seq + 1:
                break
            run, _ = take_turn(run, entry.event)
        return run, task

    async def _read(self, connection: AsyncConnection, run_id: str) -> tuple[Run, Task]:
        """Return the last stored state and the task."""
        row = await (await connection.execute(STATE, (run_id,))).fetchone()
        if row is None:
            raise build_unknown_error(run_id)
        month, task, state, state_seq, turn, delta, base_seq, base = row
        self._database.enter(run_id, month)
        if delta is not None and turn >= state_seq:
            whole = Base(base_seq, expand(base))
            state = expand(delta, whole).decode()
        return read_run(run_id, state), decode(Task, task)

    async def runs(self, *, limit: int | None = None) -> tuple[RunSummary, ...]:
        rows = await self._database.rows(SUMMARIES + b" ORDER BY entered DESC LIMIT %s", (limit,))
        return tuple(read_summary(LISTED, row) for row in rows)

    async def runs_named(self, beginning: str, limit: int) -> tuple[RunSummary, ...]:
        """Return the runs with ids that begin with this: first an exact match, then the newest."""
        rows = await self._database.rows(RUNS_NAMED, {"name": beginning, "limit": limit})
        return tuple(read_summary(LISTED, row) for row in rows)

    async def find_runs(self, query: RunQuery) -> tuple[RunSummary, ...]:
        values = {
            "before": query.before,
            "world": query.world,
            "text": query.text,
            "status": list(query.status),
            "limit": query.limit,
        }
        return tuple(read_summary((*FOUND, "task"), row) for row in await self._database.rows(FIND, values))

    async def count_runs(self) -> dict[RunStatus, int]:
        return dict(await self._database.rows(COUNT, ()))

    async def initial_state(self, run_id: str) -> Run:
        sql = b"SELECT opening, pruned_at FROM midcourse.runs WHERE id = %s"
        state, pruned_at = await self._database.find_run(sql, run_id)
        check_not_pruned(run_id, pruned_at)
        return read_run(run_id, state)

    async def journal(self, run_id: str, above: int = 0) -> tuple[JournalRow, ...]:
        """Return the turns, with their commands as stored or else recomputed by the director.

        Entries after a gap without stored commands are left out.
        """
        run = await self.initial_state(run_id)
        entries = await self._entries(run_id, run.seq)
        recomputes = any(entry.commands is None for entry in entries)
        rows: list[JournalRow] = []
        for entry in entries:
            commands = entry.commands
            if recomputes and entry.seq == run.seq + 1:
                run, found = take_turn(run, entry.event)
                commands = found if commands is None else commands
            if commands is not None and entry.seq > above:
                rows.append(JournalRow(seq=entry.seq, event=entry.event, commands=commands))
        return tuple(rows)

    async def events(self, run_id: str, above: int) -> tuple[JournalEvent, ...]:
        """Return the events with numbers above this one. Recent ones may still be replaced."""
        return tuple(JournalEvent(seq=entry.seq, event=entry.event) for entry in await self._entries(run_id, above))

    # --- what a run refers to

    async def save_session(self, run_id: str, handle: str) -> None:
        seals = self._database.seals
        kept = seals.seal_text(handle, _session_of(run_id)) if seals else handle
        await self._put(SESSION, run_id, SINGLE, kept, (run_id, kept))

    async def session(self, run_id: str) -> str:
        """Return the session's handle, and drop cached records of the run.

        The caller takes the run over from another worker, which may have changed these records.
        """
        self._database.forget(run_id)
        kept = await self._get(SESSION, run_id, SINGLE) or ""
        return open_text(kept, _session_of(run_id), self._database.seals)

    async def save_observation(self, run_id: str, observation: Observation) -> None:
        month = await self._database.find_month(run_id)
        packed = pack(encode(observation), self._find_cached(BASE, run_id, SINGLE))
        if base := packed.new_base:
            await self._put(BASE, run_id, SINGLE, base, (run_id, month, base.id, base.text))
        await self._put(OBSERVATION, run_id, observation.id, observation, (run_id, month, observation.id, packed.body))

    async def observation(self, run_id: str, observation_id: str) -> Observation | None:
        cached = self._find_cached(OBSERVATION, run_id, observation_id)
        return cached or await self._get(OBSERVATION, run_id, observation_id)

    async def _expand_observation(self, run_id: str, body: str) -> str:
        """Return the JSON of an observation that may refer to a base."""
        if not (base_id := read_base_id(body)):
            return body
        base = self._find_cached(BASE, run_id, SINGLE)
        if base is None or base.id != base_id:
            rows = await self._database.rows(BASE.select_one, {"run": run_id, "key": base_id})
            if not rows:
                raise StoreUnusable(f"a part of an observation of run {run_id!r} is lost; restore the database")
            base = ObservationBase(base_id, rows[0][0])
        return unpack(body, base)

    async def save_plan(self, run_id: str, plan: PlanVersion) -> None:
        await self._put(PLAN, run_id, plan.version, plan, (run_id, plan.version, plan.made_by, encode(plan)))

    async def plan(self, run_id: str, version: int, made_by: int = 0) -> PlanVersion | None:
        plan = self._find_cached(PLAN, run_id, version)
        if plan is None or plan.made_by != made_by:  # another worker may have drafted it again
            plan = await self._get(PLAN, run_id, version)
        return plan if plan and made_by in (0, plan.made_by) else None

    async def plans(self, run_id: str, since: int = 0) -> tuple[PlanVersion, ...]:
        return tuple((await self._load_since(PLAN, run_id, since)).values())

    async def save_consequence(self, run_id: str, digest: str, consequence: Consequence) -> None:
        await self._put(CONSEQUENCE, run_id, digest, consequence, (run_id, digest, encode(consequence)))

    async def consequence(self, run_id: str, digest: str) -> Consequence | None:
        return await self._get(CONSEQUENCE, run_id, digest)

    async def write_ledger(self, run_id: str, entry: LedgerEntry) -> None:
        await self._put(ENTRY, run_id, entry.command, entry, (run_id, entry.command, encode(entry)))

    async def ledger_entry(self, run_id: str, command: int) -> LedgerEntry | None:
        return await self._get(ENTRY, run_id, command)

    async def ledger(self, run_id: str, since: int = 0) -> tuple[LedgerEntry, ...]:
        return tuple((await self._load_since(ENTRY, run_id, since)).values())

    async def save_result(self, result: Result) -> None:
        withdraw = WITHDRAW_QUESTIONS, (result.run, NO_QUESTION)
        await self._put(RESULT, result.run, SINGLE, result, (result.run, encode(result)), withdraw)

    async def result(self, run_id: str) -> Result | None:
        return await self._get(RESULT, run_id, SINGLE)

    # --- questions to people

    async def save_question(self, question: Question) -> None:
        """Save a question for other processes, and withdraw an earlier question of the same run."""
        await self._database.find_month(question.run)
        await self._write(
            (WITHDRAW_QUESTIONS, (question.run, question.id)),
            (SAVE_QUESTION, (question.run, question.id, encode(question))),
        )

    async def open_questions(self, limit: int | None = None) -> tuple[Question, ...]:
        """Return the open questions of waiting runs, the oldest first."""
        rows = await self._database.rows(OPEN_QUESTIONS, (limit,))
        return tuple(decode(Question, body) for (body,) in rows)

    async def open_question(self, run_id: str) -> Question | None:
        """Return the open question of this run. A run asks one at a time."""
        rows = await self._database.rows(OPEN_QUESTION, (run_id,))
        return decode(Question, rows[0][0]) if rows else None

    # --- what people decided

    async def save_asked_consequences(self, asked: tuple[AskedConsequence, ...]) -> None:
        for run_id in {record.run for record in asked}:
            await self._database.find_month(run_id)
        rows = enumerate(asked)
        await self._write(
            *(
                (SAVE_ASKED, (record.run, record.question, record.consequence, place, record.shape))
                for place, record in rows
            )
        )

    async def asked_consequences(self, run_id: str) -> tuple[AskedConsequence, ...]:
        sql = b"SELECT run, question, shape, consequence FROM midcourse.asked WHERE run = %s ORDER BY question, place"
        return tuple(read_asked(*row) for row in await self._database.rows(sql, (run_id,)))

    async def answered_consequences(self, shape: str, limit: int) -> tuple[AnsweredConsequence, ...]:
        return read_answered(await self._database.rows(ANSWERED, (shape, limit)))

    async def audit(self) -> AuditLog:
        return read_audit_log(
            self._database.connections.tenant,
            await self._database.rows(AUDIT, ()),
            await self._database.rows(ANCHORS, ()),
            await self._database.rows(HUMAN_INPUTS, (list(HUMAN_INPUT_KINDS),)),
        )

    async def audit_head(self) -> Head:
        rows = await self._database.rows(AUDIT_HEAD, ())
        return Head(n=rows[0][0], hash=rows[0][1]) if rows else START

    # --- rows

    async def _write(self, *writes: tuple[Statement, Values]) -> None:
        await self._database.write(writes)

    async def _put(
        self, kind: Kind[T], run_id: str, key: Key, value: T, values: Values, *also: tuple[Statement, Values]
    ) -> None:
        await self._database.find_month(run_id)
        await self._database.write([(kind.write, values), *also])
        self._database.remember(kind, run_id, key, value, len(values[-1]))

    def _find_cached(self, kind: Kind[T], run_id: str, key: Key) -> T | None:
        """Return the cached record, which may be outdated."""
        return self._database.recall(kind, run_id, key)

    async def _get(self, kind: Kind[T], run_id: str, key: Key) -> T | None:
        rows = await self._database.rows(kind.select_one, {"run": run_id, "key": key})
        if not rows:
            return None
        ((body,),) = rows
        value = kind.decode(await self._expand_observation(run_id, body) if kind is OBSERVATION else body)
        self._database.remember(kind, run_id, key, value, len(body))
        return value

    async def _load_since(self, kind: Kind[T], run_id: str, since: int) -> dict[int, T]:
        """Return the records from this key on, in order of their keys."""
        rows = await self._database.rows(kind.select_since, {"run": run_id, "since": since})
        return {key: kind.decode(body) for key, body in rows}

    async def _entries(self, run_id: str, above: int) -> list[JournalEntry]:
        return [
            JournalEntry(
                seq=seq,
                event=decode_any(Event, event),
                commands=None if commands is None else decode_any(COMMANDS, commands),
            )
            for seq, event, commands in await self._database.rows(EVENTS_ABOVE, {"run": run_id, "seq": above})
        ]


def _session_of(run_id: str) -> str:
    """Return the associated data of a sealed handle, which binds the handle to its run."""
    return f"session of {run_id}"
