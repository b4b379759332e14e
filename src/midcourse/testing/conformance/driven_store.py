"""Conformance suites for stores that do more: runs are driven in them, a server lists them, ended runs are pruned."""

from dataclasses import replace
from typing import cast

from midcourse.director.decide import decide
from midcourse.domain.approval import Question
from midcourse.domain.commands import Command
from midcourse.domain.events import CancelAsked, Event, Guided, PauseAsked, Resumed, Started
from midcourse.domain.phases import Ended
from midcourse.domain.run import Run
from midcourse.errors import KeyTaken, RunBusy, RunPruned, RunUnknown
from midcourse.policy.audit import verify_log
from midcourse.ports.abilities import offers
from midcourse.ports.controls import Questions
from midcourse.ports.driving import Batching, Claim, Driving, MessageWaiting, Turns
from midcourse.ports.store import Listing, Prunable, RunQuery, Store
from midcourse.testing.conformance.store import StoreSuite, keep_all, refused, same, with_store
from midcourse.testing.conformance.store_samples import (
    CONSEQUENCE,
    ENTRY,
    LONG_PAGES,
    OBSERVATION,
    PLAN,
    TASK,
    new_run,
    result,
    turns,
)

HINT = Guided(text="no hurry", at=5.0)


class DrivingConformance(StoreSuite):
    @with_store
    async def test_a_claimed_run_is_written_and_loaded_with_its_commands(self, store: Store) -> None:
        driving, claim = await claimed(store)
        run, commands = decide(new_run("a"), Started(at=1.0))
        await open_turns(driving, claim).save_turn(run, Started(at=1.0), commands, claim=claim, known=0)
        assert (await store.load("a"))[0] == run
        assert [row.commands for row in await store.journal("a")] == [commands]

    @with_store
    async def test_an_earlier_claim_writes_nothing(self, store: Store) -> None:
        driving, first = await claimed(store)
        run = await start(driving, first)
        second = await driving.claim_run("a")
        assert second.epoch > first.epoch
        late = open_turns(driving, first)
        if offers(driving, Batching):
            await cast(Store, late).save_observation("a", OBSERVATION)
        after, commands = decide(run, Resumed(at=2.0))
        with refused(RunBusy):
            await late.save_turn(after, Resumed(at=2.0), commands, claim=first, known=0)
        with refused(RunBusy):
            await driving.rest(first, seq=run.seq, known=0)
        assert (await store.load("a"))[0] == run
        assert await store.observation("a", OBSERVATION.id) is None
        await open_turns(driving, second).save_turn(after, Resumed(at=2.0), commands, claim=second, known=0)

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
        turns = open_turns(driving, claim)
        await turns.save_turn(run, Started(at=1.0), commands, claim=claim, known=0)
        await driving.post("a", HINT)
        await turns.save_turn(run, Started(at=1.0), commands, claim=claim, known=0)
        assert len(await store.journal("a")) == 1

    @with_store
    async def test_a_message_precedes_a_turn_that_does_not_know_it(self, store: Store) -> None:
        driving, claim = await claimed(store)
        run = await start(driving, claim)
        assert (await driving.post("a", HINT)).number == 1
        after, commands = decide(run, Resumed(at=6.0))
        turns = open_turns(driving, claim)
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
        await open_turns(driving, claim).save_turn(run, message.event, commands, claim=claim, message=message.number)
        after, commands = decide(run, Resumed(at=6.0))
        await turns.save_turn(after, Resumed(at=6.0), commands, claim=claim, known=1)
        assert [row.event.kind for row in await store.journal("a")] == ["started", "guided", "resumed"]
        assert bool(await store.observation("a", OBSERVATION.id)) == offers(driving, Batching)
        assert (await driving.claim_run("a")).decided == 1

    @with_store
    async def test_rest_is_refused_while_a_message_is_unread(self, store: Store) -> None:
        driving, claim = await claimed(store)
        run = await start(driving, claim)
        assert not (await driving.post("a", HINT)).resting
        assert not await driving.rest(claim, seq=run.seq, known=0)
        assert await driving.rest(claim, seq=run.seq, known=1)
        assert (await driving.post("a", CancelAsked(at=7.0))).resting

    @with_store
    async def test_a_claim_tells_whether_the_last_driver_rested(self, store: Store) -> None:
        driving, claim = await claimed(store)
        run = await start(driving, claim)
        await driving.rest(claim, seq=run.seq, known=0)
        assert (await driving.claim_run("a")).rested_at == run.seq
        assert (await driving.claim_run("a")).rested_at == -1

    @with_store
    async def test_a_message_is_checked_on_the_state_after_those_before_it(self, store: Store) -> None:
        driving, claim = await claimed(store)
        await start(driving, claim)
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


