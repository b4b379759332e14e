"""Pages of runs in a store: order, filters and what each row says."""

from dataclasses import replace

from midcourse.domain.approval import Question
from midcourse.domain.phases import Ended
from midcourse.ports.abilities import offers
from midcourse.ports.inbox import Questions
from midcourse.ports.store import Listing, RunQuery, Store
from midcourse.testing.conformance.store.base import StoreSuite, keep_all, with_store
from midcourse.testing.conformance.store_samples import CONSEQUENCE, TASK, new_run, result, turns


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
