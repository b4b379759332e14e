"""Deleting the records of ended runs."""

from dataclasses import replace
from typing import cast

from midcourse.domain.commands import Command
from midcourse.domain.events import Event
from midcourse.domain.run import Run
from midcourse.errors import KeyTaken, RunPruned, RunUnknown
from midcourse.policy.audit import verify_log
from midcourse.ports.store import Listing, Prunable, RunQuery, Store
from midcourse.testing.conformance.store.base import StoreSuite, refused, same, with_store
from midcourse.testing.conformance.store_samples import (
    CONSEQUENCE,
    ENTRY,
    LONG_PAGES,
    PLAN,
    TASK,
    new_run,
    result,
    turns,
)

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