async def start(driving: Driving, claim: Claim) -> Run:
    run, commands = decide(new_run("a"), Started(at=1.0))
    await open_turns(driving, claim).save_turn(run, Started(at=1.0), commands, claim=claim, known=0)
    return run


def open_turns(driving: Driving, claim: Claim) -> Turns:
    return driving.records(claim) if offers(driving, Batching) else driving


class ListingConformance(StoreSuite):
    @with_store
    async def test_pages_of_runs_are_newest_first_and_have_no_gap(self, store: Store) -> None:
        assert offers(store, Listing)
        ids = [f"run-{number}" for number in range(5)]
        for run_id in ids:
            await store.begin(new_run(run_id), TASK)
        found: list[str] = []
        before = None
        while page := await store.find_runs(RunQuery(limit=2, before=before)):
            found += [run.id for run in page]
            before = page[-1].place
            if len(found) == 2:
                await store.begin(new_run("newer"), TASK)  # a run that begins meanwhile moves nothing
        assert found == ids[::-1]

    @with_store
    async def test_runs_are_found_by_status_world_and_text(self, store: Store) -> None:
        assert offers(store, Listing)
        await store.begin(new_run("new"), replace(TASK, world="shop"))
        await store.begin(new_run("failed"), replace(TASK, world="erp", key="PO-17"))
        await keep_all(store, "failed")
        await store.begin(new_run("done"), replace(TASK, goal="Book an invoice"))
        for run, event, commands in turns("done"):
            good = replace(run, phase=Ended(reason="goal_reached", detail="")) if run.seq == 4 else run
            await store.save_turn(good, event, commands)
        await store.begin(new_run("asking"), TASK)
        for turn in turns("asking")[:3]:
            await store.save_turn(*turn)
        find_runs = store.find_runs

        async def ids(query: RunQuery) -> list[str]:
            return [run.id for run in await find_runs(query)]

        assert await ids(RunQuery()) == ["asking", "done", "failed", "new"]
        assert await ids(RunQuery(status=("running",))) == ["new"]
        assert await ids(RunQuery(status=("failed", "asking"))) == ["asking", "failed"]
        assert await ids(RunQuery(status=("done",))) == ["done"]
        assert await ids(RunQuery(world="erp")) == ["failed"]
        assert await ids(RunQuery(text="po-17")) == ["failed"]
        assert await ids(RunQuery(text="INVOICE")) == ["done"]
        assert await ids(RunQuery(text="100%")) == []
        assert await ids(RunQuery(text="O", status=("done",), limit=1)) == ["done"]
        counted = await store.count_runs()
        assert {status: number for status, number in counted.items() if number} == {
            "running": 1,
            "asking": 1,
            "done": 1,
            "failed": 1,
        }

    @with_store
    async def test_a_row_says_what_the_run_came_to(self, store: Store) -> None:
        assert offers(store, Listing)
        await store.begin(new_run("a"), replace(TASK, world="shop", key="k"))
        (new,) = await store.find_runs(RunQuery())
        assert (new.key, new.world, new.goal, new.verified, new.waiting_since) == ("k", "shop", TASK.goal, None, None)
        await keep_all(store, "a")
        await store.save_result(result("a"))
        (ended,) = await store.find_runs(RunQuery())
        assert (ended.began_at, ended.updated_at, ended.verified) == (10.0, 13.0, False)
        assert ended.calls is not None
        assert ended.cost_usd is not None

    @with_store
    async def test_a_row_says_since_when_a_question_is_open(self, store: Store) -> None:
        assert offers(store, Listing)
        if not offers(store, Questions):
            return
        await store.begin(new_run("a"), TASK)
        for turn in turns("a")[:3]:
            await store.save_turn(*turn)
        seconds = new_run("a").limits.approval_seconds
        asked = Question(
            run="a",
            id=3,
            about="approve",
            goal=TASK.goal,
            consequences=(CONSEQUENCE,),
            says=("Pay",),
            expires_at=12.0 + seconds,
        )
        await store.save_question(asked)
        (asking,) = await store.find_runs(RunQuery())
        assert asking.waiting_since == 12.0
        await keep_all(store, "a")
        (ended,) = await store.find_runs(RunQuery())
        assert ended.waiting_since is None


ENDED_AT = 13.0
"""The time of the last turn of the samples."""


