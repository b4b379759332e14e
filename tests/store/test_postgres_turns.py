"""Whoever was held up while the run went on without them writes nothing, not even by a hair's breadth."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from midcourse.domain.event import Observed, Started
from midcourse.errors import RunBusy
from midcourse.ports.store import Happened
from midcourse.store.postgres import PostgresStore
from midcourse.testing.conformance.store_samples import ENTRY, OBSERVATION, TASK, opening

SENT = replace(ENTRY, command=9, dispatched_at=20.0, outcome=None)


@pytest.fixture
async def store(postgres: str, tenant: str) -> AsyncIterator[PostgresStore]:
    async with PostgresStore(postgres, tenant=tenant) as store:
        await store.begin(opening("a"), TASK)
        yield store


def seen(answers: int) -> tuple[Happened, ...]:
    return (Happened(seq=1, event=Started(at=1.0)), Happened(seq=2, event=Observed(answers=answers, at=2.0)))


async def write(store: PostgresStore, turn: int, attempt: int = 0) -> None:
    batch = store.batch("a", turn, attempt)
    await batch.append("a", seen(turn + attempt))
    await batch.flush()


async def answered_by(store: PostgresStore) -> int:
    event = (await store._entries("a", 0))[1].event
    assert isinstance(event, Observed)
    return event.answers


async def test_who_is_behind_is_refused_with_all_that_they_bring(store: PostgresStore):
    await write(store, 3)
    behind = store.batch("a", 2)
    await behind.save_observation("a", OBSERVATION)
    await behind.append("a", seen(2))
    with pytest.raises(RunBusy, match="'a' has gone on without turn 2"):
        await behind.flush()
    assert await answered_by(store) == 3
    assert await store.observation("a", OBSERVATION.id) is None


async def test_who_is_behind_cannot_say_that_an_act_is_on_its_way(store: PostgresStore):
    await write(store, 3)
    with pytest.raises(RunBusy):
        await store.batch("a", 2).write_ledger("a", SENT)
    assert await store.ledger_entry("a", SENT.command) is None


async def test_the_same_turn_may_write_again_and_so_may_one_without_a_turn(store: PostgresStore):
    for turn in (3, 3, 0, 4):
        await write(store, turn)
        assert await answered_by(store) == turn


async def test_an_earlier_attempt_at_the_same_turn_is_behind_a_later_one(store: PostgresStore):
    """The run goes on with what the later one saw, so that is what the journal has to say."""
    await write(store, 3, 10)
    await write(store, 3, 20)
    await write(store, 3, 20)
    with pytest.raises(RunBusy):
        await write(store, 3, 10)
    assert await answered_by(store) == 23
    await write(store, 4, 10)
    assert await answered_by(store) == 14


async def test_another_run_or_another_tenant_has_its_own(store: PostgresStore, postgres: str):
    await write(store, 3)
    await store.begin(opening("b"), TASK)
    await store.batch("b", 1).write_ledger("b", SENT)
    async with PostgresStore(postgres, tenant="somebody-else") as other:
        await other.begin(opening("a"), TASK)
        await write(other, 1)
        assert await answered_by(other) == 1


async def test_of_several_at_the_same_moment_the_latest_turn_counts(store: PostgresStore):
    for first in range(1, 200, 4):
        turns = range(first, first + 4)
        outcomes = await asyncio.gather(*(write(store, turn) for turn in turns), return_exceptions=True)
        assert outcomes[-1] is None
        assert all(outcome is None or isinstance(outcome, RunBusy) for outcome in outcomes)
        assert await answered_by(store) == turns[-1]
