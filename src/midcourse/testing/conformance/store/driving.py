"""Conformance suite for claims, turns, messages and rest."""

from typing import cast

from midcourse.director.decide import decide
from midcourse.domain.events import CancelAsked, Guided, PauseAsked, Resumed, Started
from midcourse.domain.run import Run
from midcourse.errors import RunBusy, RunUnknown
from midcourse.ports.abilities import offers
from midcourse.ports.driving import Batching, Claim, Driving, MessageWaiting, Turns
from midcourse.ports.store import Store
from midcourse.testing.conformance.store.base import StoreSuite, refused, with_store
from midcourse.testing.conformance.store_samples import OBSERVATION, TASK, new_run

HINT = Guided(text="no hurry", at=5.0)


class DrivingConformance(StoreSuite):
    @with_store
    async def test_a_claimed_run_is_written_and_loaded_with_its_commands(self, store: Store) -> None:
        driving, claim = await claimed(store)
        run, commands = decide(new_run("a"), Started(at=1.0))
        await turns_of(driving, claim).save_turn(run, Started(at=1.0), commands, claim=claim, known=0)
        assert (await store.load("a"))[0] == run
        assert [row.commands for row in await store.journal("a")] == [commands]

    @with_store
    async def test_an_earlier_claim_writes_nothing(self, store: Store) -> None:
        driving, first = await claimed(store)
        run = await started(driving, first)
        second = await driving.claim_run("a")
        assert second.epoch > first.epoch
        late = turns_of(driving, first)
        if offers(driving, Batching):
            await cast(Store, late).save_observation("a", OBSERVATION)
        after, commands = decide(run, Resumed(at=2.0))
        with refused(RunBusy):
            await late.save_turn(after, Resumed(at=2.0), commands, claim=first, known=0)
        with refused(RunBusy):
            await driving.rest(first, seq=run.seq, known=0)
        assert (await store.load("a"))[0] == run
        assert await store.observation("a", OBSERVATION.id) is None
        await turns_of(driving, second).save_turn(after, Resumed(at=2.0), commands, claim=second, known=0)

    @with_store
    async def test_a_driver_that_was_placed_earlier_cannot_claim(self, store: Store) -> None:
        driving, _ = await claimed(store)
        later = await driving.claim_run("a", placed=20)
        with refused(RunBusy):
            await driving.claim_run("a", placed=10)
        assert (await driving.claim_run("a", placed=20)).epoch == later.epoch + 1

    @with_store
    async def test_a_turn_can_be_written_again_although_a_message_was_posted_since(self, store: Store) -> None:
        """An answer of the database may be lost on its way."""
        driving, claim = await claimed(store)
        run, commands = decide(new_run("a"), Started(at=1.0))
        turns = turns_of(driving, claim)
        await turns.save_turn(run, Started(at=1.0), commands, claim=claim, known=0)
        await driving.post("a", HINT)
        await turns.save_turn(run, Started(at=1.0), commands, claim=claim, known=0)
        assert len(await store.journal("a")) == 1

    @with_store
    async def test_a_message_precedes_a_turn_that_does_not_know_it(self, store: Store) -> None:
        driving, claim = await claimed(store)
        run = await started(driving, claim)
        assert (await driving.post("a", HINT)).number == 1
        after, commands = decide(run, Resumed(at=6.0))
        turns = turns_of(driving, claim)
        if offers(driving, Batching):
            await cast(Store, turns).save_observation("a", OBSERVATION)
        try:
            await turns.save_turn(after, Resumed(at=6.0), commands, claim=claim, known=0)
        except MessageWaiting:
            assert (await store.load("a"))[0] == run
        else:
            raise AssertionError("the turn was written")
        (message,) = await driving.messages("a", 0)
        run, commands = decide(run, message.event)
        await turns_of(driving, claim).save_turn(run, message.event, commands, claim=claim, message=message.number)
        after, commands = decide(run, Resumed(at=6.0))
        await turns.save_turn(after, Resumed(at=6.0), commands, claim=claim, known=1)
        assert [row.event.kind for row in await store.journal("a")] == ["started", "guided", "resumed"]
        assert bool(await store.observation("a", OBSERVATION.id)) == offers(driving, Batching)
        assert (await driving.claim_run("a")).decided == 1

    @with_store
    async def test_rest_is_refused_while_a_message_is_unread(self, store: Store) -> None:
        driving, claim = await claimed(store)
        run = await started(driving, claim)
        assert not (await driving.post("a", HINT)).resting
        assert not await driving.rest(claim, seq=run.seq, known=0)
        assert await driving.rest(claim, seq=run.seq, known=1)
        assert (await driving.post("a", CancelAsked(at=7.0))).resting

    @with_store
    async def test_a_claim_tells_whether_the_last_driver_rested(self, store: Store) -> None:
        driving, claim = await claimed(store)
        run = await started(driving, claim)
        await driving.rest(claim, seq=run.seq, known=0)
        assert (await driving.claim_run("a")).rested_at == run.seq
        assert (await driving.claim_run("a")).rested_at == -1

    @with_store
    async def test_a_message_is_checked_on_the_state_after_those_before_it(self, store: Store) -> None:
        driving, claim = await claimed(store)
        await started(driving, claim)
        assert not (await driving.post("a", CancelAsked(at=3.0))).refused
        assert (await driving.post("a", PauseAsked(at=4.0))).refused
        assert [message.event for message in await driving.messages("a", 0)] == [CancelAsked(at=3.0)]

    @with_store
    async def test_unknown_runs_are_neither_claimed_nor_told(self, store: Store) -> None:
        driving = cast(Driving, store)
        with refused(RunUnknown):
            await driving.claim_run("a")
        with refused(RunUnknown):
            await driving.post("a", HINT)


async def claimed(store: Store) -> tuple[Driving, Claim]:
    assert offers(store, Driving)
    await store.begin(new_run("a"), TASK)
    return store, await store.claim_run("a")


async def started(driving: Driving, claim: Claim) -> Run:
    run, commands = decide(new_run("a"), Started(at=1.0))
    await turns_of(driving, claim).save_turn(run, Started(at=1.0), commands, claim=claim, known=0)
    return run


def turns_of(driving: Driving, claim: Claim) -> Turns:
    return driving.records(claim) if offers(driving, Batching) else driving
