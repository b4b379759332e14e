"""Slices of a driver, in memory: each takes a turn, and recovery is decided as of the messages that wait."""

from dataclasses import replace

from midcourse.domain.events import CancelAsked, Resumed
from midcourse.runtimes.driver import Driver
from midcourse.runtimes.mailbox import Mailbox
from tests.harness import START, Bench


async def test_every_slice_takes_a_turn_however_short_it_is():
    each = Bench()
    await each.store.begin(each.first(), each.task)
    turns, why = [0], ""
    while why != "ended":
        left = await Driver(each.ports, must_stop=lambda: True, held=True).drive(placed=len(turns))
        assert left.run.seq > turns[-1]
        turns.append(left.run.seq)
        why = left.why
    assert len(turns) > 3


async def test_recovery_is_decided_as_of_the_first_message():
    """An answer that was accepted in time must not be decided after its question has expired."""
    each = Bench()
    await each.store.begin(each.first(), each.task)
    posted = await each.store.post(each.run_id, CancelAsked(at=START + 5.0))
    assert posted.number == 1
    claim = await each.store.claim_run(each.run_id)
    each.clock.advance(900.0)
    box = Mailbox(each.store, claim, each.clock, lambda call: call())
    await box.recover((Resumed(),))
    arrivals = [await box.receive() for _ in range(2)]
    assert [(arrival.event.kind, arrival.event.at) for arrival in arrivals] == [
        ("resumed", START + 5.0),
        ("cancel_asked", START + 5.0),
    ]


async def test_recovery_without_messages_is_decided_now():
    each = Bench()
    await each.store.begin(each.first(), each.task)
    box = Mailbox(each.store, await each.store.claim_run(each.run_id), each.clock, lambda call: call())
    await box.recover((Resumed(),))
    assert (await box.receive()).event == replace(Resumed(), at=each.clock.now())
