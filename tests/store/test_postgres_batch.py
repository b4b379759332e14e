"""A batch is one transaction, an act is on record before it happens, and a step reads nothing that was just written."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import psycopg
import pytest

from midcourse.domain.approval import Question
from midcourse.domain.events import Acted, ApprovalDecided, Finished, Started
from midcourse.domain.outcome import Outcome
from midcourse.domain.run import Run
from midcourse.errors import RunUnknown
from midcourse.ports.store import RunQuery, RunStatus
from midcourse.store.postgres import PostgresBatch, PostgresStore
from midcourse.testing.conformance.store_samples import (
    CONSEQUENCE,
    ENTRY,
    OBSERVATION,
    PLAN,
    TASK,
    new_run,
    result,
)
from tests.store.batches import batch_of, state, write

SENT = replace(ENTRY, command=9, dispatched_at=20.0, outcome=None)
SETTLED = replace(SENT, outcome=Outcome(status="ok", evidence="expectation"))
ADOPTED = replace(PLAN, made_by=7)


@pytest.fixture
async def store(postgres: str, tenant: str) -> AsyncIterator[PostgresStore]:
    async with PostgresStore(postgres, tenant=tenant, connections=1) as store:
        await store.begin(new_run("a"), TASK)
        yield store


@pytest.fixture
async def other(postgres: str, tenant: str) -> AsyncIterator[PostgresStore]:
    """Another worker."""
    async with PostgresStore(postgres, tenant=tenant) as store:
        yield store


class Transactions:
    count = 0


@asynccontextmanager
async def counted(store: PostgresStore) -> AsyncIterator[Transactions]:
    """How many transactions the store's only connection makes, reading ones too: PostgreSQL numbers them for itself."""

    async def number() -> int:
        sql = b"SELECT virtualtransaction FROM pg_locks WHERE pid = pg_backend_pid() LIMIT 1"
        ((found,),) = await store._database.rows(sql, ())
        return int(found.partition("/")[2])

    transactions = Transactions()
    before = await number()
    yield transactions
    transactions.count = await number() - before - 1


async def step(batch: PostgresBatch, seq: int = 1) -> None:
    """What performing an irreversible act does with its store."""
    assert await batch.plan("a", 1, 7)
    assert await batch.observation("a", "o1")
    await batch.save_consequence("a", "c1", CONSEQUENCE)
    await batch.write_ledger("a", SENT)
    await batch.save_observation("a", replace(OBSERVATION, id="o9"))
    await batch.write_ledger("a", SETTLED)
    await batch.save_turn(state("a", seq), Acted(answers=9, at=21.0), ())


# --- transactions


async def test_step_that_is_dispatched_costs_two_transactions(store: PostgresStore):
    batch = await batch_of(store)
    await store.save_observation("a", OBSERVATION)
    await store.save_plan("a", ADOPTED)
    async with counted(store) as transactions:
        await step(batch)
    assert transactions.count == 2


async def test_a_step_without_a_dispatch_costs_one_transaction(store: PostgresStore):
    batch = await batch_of(store)
    await store.save_observation("a", OBSERVATION)
    await store.save_plan("a", ADOPTED)
    async with counted(store) as transactions:
        assert await batch.plan("a", 1, 7)
        assert await batch.observation("a", "o1")
        await batch.save_observation("a", replace(OBSERVATION, id="o9"))
        await batch.write_ledger("a", replace(SETTLED, dispatched_at=None))
        await batch.save_turn(state("a", 1), Acted(answers=9, at=21.0), ())
    assert transactions.count == 1


async def test_worker_that_knows_nothing_of_the_run_reads_each_thing_once(
    store: PostgresStore, postgres: str, tenant: str
):
    await store.save_observation("a", OBSERVATION)
    await store.save_plan("a", ADOPTED)
    async with PostgresStore(postgres, tenant=tenant, connections=1) as newcomer:
        batch = await batch_of(newcomer)
        for seq, expected in ((1, 2 + 2), (2, 2)):  # its plan and what was seen
            async with counted(newcomer) as transactions:
                await step(batch, seq)
            assert transactions.count == expected


async def test_empty_flush_costs_nothing(store: PostgresStore):
    batch = await batch_of(store)
    async with counted(store) as transactions:
        await batch.flush()
    assert transactions.count == 0


