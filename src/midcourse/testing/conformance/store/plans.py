"""Plans and consequences in a store."""

from dataclasses import replace

from midcourse.ports.store import Store
from midcourse.testing.conformance.store.base import StoreSuite, same, with_store
from midcourse.testing.conformance.store_samples import (
    CONSEQUENCE,
    PLAN,
    TASK,
    new_run,
)


class PlansConformance(StoreSuite):
    @with_store
    async def test_plan_comes_back_as_it_was(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        assert await store.plan("a", 1) is None
        await store.save_plan("a", PLAN)
        assert same(await store.plan("a", 1), PLAN)
        assert await store.plan("a", 2) is None

    @with_store
    async def test_plan_version_saved_again_is_replaced(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        second = replace(PLAN, version=2, parent=1, cause="error", why="refused")
        await store.save_plan("a", second)
        await store.save_plan("a", PLAN)
        await store.save_plan("a", replace(second, why="admitted", steps=()))
        assert await store.plan("a", 2) == replace(second, why="admitted", steps=())
        assert await store.plans("a") == (PLAN, replace(second, why="admitted", steps=()))

    @with_store
    async def test_plan_that_an_earlier_command_made_comes_too_late(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        adopted = replace(PLAN, made_by=7)
        await store.save_plan("a", adopted)
        await store.save_plan("a", replace(PLAN, made_by=5, why="somebody was held up"))
        assert await store.plan("a", 1) == adopted
        assert await store.plan("a", 1, 7) == adopted
        assert await store.plan("a", 1, 5) is None

    @with_store
    async def test_plans_are_in_order_of_version_beyond_nine(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        assert await store.plans("a") == ()
        for version in (11, 2, 10, 1):
            await store.save_plan("a", replace(PLAN, version=version))
        assert [plan.version for plan in await store.plans("a")] == [1, 2, 10, 11]

    @with_store
    async def test_plans_are_read_from_a_version_on(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        assert await store.plans("a", 1) == ()
        for version in (1, 2, 10, 11):
            await store.save_plan("a", replace(PLAN, version=version))
        assert [plan.version for plan in await store.plans("a", 2)] == [2, 10, 11]
        assert [plan.version for plan in await store.plans("a", 11)] == [11]
        assert await store.plans("a", 12) == ()
        await store.save_plan("a", replace(PLAN, version=11, why="drafted again"))
        assert [plan.why for plan in await store.plans("a", 11)] == ["drafted again"]

    @with_store
    async def test_consequence_comes_back_as_it_was(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        assert await store.consequence("a", "c1") is None
        await store.save_consequence("a", "c1", CONSEQUENCE)
        await store.save_consequence("a", "c1", CONSEQUENCE)
        assert same(await store.consequence("a", "c1"), CONSEQUENCE)
        assert await store.consequence("a", "c2") is None
