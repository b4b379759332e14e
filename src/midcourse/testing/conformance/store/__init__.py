"""The conformance suite for stores. In a test module:

    class TestMyStore(StoreConformance):
        def make_store(self, tmp_path):
            return MyStore(tmp_path / "runs.db")

        def reopen(self, store):
            store.close()
            return MyStore(store.path)

A store that does not outlive its process leaves `reopen` out. One in which runs are driven also passes
`DrivingConformance`, one that a server lists `ListingConformance`, and one that is pruned `RetentionConformance`.
"""

from dataclasses import replace

from midcourse.ports.store import Store
from midcourse.testing.conformance.store.audit import AuditConformance
from midcourse.testing.conformance.store.base import keep_all, same, with_store
from midcourse.testing.conformance.store.driving import DrivingConformance
from midcourse.testing.conformance.store.ledger import LedgerConformance
from midcourse.testing.conformance.store.listing import ListingConformance
from midcourse.testing.conformance.store.plans import PlansConformance
from midcourse.testing.conformance.store.retention import RetentionConformance
from midcourse.testing.conformance.store.runs import RunsConformance
from midcourse.testing.conformance.store_samples import (
    CONSEQUENCE,
    ENTRY,
    LONG_PAGES,
    OBSERVATION,
    PLAN,
    TASK,
    new_run,
    result,
    rows,
    turns,
)

__all__ = ["DrivingConformance", "ListingConformance", "RetentionConformance", "StoreConformance", "same"]


class StoreConformance(RunsConformance, PlansConformance, LedgerConformance, AuditConformance):
    """All suites, and tests across them. Subclass it as `Test…` and define `make_store`."""

    @with_store
    async def test_runs_do_not_see_each_other(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        await store.begin(new_run("b"), replace(TASK, goal="Another"))
        await _fill(store, "a")
        assert await store.load("b") == (new_run("b"), replace(TASK, goal="Another"))
        assert await store.journal("b") == ()
        assert await store.session("b") == ""
        assert await store.observation("b", "o1") is None
        assert await store.plan("b", 1) is None
        assert await store.plans("b") == ()
        assert await store.consequence("b", "c1") is None
        assert await store.ledger_entry("b", 3) is None
        assert await store.ledger("b") == ()
        assert await store.result("b") is None

    @with_store
    async def test_reopened_store_has_everything(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        await store.begin(new_run("b"), replace(TASK, key="order 1"))
        await _fill(store, "a")
        listed, audited = await store.runs(), await store.audit()
        again = self.reopen(store)
        if again is None:
            return
        try:
            assert await again.runs() == listed
            assert await again.run_with_key("order 1") == "b"
            assert same(await again.load("a"), (turns("a")[-1][0], TASK))
            assert same(await again.initial_state("a"), new_run("a"))
            assert same(await again.journal("a"), rows("a"))
            assert await again.session("a") == "handle"
            for observation in (OBSERVATION, *LONG_PAGES):
                assert same(await again.observation("a", observation.id), observation)
            assert same(await again.plans("a"), (PLAN,))
            assert same(await again.consequence("a", "c1"), CONSEQUENCE)
            assert same(await again.ledger("a"), (ENTRY,))
            assert same(await again.result("a"), result("a"))
            assert same(await again.audit(), audited)
            await again.save_turn(*turns("b")[0])
            assert await again.journal("b") == rows("b")[:1]
        finally:
            await self.close_store(again)


async def _fill(store: Store, run_id: str) -> None:
    """Write something of every kind."""
    await keep_all(store, run_id)
    await store.save_session(run_id, "handle")
    for observation in (OBSERVATION, *LONG_PAGES):
        await store.save_observation(run_id, observation)
    await store.save_plan(run_id, PLAN)
    await store.save_consequence(run_id, "c1", CONSEQUENCE)
    await store.write_ledger(run_id, ENTRY)
    await store.save_result(result(run_id))
