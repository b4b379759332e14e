"""A journal that is still being written: every turn is told once, whatever is written over it."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from midcourse.app.records.trail import PROVISIONAL, Trail
from midcourse.domain.event import Acted, Event, PauseAsked
from midcourse.drive import Progress
from midcourse.ports.store import Happened
from midcourse.replay import states
from tests.replay.recording import Recording, made_up, recorded
from tests.scenarios.stage import example


def rows_of(events: Sequence[Event], first: int = 1) -> list[Happened]:
    return [Happened(seq=seq, event=event) for seq, event in enumerate(events, start=first)]


def events_of(recording: Recording) -> list[Event]:
    return [row.event for row in recording.rows]


@pytest.fixture
async def order() -> Recording:
    return (await recorded(example("order")))[0]


def follow(trail: Trail, journal: Sequence[Happened]) -> tuple[Progress, ...]:
    """As whoever reads only what may have changed."""
    return trail.take(row for row in journal if row.seq > trail.above)


def test_all_at_once_or_one_by_one_it_is_what_was_recorded(order: Recording):
    rows = rows_of(events_of(order))
    at_once, one_by_one = Trail(order.opening), Trail(order.opening)
    told = at_once.take(rows)
    singly = [turn for number in range(len(rows)) for turn in follow(one_by_one, rows[: number + 1])]
    assert [(turn.run.seq, turn.event, turn.commands) for turn in told] == [
        (row.seq, row.event, row.commands) for row in order.rows
    ]
    assert list(told) == singly
    assert at_once.run == one_by_one.run == order.state
    assert follow(at_once, rows) == ()


def test_a_pause_that_takes_the_place_of_an_answer_is_told_and_the_answer_not_again(order: Recording):
    events = events_of(order)
    act = next(n for n, event in enumerate(events) if isinstance(event, Acted))
    pause = PauseAsked(at=events[act].at)
    trail = Trail(order.opening)
    follow(trail, rows_of(events[: act + 1]))
    rewritten = [*events[:act], pause, events[act]]
    (told,) = follow(trail, rows_of(rewritten))
    assert told.event == pause
    expected = states(order.opening, rows_as_recorded(order, rewritten))[-1]
    assert told.run == trail.run == expected
    assert told.run.phase.kind == "paused"
    assert [command.kind for command in told.commands] == ["record"], "what follows from the answer is not forgotten"


def test_an_answer_that_was_never_heard_is_replaced_by_what_was_made_of_it(order: Recording):
    events = events_of(order)
    act = next(n for n, event in enumerate(events) if isinstance(event, Acted))
    answer = events[act]
    assert isinstance(answer, Acted)
    lost = replace(answer, status="unknown", reason="lost")
    trail = Trail(order.opening)
    follow(trail, rows_of(events[: act + 3]))
    (told,) = follow(trail, rows_of([*events[:act], lost]))
    assert told.event == lost
    assert told.run == trail.run == states(order.opening, rows_as_recorded(order, [*events[:act], lost]))[-1]


def test_what_comes_after_a_gap_waits_for_it_to_be_filled(order: Recording):
    rows = rows_of(events_of(order))
    trail = Trail(order.opening)
    assert len(trail.take([*rows[:3], *rows[4:6]])) == 3
    assert len(follow(trail, rows[:6])) == 3


@pytest.mark.parametrize("seed", range(5))
def test_a_long_run_is_not_read_from_its_beginning_for_ever(seed: int):
    recording = made_up(random.Random(seed).randbytes(2000))
    rows = rows_of(events_of(recording), recording.opening.seq + 1)
    trail = Trail(recording.opening)
    told = [turn for number in range(len(rows)) for turn in follow(trail, rows[: number + 1])]
    assert [turn.event for turn in told] == [row.event for row in rows]
    assert trail.run == recording.state
    assert trail.above == max(recording.opening.seq, rows[-1].seq - PROVISIONAL)


def rows_as_recorded(recording: Recording, events: Sequence[Event]):
    return [replace(recording.rows[0], seq=row.seq, event=row.event) for row in rows_of(events)]