class RetentionConformance(StoreSuite):
    """For a store whose runs can be pruned."""

    async def prune(self, store: Store, run_id: str, at: float) -> int:
        """Prune a run. A store whose role may not delete records overrides it, with one that may."""
        return await cast(Prunable, store).prune((run_id,), at)

    @with_store
    async def test_only_runs_that_ended_before_are_prunable(self, store: Store) -> None:
        pruning = cast(Prunable, store)
        for run_id in ("ended", "later", "asking"):
            await store.begin(new_run(run_id), TASK)
        await _end(store, "ended", after=0.0)
        await _end(store, "later", after=100.0)
        for turn in turns("asking")[:-1]:
            await store.save_turn(*turn)
        assert await pruning.find_prunable(ENDED_AT, 9) == ()
        assert await pruning.find_prunable(ENDED_AT + 1, 9) == ("ended",)
        assert await pruning.find_prunable(1e9, 9) == ("ended", "later")
        assert await pruning.find_prunable(1e9, 1) == ("ended",)
        assert await self.prune(store, "asking", at=50.0) == 0
        assert len(await store.journal("asking")) == 3

    @with_store
    async def test_pruned_run_keeps_result_key_and_irreversible_acts(self, store: Store) -> None:
        pruning = cast(Prunable, store)
        task = replace(TASK, key="order 1")
        await store.begin(new_run("a"), task)
        await store.begin(new_run("b"), TASK)
        for run_id in ("a", "b"):
            await _end(store, run_id, after=0.0)
        reversible = replace(ENTRY, command=2, identity="", dispatched_at=None)
        await store.write_ledger("a", reversible)
        state = await store.load("a")
        assert await self.prune(store, "a", at=50.0) == 1
        assert await self.prune(store, "a", at=60.0) == 0
        assert (await pruning.pruned_at("a"), await pruning.pruned_at("b")) == (50.0, None)
        assert same(await store.load("a"), state)
        assert same(await store.result("a"), result("a"))
        assert same(await store.ledger("a"), (ENTRY,))
        assert await store.run_with_key("order 1") == "a"
        with refused(KeyTaken):
            await store.begin(new_run("c"), task)
        assert await pruning.find_prunable(1e9, 9) == ("b",)
        with refused(RunUnknown):
            await pruning.pruned_at("c")

    @with_store
    async def test_pruned_run_has_no_other_records(self, store: Store) -> None:
        for run_id in ("a", "b"):
            await store.begin(new_run(run_id), TASK)
            await _end(store, run_id, after=0.0)
        await self.prune(store, "a", at=50.0)
        for read in (store.initial_state, store.journal):
            with refused(RunPruned):
                await read("a")
        assert await store.events("a", 0) == ()
        assert (await store.plans("a"), await store.plans("b")) == ((), (PLAN,))
        assert await store.consequence("a", "c1") is None
        assert await store.session("a") == ""
        for page in LONG_PAGES:
            assert await store.observation("a", page.id) is None
            assert same(await store.observation("b", page.id), page)
        assert len(await store.journal("b")) == len(turns("b"))
        listed = await cast(Listing, store).find_runs(RunQuery())
        assert [(run.id, run.updated_at) for run in listed] == [("b", ENDED_AT), ("a", ENDED_AT)]

    @with_store
    async def test_audit_log_holds_without_the_journals_of_pruned_runs(self, store: Store) -> None:
        for run_id in ("a", "b"):
            await store.begin(new_run(run_id), TASK)
            await _end(store, run_id, after=0.0)
        before = await store.audit()
        await self.prune(store, "a", at=50.0)
        log = await store.audit()
        assert log.rows == before.rows
        assert [event.run for event in log.inputs] == ["b"]
        assert verify_log(log).problem == ""
        assert verify_log(replace(log, rows=log.rows[1:])).problem
        if log.backed:
            assert verify_log(replace(log, inputs=())).problem


async def _end(store: Store, run_id: str, *, after: float) -> None:
    """A run with something of every kind that ended so many seconds later than the samples."""
    for run, event, commands in turns(run_id):
        await store.save_turn(*_later(run, event, commands, after))
    await store.save_session(run_id, "handle")
    for page in LONG_PAGES:
        await store.save_observation(run_id, page)
    await store.save_plan(run_id, PLAN)
    await store.save_consequence(run_id, "c1", CONSEQUENCE)
    await store.write_ledger(run_id, ENTRY)
    await store.save_result(result(run_id))


def _later(
    run: Run, event: Event, commands: tuple[Command, ...], after: float
) -> tuple[Run, Event, tuple[Command, ...]]:
    return replace(run, now=run.now + after), replace(event, at=event.at + after), commands
