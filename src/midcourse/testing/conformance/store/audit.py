"""The audit log, questions and answers in a store."""

from dataclasses import replace

from midcourse.codec import decode_any
from midcourse.domain.events import (
    ApprovalDecided,
    CancelAsked,
    Event,
    Guided,
    Observed,
    PauseAsked,
    ResumeAsked,
)
from midcourse.domain.records.answers import AnsweredConsequence
from midcourse.domain.records.audit import START
from midcourse.errors import RunUnknown
from midcourse.policy.audit import verify_log
from midcourse.ports.store import Store
from midcourse.testing.conformance.store.base import StoreSuite, asked, keep_all, refused, with_store
from midcourse.testing.conformance.store_samples import (
    TASK,
    new_run,
    result,
)


class AuditConformance(StoreSuite):
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
        later, first = asked("a", 12, "s1", "c1"), (asked("a", 3, "s2", "c9"), asked("a", 3, "s1", "c1"))
        await store.save_asked_consequences((later,))
        for _ in range(2):
            await store.save_asked_consequences(first)
        await store.save_asked_consequences((asked("b", 3, "s1", "c2"),))
        assert await store.asked_consequences("a") == (*first, later)
        assert await store.asked_consequences("c") == ()
        with refused(RunUnknown):
            await store.save_asked_consequences((asked("c", 1, "s1", "c1"),))

    @with_store
    async def test_answers_are_found_by_the_shape_of_what_they_are_about(self, store: Store) -> None:
        yes = ApprovalDecided(question=3, verdict="approved", by="Ada", shown=("c1", "c2"), at=1.0)
        no = ApprovalDecided(question=3, verdict="rejected", by="Grace", at=2.0)
        for run_id, decision in (("a", yes), ("b", no)):
            await store.begin(new_run(run_id), TASK)
            await store.save_asked_consequences((asked(run_id, 3, "s1", "c1"), asked(run_id, 3, "s2", "c2")))
            assert await store.answered_consequences("s1", 9) == (
                () if run_id == "a" else (AnsweredConsequence(asked=asked("a", 3, "s1", "c1"), decision=yes),)
            )
            await store.save_turn(replace(new_run(run_id), seq=1), Guided(text="3", at=0.5), ())
            await store.save_turn(replace(new_run(run_id), seq=2), replace(decision, question=7), ())
            await store.save_turn(replace(new_run(run_id), seq=3), decision, ())
        latest = AnsweredConsequence(asked=asked("b", 3, "s1", "c1"), decision=no)
        assert await store.answered_consequences("s1", 9) == (
            latest,
            AnsweredConsequence(asked=asked("a", 3, "s1", "c1"), decision=yes),
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