async def test_one_row_that_fails_leaves_nothing_of_the_batch(store: PostgresStore, other: PostgresStore):
    batch = await batch_of(store)
    await batch.save_session("a", "handle")
    await batch.save_observation("a", OBSERVATION)
    await batch.save_plan("a", replace(PLAN, version=2**40))
    with pytest.raises(psycopg.errors.DataError):
        await batch.save_turn(state("a", 1), Started(at=1.0), ())
    assert await other.session("a") == ""
    assert await other.observation("a", "o1") is None
    assert await other.journal("a") == ()
    assert [(run.phase, run.began_at) for run in await other.runs()] == [("new", 0.0)]
    assert await store.observation("a", "o1") is None, "what was not written is not remembered"


async def test_unflushed_records_are_seen_only_by_their_batch(store: PostgresStore, other: PostgresStore):
    batch = await batch_of(store)
    await batch.save_observation("a", OBSERVATION)
    assert await batch.observation("a", "o1") == OBSERVATION
    assert await other.observation("a", "o1") is None
    await batch.flush()
    assert await other.observation("a", "o1") == OBSERVATION


async def test_unknown_run_is_refused_before_anything_waits(store: PostgresStore):
    batch = await batch_of(store)
    with pytest.raises(RunUnknown):
        await batch.save_observation("b", OBSERVATION)
    async with counted(store) as transactions:
        await batch.flush()
    assert transactions.count == 0


# --- dispatch


async def test_dispatched_act_is_on_record_at_once_with_all_before_it(store: PostgresStore, other: PostgresStore):
    batch = await batch_of(store)
    await batch.save_consequence("a", "c1", CONSEQUENCE)
    await batch.write_ledger("a", SENT)
    assert await other.ledger_entry("a", 9) == SENT
    assert await other.consequence("a", "c1") == CONSEQUENCE
    await batch.write_ledger("a", SETTLED)
    assert await other.ledger_entry("a", 9) == SENT
    assert await batch.ledger_entry("a", 9) == SETTLED
    await batch.flush()
    assert await other.ledger_entry("a", 9) == SETTLED


async def test_commit_of_a_dispatch_waits_for_the_disk(store: PostgresStore):
    assert await store._database.rows(b"SHOW synchronous_commit", ()) == [("on",)]


# --- memory


async def test_plan_is_remembered_only_for_the_command_that_made_it(store: PostgresStore, other: PostgresStore):
    await store.save_plan("a", ADOPTED)
    redrafted = replace(ADOPTED, made_by=8, why="made again")
    await other.save_plan("a", redrafted)
    async with counted(store) as transactions:
        assert await store.plan("a", 1, 7) == ADOPTED
    assert transactions.count == 0
    async with counted(store) as transactions:
        assert await store.plan("a", 1, 8) == redrafted
        assert await store.plan("a", 1, 8) == redrafted
    assert transactions.count == 1
    assert await store.plan("a", 1) == redrafted
    assert await store.plan("a", 1, 7) is None


async def test_worker_that_takes_a_session_over_remembers_nothing_of_the_run(
    store: PostgresStore, other: PostgresStore
):
    await store.save_observation("a", OBSERVATION)
    changed = replace(OBSERVATION, fingerprint="f2")
    await other.save_observation("a", changed)
    assert await store.observation("a", "o1") == OBSERVATION
    assert await store.session("a") == ""
    assert await store.observation("a", "o1") == changed


# --- how runs stand


async def test_list_of_runs_follows_the_turns(store: PostgresStore):
    async def tell(seq: int, phase: str) -> tuple[str, str, float]:
        await write(store, "a", seq, Finished(answers=seq, at=10.0 + seq), phase)
        (run,) = await store.runs()
        return run.phase, run.final_reason, run.began_at

    assert await tell(1, "running") == ("running", "", 11.0)
    assert await tell(4, "asking") == ("asking", "", 11.0)
    assert await tell(5, "ended") == ("ended", "rejected", 11.0)


async def test_unchanged_status_writes_nothing(store: PostgresStore, postgres: str, tenant: str):
    def row_version() -> object:
        with psycopg.connect(postgres) as owner:
            return owner.execute("SELECT xmin, ctid FROM midcourse.runs WHERE tenant = %s", (tenant,)).fetchone()

    async def tell(seq: int, phase: str) -> object:
        await write(store, "a", seq, Acted(answers=seq, at=1.0), phase)
        return row_version()

    first = await tell(1, "running")
    assert await tell(2, "running") == first
    assert await tell(3, "asking") != first


