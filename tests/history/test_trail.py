"""A journal that is still being written: every turn is reported once, with the state and commands that were recorded."""

import random

import pytest

from midcourse.history.replay import Trail
from midcourse.ports.store import JournalEvent
from midcourse.replay import list_states
from tests.replay.recording import Recording, made_up, recorded
from tests.scenarios.stage import example


def list_events(recording: Recording) -> list[JournalEvent]:
    return [JournalEvent(seq=row.seq, event=row.event) for row in recording.rows]


async def test_turns_are_as_recorded_however_many_rows_arrive_at_once() -> None:
    order, _ = await recorded(example("order"))
    rows = list_events(order)
    at_once, one_by_one = Trail(order.opening), Trail(order.opening)
    turns = at_once.take(rows)
    assert turns == tuple(turn for row in rows for turn in one_by_one.take([row]))
    assert [turn.commands for turn in turns] == [row.commands for row in order.rows]
    assert tuple(turn.run for turn in turns) == list_states(order.opening, order.rows)[1:]


@pytest.mark.parametrize("seed", range(5))
def test_a_generated_journal_leads_to_its_recorded_state(seed: int) -> None:
    recording = made_up(random.Random(seed).randbytes(200))
    trail, rows = Trail(recording.opening), list_events(recording)
    chance = random.Random(seed)
    while trail.run.seq < rows[-1].seq:
        news = [row for row in rows if row.seq > trail.run.seq]
        trail.take(news[: chance.randint(1, 5)])
    assert trail.run == recording.state
