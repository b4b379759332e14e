"""A driver whose run was claimed by another driver writes nothing, even in a race."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import psycopg
import pytest

from midcourse.domain.events import Guided, Observed
from midcourse.errors import RunBusy
from midcourse.ports.driving import Claim
from midcourse.store.postgres import PostgresStore
from midcourse.store.postgres.address import convert_for_libpq
from midcourse.testing.conformance.store_samples import ENTRY, OBSERVATION, TASK, new_run
from tests.store.batches import state

SENT = replace(ENTRY, command=9, dispatched_at=20.0, outcome=None)


@pytest.fixture
async def store(postgres: str, tenant: str) -> AsyncIterator[PostgresStore]:
    async with PostgresStore(postgres, tenant=tenant) as store:
        await store.begin(new_run("a"), TASK)
        yield store


async def write(store: PostgresStore, claim: Claim, seq: int = 1) -> None:
    await store.records(claim).save_turn(state("a", seq), Observed(answers=claim.epoch, at=2.0), ())


async def written_by(store: PostgresStore, seq: int = 1) -> int:
    event = (await store.journal("a"))[seq - 1].event
    assert isinstance(event, Observed)
    return event.answers


async def test_an_outdated_claim_writes_nothing(store: PostgresStore):
    behind = store.records(await store.claim_run("a"))
    await write(store, await store.claim_run("a"))
    await behind.save_observation("a", OBSERVATION)
    with pytest.raises(RunBusy, match="'a' was claimed by another process"):
        await behind.flush()
    with pytest.raises(RunBusy):
        await behind.save_turn(state("a", 2), Observed(answers=1, at=3.0), ())
    assert (await written_by(store), len(await store.journal("a"))) == (2, 1)
    assert await store.observation("a", OBSERVATION.id) is None


async def test_an_outdated_claim_cannot_record_a_dispatch(store: PostgresStore):
    behind = store.records(await store.claim_run("a"))
    await store.claim_run("a")
    with pytest.raises(RunBusy):
        await behind.write_ledger("a", SENT)
    assert await store.ledger_entry("a", SENT.command) is None


async def test_records_of_runs_that_rest_or_have_ended_are_not_cached(store: PostgresStore):
    def cached_runs() -> set[str]:
        return {run for _, run, _ in store._database._recent}

    for run in ("b", "c"):
        await store.begin(new_run(run), TASK)
    resting, ending = await store.claim_run("a"), await store.claim_run("b")
    for claim, phase in ((resting, "running"), (ending, "ended")):
        records = store.records(claim)
        await records.save_observation(claim.run, OBSERVATION)
        await records.save_turn(state(claim.run, 1, phase), Observed(answers=1, at=2.0), ())
    assert cached_runs() == {"a", "b"}
    assert await store.rest(resting, seq=1, known=0)
    assert cached_runs() == {"b"}
    await store.claim_run("c")
    assert cached_runs() == set()


async def test_claims_are_separate_for_each_run_and_tenant(store: PostgresStore, postgres: str, tenant: str):
    await store.claim_run("a")
    claim = await store.claim_run("a")
    await store.begin(new_run("b"), TASK)
    await store.records(await store.claim_run("b")).write_ledger("b", SENT)
    async with PostgresStore(postgres, tenant=f"{tenant}-else") as other:
        await other.begin(new_run("a"), TASK)
        await write(other, await other.claim_run("a"))
        assert await written_by(other) == 1
    await write(store, claim)
    assert await written_by(store) == 2


async def test_of_several_at_the_same_moment_the_latest_claim_counts(store: PostgresStore):
    for seq in range(1, 30):
        claims = [await store.claim_run("a") for _ in range(4)]
        writing = (write(store, claim, seq) for claim in reversed(claims))
        last, *others = await asyncio.gather(*writing, return_exceptions=True)
        assert last is None
        assert all(isinstance(outcome, RunBusy) for outcome in others)
        assert await written_by(store, seq) == claims[-1].epoch


async def test_nothing_is_written_under_an_old_claim_after_a_new_one_was_read(store: PostgresStore):
    """What is read after a claim is final."""
    for seq in range(1, 30):
        claim = await store.claim_run("a")

        async def take_over(seq: int = seq) -> int:
            await store.claim_run("a")
            return (await store.load("a"))[0].seq

        outcome, seen = await asyncio.gather(write(store, claim, seq), take_over(), return_exceptions=True)
        assert seen == (seq if outcome is None else seq - 1)
        if outcome is not None:
            assert isinstance(outcome, RunBusy)
            await write(store, await store.claim_run("a"), seq)


async def lose(postgres: str, tenant: str, *commits: str) -> None:
    """Take back what was committed, as after a fail-over to a standby that did not have it yet."""
    async with await psycopg.AsyncConnection.connect(convert_for_libpq(postgres), autocommit=True) as connection:
        for commit in commits:
            await connection.execute(f"{commit} WHERE tenant = %s".encode(), (tenant,))


async def test_a_claim_does_not_write_after_turns_that_the_database_has_lost(
    store: PostgresStore, postgres: str, tenant: str
):
    claim = await store.claim_run("a")
    await write(store, claim, 1)
    await write(store, claim, 2)
    lost = "UPDATE midcourse.drives SET seq = 0, state = NULL", "DELETE FROM midcourse.journal"
    await lose(postgres, tenant, *lost)
    with pytest.raises(RunBusy, match="lost commits"):
        await write(store, claim, 3)
    assert await store.journal("a") == ()


async def test_a_claim_does_not_wait_for_messages_that_the_database_has_lost(
    store: PostgresStore, postgres: str, tenant: str
):
    claim = await store.claim_run("a")
    assert (await store.post("a", Guided(text="left"))).number == 1
    await lose(postgres, tenant, "UPDATE midcourse.drives SET messages = 0", "DELETE FROM midcourse.inbox")
    with pytest.raises(RunBusy, match="lost commits"):
        await store.records(claim).save_turn(state("a", 1), Observed(answers=1, at=2.0), (), known=1)
    with pytest.raises(RunBusy, match="lost commits"):
        await store.rest(claim, seq=0, known=1)
