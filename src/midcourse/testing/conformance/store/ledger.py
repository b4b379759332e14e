"""The ledger and the result of a run in a store."""

from dataclasses import replace

from midcourse.domain.outcome import Outcome
from midcourse.ports.store import Store
from midcourse.testing.conformance.store.base import StoreSuite, same, with_store
from midcourse.testing.conformance.store_samples import (
    ENTRY,
    TASK,
    new_run,
    result,
)


class LedgerConformance(StoreSuite):
    @with_store
    async def test_ledger_entry_is_inserted_then_replaced(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        assert await store.ledger_entry("a", 3) is None
        await store.write_ledger("a", ENTRY)
        assert same(await store.ledger_entry("a", 3), ENTRY)
        outcome = Outcome(status="unknown", reason="timeout", detail="504", data=(("n", 1),), evidence="probe")
        settled = replace(ENTRY, barred_at=13.5, outcome=outcome)
        await store.write_ledger("a", settled)
        assert same(await store.ledger_entry("a", 3), settled)
        assert await store.ledger("a") == (settled,)

    @with_store
    async def test_ledger_is_in_order_of_commands_beyond_nine(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        assert await store.ledger("a") == ()
        for command in (10, 3, 9, 3):
            await store.write_ledger("a", replace(ENTRY, command=command))
        assert [entry.command for entry in await store.ledger("a")] == [3, 9, 10]

    @with_store
    async def test_ledger_is_read_from_a_command_on(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        assert await store.ledger("a", 1) == ()
        for command in (3, 9, 10):
            await store.write_ledger("a", replace(ENTRY, command=command))
        assert [entry.command for entry in await store.ledger("a", 4)] == [9, 10]
        assert [entry.command for entry in await store.ledger("a", 10)] == [10]
        assert await store.ledger("a", 11) == ()
        await store.write_ledger("a", replace(ENTRY, command=10, barred_at=13.5))
        assert [entry.barred_at for entry in await store.ledger("a", 10)] == [13.5]

    @with_store
    async def test_result_is_none_until_saved_and_then_the_last_one(self, store: Store) -> None:
        assert await store.result("a") is None
        await store.begin(new_run("a"), TASK)
        assert await store.result("a") is None
        await store.save_result(result("a"))
        assert same(await store.result("a"), result("a"))
        await store.save_result(replace(result("a"), final_detail="written again after a crash"))
        assert await store.result("a") == replace(result("a"), final_detail="written again after a crash")
