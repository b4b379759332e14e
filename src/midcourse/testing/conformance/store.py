"""The conformance suite for stores. In a test module:

    class TestMyStore(StoreConformance):
        def make_store(self, tmp_path):
            return MyStore(tmp_path / "runs.db")

        def reopen(self, store):
            store.close()
            return MyStore(store.path)

A store that does not outlive its process leaves `reopen` out. `driven_store` has the suites for one in which runs are driven,
one that a server lists, and one that is pruned.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from inspect import isawaitable
from pathlib import Path
from typing import Any, TypeVar

from midcourse.codec import decode_any
from midcourse.domain.events import (
    ApprovalDecided,
    CancelAsked,
    Event,
    Guided,
    Observed,
    PauseAsked,
    ResumeAsked,
    Started,
)
from midcourse.domain.outcome import Outcome
from midcourse.domain.records.answers import AnsweredConsequence, AskedConsequence
from midcourse.domain.records.audit import START
from midcourse.domain.run import FORMAT
from midcourse.errors import FormatUnknown, KeyTaken, MidcourseError, RunBusy, RunUnknown, TaskInvalid
from midcourse.policy.audit import verify_log
from midcourse.ports.store import Store
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


def make_asked(run: str, question: int, shape: str, consequence: str) -> AskedConsequence:
    return AskedConsequence(run=run, question=question, shape=shape, consequence=consequence)


async def keep_all(store: Store, run_id: str) -> None:
    for turn in turns(run_id):
        await store.save_turn(*turn)


@contextmanager
def refused(error: type[MidcourseError]) -> Generator[None]:
    """As `pytest.raises`, so that importing this module needs no pytest."""
    try:
        yield
    except error:
        return
    raise AssertionError(f"{error.__name__} was not raised")


def same(found: object, expected: object) -> bool:
    """Equality that tells True from 1 and 1 from 1.0: an approval binds what is sent, to the letter."""
    return found == expected and repr(found) == repr(expected)


class StoreSuite:
    """Creates and closes a store. Each test runs in one event loop."""

    def make_store(self, tmp_path: Path) -> Store:
        """An empty store, a new one for each test."""
        raise NotImplementedError

    def reopen(self, store: Store) -> Store | None:
        """The same store as another process would find it; None if it does not outlive its process."""
        return None

    async def close_store(self, store: Store) -> None:
        """Called at the end for every store that was made or reopened. Calls its `close`, if it has one."""
        close: Callable[[], Any] | None = getattr(store, "close", None)
        if close is not None:
            closing = close()
            if isawaitable(closing):
                await closing

    @asynccontextmanager
    async def opened(self, tmp_path: Path) -> AsyncGenerator[Store]:
        store = self.make_store(tmp_path)
        try:
            yield store
        finally:
            await self.close_store(store)


S = TypeVar("S", bound=StoreSuite)


def with_store(
    body: Callable[[S, Store], Awaitable[None]],
) -> Callable[[S, Path], None]:
    """A coroutine over an open store as a plain test. Not `functools.wraps`: pytest would ask for its parameters."""

    def test(self: S, tmp_path: Path) -> None:
        async def play() -> None:
            async with self.opened(tmp_path) as store:
                await body(self, store)

        asyncio.run(play())

    test.__name__, test.__qualname__, test.__doc__ = body.__name__, body.__qualname__, body.__doc__
    return test


class StoreConformance(StoreSuite):
    """What every store does. Subclass it as `Test…` and define `make_store`."""

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

    # --- plans and consequences

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

    # --- the ledger and the result

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

    # --- the audit log, questions and answers

    @with_store
    async def test_what_people_say_is_logged_once_and_in_order(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        words = (PauseAsked(at=1.0), Guided(text="“blue” \\ \n 🖊", at=2.0), ResumeAsked(at=3.0), CancelAsked(at=4.0))
        for seq, event in enumerate((*words, Observed(answers=1, at=5.0)), start=1):
            for _ in range(2):
                await store.save_turn(replace(new_run("a"), seq=seq), event, ())
        log = await store.audit()
        assert [(row.n, row.run, row.seq) for row in log.rows] == [(1, "a", 1), (2, "a", 2), (3, "a", 3), (4, "a", 4)]
        assert [decode_any(Event, row.body) for row in log.rows] == [*words]
        assert sorted((word.seq, word.body) for word in log.inputs) == [(row.seq, row.body) for row in log.rows]
        assert verify_log(log).problem == ""
        assert await store.audit_head() == verify_log(log).head

    @with_store
    async def test_log_is_one_chain_over_all_runs(self, store: Store) -> None:
        assert await store.audit_head() == START
        for run_id in ("a", "b"):
            await store.begin(new_run(run_id), TASK)
            await keep_all(store, run_id)
        log = await store.audit()
        assert [row.run for row in log.rows] == ["a", "b"]
        assert verify_log(log).problem == ""
        assert verify_log(replace(log, rows=log.rows[:1])).problem
        assert verify_log(replace(log, rows=log.rows[1:])).problem

    @with_store
    async def test_what_people_were_asked_about_comes_back_by_question(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        await store.begin(new_run("b"), TASK)
        later, first = make_asked("a", 12, "s1", "c1"), (make_asked("a", 3, "s2", "c9"), make_asked("a", 3, "s1", "c1"))
        await store.save_asked_consequences((later,))
        for _ in range(2):
            await store.save_asked_consequences(first)
        await store.save_asked_consequences((make_asked("b", 3, "s1", "c2"),))
        assert await store.asked_consequences("a") == (*first, later)
        assert await store.asked_consequences("c") == ()
        with refused(RunUnknown):
            await store.save_asked_consequences((make_asked("c", 1, "s1", "c1"),))

    @with_store
    async def test_answers_are_found_by_the_shape_of_what_they_are_about(self, store: Store) -> None:
        yes = ApprovalDecided(question=3, verdict="approved", by="Ada", shown=("c1", "c2"), at=1.0)
        no = ApprovalDecided(question=3, verdict="rejected", by="Grace", at=2.0)
        for run_id, decision in (("a", yes), ("b", no)):
            await store.begin(new_run(run_id), TASK)
            await store.save_asked_consequences((make_asked(run_id, 3, "s1", "c1"), make_asked(run_id, 3, "s2", "c2")))
            assert await store.answered_consequences("s1", 9) == (
                () if run_id == "a" else (AnsweredConsequence(asked=make_asked("a", 3, "s1", "c1"), decision=yes),)
            )
            await store.save_turn(replace(new_run(run_id), seq=1), Guided(text="3", at=0.5), ())
            await store.save_turn(replace(new_run(run_id), seq=2), replace(decision, question=7), ())
            await store.save_turn(replace(new_run(run_id), seq=3), decision, ())
        latest = AnsweredConsequence(asked=make_asked("b", 3, "s1", "c1"), decision=no)
        assert await store.answered_consequences("s1", 9) == (
            latest,
            AnsweredConsequence(asked=make_asked("a", 3, "s1", "c1"), decision=yes),
        )
        assert await store.answered_consequences("s1", 1) == (latest,)
        assert await store.answered_consequences("s3", 9) == ()

    @with_store
    async def test_results_anchor_the_log(self, store: Store) -> None:
        await store.begin(new_run("a"), TASK)
        await store.save_result(result("a"))
        assert (await store.audit()).anchors == ()
        await keep_all(store, "a")
        await store.save_result(replace(result("a"), audit=await store.audit_head()))
        log = await store.audit()
        assert log.anchors == (await store.audit_head(),)
        assert verify_log(replace(log, rows=(), inputs=())).problem == "row 1 is missing: there were 1"

    # --- everything together

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
