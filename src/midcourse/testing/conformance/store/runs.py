"""Runs, turns, sessions and observations in a store."""

import asyncio
from dataclasses import replace

from midcourse.domain.events import (
    Observed,
    Started,
)
from midcourse.domain.run import FORMAT
from midcourse.errors import FormatUnknown, KeyTaken, RunBusy, RunUnknown, TaskInvalid
from midcourse.ports.store import Store
from midcourse.testing.conformance.store.base import StoreSuite, keep_all, refused, same, with_store
from midcourse.testing.conformance.store_samples import (
    CONSEQUENCE,
    ENTRY,
    OBSERVATION,
    PLAN,
    TASK,
    new_run,
    result,
    rows,
    turns,
)


class RunsConformance(StoreSuite):
    # --- begin and load

    @with_store
    async def test_begun_run_is_loaded_with_its_task(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        run, task = await store.load("a")
        assert same(run, new_run("a"))
        assert same(task, TASK)
        assert await store.journal("a") == ()

    @with_store
    async def test_second_begin_is_refused_and_changes_nothing(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        await keep_all(store, "a")
        with refused(TaskInvalid):
            await store.begin(new_run("a"), replace(TASK, goal="Something else"))
        assert await store.load("a") == (turns("a")[-1][0], TASK)
        assert await store.journal("a") == rows("a")
        assert await store.journal("a", 1) == rows("a")[1:]

    @with_store
    async def test_unknown_run_is_refused_on_reading_it(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        with refused(RunUnknown):
            await store.load("b")
        with refused(RunUnknown):
            await store.initial_state("b")
        with refused(RunUnknown):
            await store.journal("b")

    @with_store
    async def test_unknown_run_is_refused_on_writing_to_it(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        with refused(RunUnknown):
            await store.save_turn(*turns("b")[0])
        with refused(RunUnknown):
            await store.save_session("b", "handle")
        with refused(RunUnknown):
            await store.save_observation("b", OBSERVATION)
        with refused(RunUnknown):
            await store.save_plan("b", PLAN)
        with refused(RunUnknown):
            await store.save_consequence("b", "c1", CONSEQUENCE)
        with refused(RunUnknown):
            await store.write_ledger("b", ENTRY)
        with refused(RunUnknown):
            await store.save_result(result("b"))
        assert [summary.id for summary in await store.runs()] == ["a"]

    @with_store
    async def test_state_of_another_format_is_listed_but_not_read(self, store: Store) -> None:
        await store.begin(replace(new_run("a"), format=FORMAT + 1), TASK)
        with refused(FormatUnknown):
            await store.load("a")
        with refused(FormatUnknown):
            await store.initial_state("a")
        with refused(FormatUnknown):
            await store.journal("a")
        assert [summary.id for summary in await store.runs()] == ["a"]

    # --- business keys

    @with_store
    async def test_without_a_key_there_is_nothing_to_find(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        await store.begin(new_run("b"), TASK)
        assert await store.run_with_key("") is None
        assert await store.run_with_key("order 1") is None

    @with_store
    async def test_key_leads_to_its_run(self, store: Store) -> None:
        await store.begin(new_run("a"), replace(TASK, key="order 1"))
        await store.begin(new_run("b"), replace(TASK, key="order 2"))
        assert [await store.run_with_key(key) for key in ("order 1", "order 2", "ORDER 1")] == ["a", "b", None]
        assert (await store.load("a"))[1].key == "order 1"

    @with_store
    async def test_second_run_under_a_key_is_refused_and_leaves_no_trace(self, store: Store) -> None:
        await store.begin(new_run("a"), replace(TASK, key="order 1"))
        with refused(KeyTaken):
            await store.begin(new_run("b"), replace(TASK, key="order 1"))
        assert [summary.id for summary in await store.runs()] == ["a"]
        await store.begin(new_run("b"), TASK)

    @with_store
    async def test_run_that_comes_after_the_latest_has_the_key_from_then_on(self, store: Store) -> None:
        task = replace(TASK, key="order 1")
        await store.begin(new_run("a"), task)
        await store.begin(new_run("b"), task, after="a")
        assert await store.run_with_key("order 1") == "b"
        with refused(KeyTaken):
            await store.begin(new_run("c"), task, after="a")
        assert await store.run_with_key("order 1") == "b"

    @with_store
    async def test_refused_id_does_not_take_the_key(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        with refused(TaskInvalid):
            await store.begin(new_run("a"), replace(TASK, key="order 1"))
        assert await store.run_with_key("order 1") is None

    # --- keep

    @with_store
    async def test_each_turn_is_in_state_and_journal_at_once(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        for count, turn in enumerate(turns("a"), start=1):
            await store.save_turn(*turn)
            run, task = await store.load("a")
            assert same(run, turn[0])
            assert same(task, TASK)
            assert same(await store.journal("a"), rows("a")[:count])

    @with_store
    async def test_journal_is_in_order_of_turns_beyond_nine(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        for seq in range(1, 13):
            await store.save_turn(replace(new_run("a"), seq=seq), Started(at=float(seq)), ())
        assert [row.seq for row in await store.journal("a")] == list(range(1, 13))

    @with_store
    async def test_events_above_a_number_are_read_without_those_before(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        assert await store.events("a", 0) == ()
        await keep_all(store, "a")
        everything = await store.events("a", 0)
        assert same(
            tuple((stored.seq, stored.event) for stored in everything), tuple((row.seq, row.event) for row in rows("a"))
        )
        assert await store.events("a", 1) == everything[1:]
        assert await store.events("a", everything[-1].seq) == ()

    @with_store
    async def test_opening_stays_what_the_run_began_with(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        await keep_all(store, "a")
        assert same(await store.initial_state("a"), new_run("a"))

    @with_store
    async def test_same_turn_again_changes_nothing(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        await keep_all(store, "a")
        for turn in turns("a"):
            await store.save_turn(*turn)
        assert await store.load("a") == (turns("a")[-1][0], TASK)
        assert await store.journal("a") == rows("a")

    @with_store
    async def test_another_turn_in_its_place_is_refused_and_leaves_no_trace(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        first, second, *_ = turns("a")
        await store.save_turn(*first)
        await store.save_turn(*second)
        run, event, commands = second
        with refused(RunBusy):
            await store.save_turn(replace(run, now=50.0), Observed(answers=1, at=50.0), commands)
        with refused(RunBusy):
            await store.save_turn(replace(run, now=50.0), event, ())
        assert await store.load("a") == (run, TASK)
        assert await store.journal("a") == rows("a")[:2]

    @with_store
    async def test_turn_older_than_the_state_is_refused(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        _, second, *_ = turns("a")
        await store.save_turn(*second)
        with refused(RunBusy):
            await store.save_turn(*turns("a")[0])
        assert (await store.load("a"))[0] == second[0]

    @with_store
    async def test_runs_kept_at_the_same_time_do_not_mix(self, store: Store) -> None:
        ids = tuple(f"run-{number}" for number in range(8))
        for run_id in ids:
            await store.begin(new_run(run_id), TASK)
        await asyncio.gather(*(keep_all(store, run_id) for run_id in ids))
        for run_id in ids:
            assert await store.load(run_id) == (turns(run_id)[-1][0], TASK)
            assert await store.journal(run_id) == rows(run_id)

    # --- the list of runs

    @with_store
    async def test_no_runs_at_first(self, store: Store) -> None:
        assert await store.runs() == ()

    @with_store
    async def test_runs_are_listed_newest_first(self, store: Store) -> None:
        for run_id in ("b", "c", "a"):
            await store.begin(new_run(run_id), TASK)
        await keep_all(store, "b")
        assert [summary.id for summary in await store.runs()] == ["a", "c", "b"]

    @with_store
    async def test_summary_follows_the_run(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        (new,) = await store.runs()
        assert (new.goal, new.phase, new.final_reason, new.began_at) == (TASK.goal, "new", "", 0.0)
        await store.save_turn(*turns("a")[0])
        (looking,) = await store.runs()
        assert looking.phase in ("looking", "running"), "lists only tell apart what waits and what has ended"
        assert (looking.final_reason, looking.began_at) == ("", 10.0)
        await keep_all(store, "a")
        (ended,) = await store.runs()
        assert (ended.phase, ended.final_reason, ended.began_at) == ("ended", "rejected", 10.0)

    # --- what a run refers to

    @with_store
    async def test_session_is_nothing_until_saved_and_then_the_last_one(self, store: Store) -> None:
        assert await store.session("a") == ""
        await store.begin(new_run("a"), TASK)
        assert await store.session("a") == ""
        await store.save_session("a", "first")
        await store.save_session("a", "second")
        assert await store.session("a") == "second"
        await keep_all(store, "a")
        assert await store.session("a") == "second"

    @with_store
    async def test_observation_comes_back_as_it_was(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        assert await store.observation("a", "o1") is None
        await store.save_observation("a", OBSERVATION)
        assert same(await store.observation("a", "o1"), OBSERVATION)
        assert await store.observation("a", "o2") is None

    @with_store
    async def test_observation_saved_again_is_replaced(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        await store.save_observation("a", OBSERVATION)
        await store.save_observation("a", replace(OBSERVATION, stale=True))
        assert await store.observation("a", "o1") == replace(OBSERVATION, stale=True)
