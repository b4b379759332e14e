"""Journals of version 0.1 have events alone: what they come to is what `keep` would have written, to the byte."""

import random
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from midcourse.codec import encode
from midcourse.domain.events import Event, Finished, Started
from midcourse.domain.phases import Ended
from midcourse.ports.store import JournalEvent
from midcourse.replay import list_states
from midcourse.store.postgres import PostgresStore
from midcourse.store.postgres.statements import SAVE_EVENT
from midcourse.testing.conformance.store import same
from midcourse.testing.conformance.store_samples import TASK
from tests.harness import Drill
from tests.replay.recording import Recording, made_up, recorded
from tests.scenarios.stage import example


@pytest.fixture
async def store(postgres: str, tenant: str) -> AsyncIterator[PostgresStore]:
    async with PostgresStore(postgres, tenant=tenant) as store:
        yield store


def events_of(recording: Recording) -> tuple[JournalEvent, ...]:
    return tuple(JournalEvent(seq=row.seq, event=row.event) for row in recording.rows)


async def append(store: PostgresStore, run_id: str, *happened: JournalEvent) -> None:
    month = await store._database.find_month(run_id)
    for one in happened:
        await store._database.write(
            [(SAVE_EVENT, (run_id, month, one.seq, one.event.kind, encode(one.event, Event), None))]
        )


async def both_ways(store: PostgresStore, recording: Recording) -> None:
    """The same run, kept turn by turn under one name and appended under another."""
    kept, appended = (replace(recording.opening, id=name) for name in ("kept", "appended"))
    await store.begin(kept, TASK)
    for run, row in zip(list_states(kept, recording.rows)[1:], recording.rows, strict=True):
        await store.save_turn(run, row.event, row.commands)
    await store.begin(appended, TASK)
    await append(store, "appended", *events_of(recording))
    assert same(await store.journal("appended"), recording.rows)
    assert same(await store.journal("appended"), await store.journal("kept"))
    assert same(await store.load("appended"), (replace(recording.state, id="appended"), TASK))
    assert same(replace((await store.load("appended"))[0], id="kept"), (await store.load("kept"))[0])


@pytest.mark.parametrize("name", ["order", "notepad"])
async def test_recorded_run_is_the_same_appended_and_kept(store: PostgresStore, name: str):
    recording, _ = await recorded(example(name))
    await both_ways(store, recording)


@pytest.mark.parametrize("seed", range(5))
async def test_generated_run_is_the_same_appended_and_kept(store: PostgresStore, seed: int):
    recording = made_up(random.Random(seed).randbytes(200))
    assert len(recording.rows) > 5
    await both_ways(store, recording)


async def test_answer_that_cannot_be_ends_the_run_as_it_does_in_the_loop(store: PostgresStore):
    await store.begin(Drill().run, TASK)
    impossible = Finished(answers=1, at=2.0)
    await append(
        store, Drill().run.id, JournalEvent(seq=1, event=Started(at=1.0)), JournalEvent(seq=2, event=impossible)
    )
    run, _ = await store.load(Drill().run.id)
    assert isinstance(run.phase, Ended)
    assert run.phase.reason == "internal_error"
    assert [command.kind for command in (await store.journal(run.id))[-1].commands] == ["finish"]


async def test_turn_kept_after_appended_events_goes_on_from_them(store: PostgresStore):
    recording, _ = await recorded(example("order"))
    opening = replace(recording.opening, id="a")
    *first, last = recording.rows
    await store.begin(opening, TASK)
    await append(store, "a", *events_of(replace(recording, rows=tuple(first))))
    *_, before, after = list_states(opening, recording.rows)
    assert (await store.load("a"))[0] == before
    await store.save_turn(after, last.event, last.commands)
    assert (await store.load("a"))[0] == after
    assert await store.journal("a") == recording.rows


async def test_events_after_a_gap_have_no_effect_yet(store: PostgresStore):
    recording, _ = await recorded(example("order"))
    opening = replace(recording.opening, id="a")
    await store.begin(opening, TASK)
    first, second, third, *_ = events_of(recording)
    await append(store, "a", first, third)
    assert (await store.load("a"))[0].seq == 1
    assert [row.seq for row in await store.journal("a")] == [1]
    await append(store, "a", second)
    assert (await store.load("a"))[0].seq == 3
    assert await store.journal("a") == recording.rows[:3]