async def test_runs_are_listed_by_status_and_up_to_a_number(store: PostgresStore):
    for number, phase in enumerate(("running", "asking", "paused", "asking", "ended")):
        await store.begin(Run(id=f"run {number}"), TASK)
        await write(store, f"run {number}", 1, Started(at=1.0), phase)
    statuses: tuple[RunStatus, ...] = ("running", "asking", "paused", "failed")
    by_status = {status: await store.find_runs(RunQuery(status=(status,))) for status in statuses}
    assert {status: [run.id for run in runs] for status, runs in by_status.items()} == {
        "running": ["run 0", "a"],
        "asking": ["run 3", "run 1"],
        "paused": ["run 2"],
        "failed": ["run 4"],
    }
    assert [run.id for run in await store.runs(limit=2)] == ["run 4", "run 3"]
    assert [run.id for run in await store.find_runs(RunQuery(status=("asking",), limit=1))] == ["run 3"]


# --- questions


def question(run_id: str, number: int) -> Question:
    return Question(
        run=run_id,
        id=number,
        about="approve",
        goal=TASK.goal,
        consequences=(CONSEQUENCE,),
        says=("Pay",),
        expires_at=99.0,
    )


async def ask(store: PostgresStore, run_id: str, number: int) -> None:
    batch = await batch_of(store, run_id)
    await batch.save_question(question(run_id, number))
    await batch.save_turn(state(run_id, number, "asking"), Acted(answers=1), ())


async def test_open_questions_are_found_by_others_the_longest_waiting_first(store: PostgresStore, other: PostgresStore):
    await store.begin(new_run("b"), TASK)
    await ask(store, "a", 3)
    await ask(store, "b", 4)
    assert await other.open_questions() == (question("a", 3), question("b", 4))
    assert await other.open_questions(limit=1) == (question("a", 3),)


async def test_question_is_closed_by_its_decision(store: PostgresStore, other: PostgresStore):
    await ask(store, "a", 3)
    await write(store, "a", 4, ApprovalDecided(question=3, verdict="approved", by="Ann", at=5.0), "asking")
    assert await other.open_questions() == ()
    await store.save_question(question("a", 3))
    assert await other.open_questions() == (), "asked again by somebody who was held up"


async def test_decision_on_another_question_closes_nothing(store: PostgresStore):
    await ask(store, "a", 3)
    await write(store, "a", 4, ApprovalDecided(question=2, verdict="approved", by="Ann", at=5.0), "asking")
    rows = await store._database.rows(b"SELECT question FROM midcourse.approvals WHERE open", ())
    assert rows == [(3,)]


async def test_newer_question_withdraws_the_older(store: PostgresStore):
    await ask(store, "a", 3)
    await ask(store, "a", 5)
    assert await store.open_questions() == (question("a", 5),)


async def test_question_of_a_run_that_no_longer_asks_is_not_open(store: PostgresStore):
    await ask(store, "a", 3)
    await write(store, "a", 4, Acted(answers=1), "paused")
    assert await store.open_questions() == ()


async def test_result_withdraws_whatever_is_open(store: PostgresStore):
    await ask(store, "a", 3)
    await store.save_result(result("a"))
    assert await store.open_questions() == ()


# --- many at once


async def test_many_batches_at_once_on_few_connections(postgres: str, tenant: str):
    async with PostgresStore(postgres, tenant=tenant, connections=3) as store:
        ids = tuple(f"run {number}" for number in range(20))

        async def drive(run_id: str) -> None:
            await store.begin(new_run(run_id), TASK)
            for seq in range(1, 6):
                batch = await batch_of(store, run_id)
                await batch.save_observation(run_id, replace(OBSERVATION, id=f"o{seq}"))
                await batch.save_turn(state(run_id, seq), Acted(answers=seq, at=float(seq)), ())

        await asyncio.gather(*map(drive, ids))
        for run_id in ids:
            rows = await store._database.rows(
                b"SELECT seq FROM midcourse.journal WHERE run = %s ORDER BY seq", (run_id,)
            )
            assert rows == [(1,), (2,), (3,), (4,), (5,)]
