"""The history that a driver keeps and extends equals the one that a full read gives, whatever was written meanwhile."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcourse.domain.approval import OutcomeAnswer
from midcourse.domain.argument import Arguments, Pairs, Reference, Scalar
from midcourse.domain.failure import FailedStep
from midcourse.domain.observation import Observation, Surface
from midcourse.domain.outcome import CompletedStep, Outcome
from midcourse.domain.plan import PlanVersion, Step, Target
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.replace import replace
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.perform.history import NO_ANSWER, History, HistoryCache, drop_settled
from midcourse.testing import MemoryStore

RUN = "r"
OUTCOMES = (
    None,
    Outcome(status="ok", data=(("n", 1), ("m", "x"))),
    Outcome(status="ok"),
    Outcome(status="failed", reason="not_found", detail="gone"),
    Outcome(status="unknown", reason="timeout"),
    Outcome(status="no_effect", reason="no_effect"),
)


async def begun() -> MemoryStore:
    store, task = MemoryStore(), Task(goal="Anything")
    await store.begin(Run(id=RUN, limits=task.limits), task)
    return store


def a_plan(version: int, cause: str, effects: list[str], made_by: int) -> PlanVersion:
    steps = tuple(
        Step(
            version=version,
            index=index,
            zone="z",
            skill=f"s{index}",
            effect=effect,  # pyrefly: ignore[bad-argument-type]
            target=Target(surface="S", role="button", label=f"{made_by}"),
            call="c",
        )
        for index, effect in enumerate(effects)
    )
    return PlanVersion(
        version=version,
        cause=cause,  # pyrefly: ignore[bad-argument-type]
        parent=None,
        why="",
        observation="o",
        final=True,
        steps=steps,
        made_by=made_by,
    )


async def read_in_full(store: MemoryStore, findings: tuple[OutcomeAnswer, ...]) -> dict[str, Any]:
    """The plain way: every record, every time."""
    plans = {plan.version: plan for plan in await store.plans(RUN)}
    words, completed, attempts, data = list(findings), list[Any](), list[Any](), dict[str, Any]()
    for entry in await store.ledger(RUN):
        plan = plans[entry.version]
        if plan.cause == "detour":
            continue
        outcome, place = entry.outcome or NO_ANSWER, (entry.version, entry.index)
        word = next((word for word in words if (word.version, word.index) == place), None)
        status = outcome.status
        if status == "unknown" and word:
            words.remove(word)
            status = "ok" if word.happened else "no_effect"
        lasting = plan.steps[entry.index].effect == "irreversible" or bool(entry.identity)
        if status == "ok":
            data.update(outcome.data if outcome.status == "ok" else ())
            completed.append((*place, lasting, False))
        elif status == "unknown" and lasting:
            completed.append((*place, True, True))
        else:
            attempts.append((*place, status == "unknown"))
    return {"completed": completed, "attempts": attempts, "data": data, "plans": tuple(plans.values())}


async def read_by(past: HistoryCache, store: MemoryStore, findings: tuple[OutcomeAnswer, ...]) -> dict[str, Any]:
    history = (await past.refresh(store, RUN)).history(findings)
    return {
        "completed": [(step.version, step.index, step.irreversible, step.doubtful) for step in history.completed],
        "attempts": [
            (step.version, step.index, step.reason in (NO_ANSWER.reason, "timeout")) for step in history.attempts
        ],
        "data": dict(history.data),
        "plans": history.plans,
    }


EFFECTS = st.lists(st.sampled_from(["set_state", "irreversible"]), min_size=1, max_size=3)
WRITES = st.one_of(
    st.tuples(st.just("plan"), st.sampled_from(["initial", "error", "detour"]), EFFECTS),
    st.tuples(st.just("draft again"), EFFECTS),
    st.tuples(st.just("act"), st.integers(0, 2), st.booleans()),
    st.tuples(st.just("settle"), st.sampled_from(OUTCOMES)),
    st.tuples(st.just("tell"), st.booleans()),
    st.tuples(st.just("read"), st.integers(0, 1)),
)


@given(st.lists(WRITES, max_size=60))
async def test_what_is_added_to_equals_a_full_read(writes: list[Any]) -> None:
    store, pasts = await begun(), (HistoryCache(), HistoryCache())
    plan, entry, findings, acted = None, None, (), False
    for command, (kind, *what) in enumerate(writes, 1):
        if kind == "plan":
            plan, acted = a_plan(plan.version + 1 if plan else 1, what[0], what[1], command), False
            await store.save_plan(RUN, plan)
        elif kind == "draft again" and plan and not acted:
            plan = a_plan(plan.version, plan.cause, what[0], command)
            await store.save_plan(RUN, plan)
        elif kind == "act" and plan:
            index, acted = min(what[0], len(plan.steps) - 1), True
            identity = "i" if what[1] else ""
            entry = LedgerEntry(
                command=command, version=plan.version, index=index, call="c", seen="o", identity=identity
            )
            await store.write_ledger(RUN, entry)
        elif kind == "settle" and entry:
            entry = replace(entry, outcome=what[0])
            await store.write_ledger(RUN, entry)
        elif kind == "tell" and entry:
            findings = (*findings, OutcomeAnswer(version=entry.version, index=entry.index, happened=what[0]))
        elif kind == "read":
            assert await read_by(pasts[what[0]], store, findings) == await read_in_full(store, findings)
    for past in (*pasts, HistoryCache()):
        assert await read_by(past, store, findings) == await read_in_full(store, findings)


class Counting(MemoryStore):
    read = 0

    async def plans(self, run_id: str, since: int = 0) -> tuple[PlanVersion, ...]:
        found = await super().plans(run_id, since)
        self.read += len(found)
        return found

    async def ledger(self, run_id: str, since: int = 0) -> tuple[LedgerEntry, ...]:
        found = await super().ledger(run_id, since)
        self.read += len(found)
        return found


@pytest.mark.parametrize("early", [OUTCOMES[1], OUTCOMES[4]])
async def test_records_are_read_once_however_long_the_run(early: Outcome) -> None:
    store, task, past = Counting(), Task(goal="Anything"), HistoryCache()
    await store.begin(Run(id=RUN, limits=task.limits), task)
    for version in range(1, 301):
        await store.save_plan(RUN, a_plan(version, "adaptive", ["irreversible"], version))
        outcome = early if version == 1 else OUTCOMES[1]
        await store.write_ledger(
            RUN, LedgerEntry(command=version, version=version, index=0, call="c", seen="o", outcome=outcome)
        )
        before = store.read
        history = (await past.refresh(store, RUN)).history(())
        assert len(history.completed) == version
        assert store.read - before <= 4


async def test_what_never_reached_the_store_is_forgotten() -> None:
    """As a worker of a fleet whose transaction failed has read it in its own batch."""
    store, past = await begun(), HistoryCache()
    await store.save_plan(RUN, a_plan(1, "initial", ["set_state"], 1))
    entry = LedgerEntry(command=2, version=1, index=0, call="c", seen="o", outcome=OUTCOMES[3])
    ahead = await begun()
    await ahead.save_plan(RUN, a_plan(1, "initial", ["set_state"], 1))
    await ahead.write_ledger(RUN, entry)
    assert len((await past.refresh(ahead, RUN)).history(()).attempts) == 1
    assert (await past.refresh(store, RUN)).history(()).attempts == ()
    assert past.entries == []


# --- results


async def read_results(*calls: tuple[str, str, Arguments, Pairs]) -> History:
    """The history after calls, each with its skill, the name that the plan gave it, its arguments and what it returned."""
    store = await begun()
    plan = a_plan(1, "initial", ["read"] * len(calls), 1)
    steps = tuple(
        replace(step, skill=skill, result_name=name, arguments=given)
        for step, (skill, name, given, _) in zip(plan.steps, calls, strict=True)
    )
    await store.save_plan(RUN, replace(plan, steps=steps))
    for index, (_, _, _, data) in enumerate(calls):
        outcome = Outcome(data=data)
        await store.write_ledger(
            RUN, LedgerEntry(command=index + 1, version=1, index=index, call="c", seen="o", outcome=outcome)
        )
    return (await HistoryCache().refresh(store, RUN)).history(())


def shown(history: History) -> list[tuple[str, Scalar, int]]:
    return [(each.name, each.value, each.start) for each in history.readings]


async def test_no_result_replaces_another() -> None:
    """A name means the latest, as for a plan that reads twice and enters `text` after each."""
    history = await read_results(
        ("read", "", (), (("text", "A"),)), ("read", "", (), (("text", "B"),)), ("read", "", (), (("text", "C"),))
    )
    assert dict(history.results) == {"text_1": "A", "text_2": "B", "text": "C"}
    assert shown(history) == [("text_1", "A", 0), ("text_2", "B", 0), ("text", "C", 0)]
    assert history.data == (("text", "C"),)


async def test_a_result_has_the_name_that_the_plan_gave() -> None:
    fields = (("id", "A-17"), ("paid", True), ("returned", '{"id":"A-17","paid":true}'))
    history = await read_results(("find", "acme", (), fields), ("read", "terms", (), (("text", "T"),)))
    assert dict(history.results) == {
        "acme": fields[2][1],
        "acme.id": "A-17",
        "acme.paid": True,
        "terms": "T",
    }
    assert [name for name, _, _ in shown(history)] == ["acme", "terms"]


async def test_what_only_repeats_another_result_is_not_shown() -> None:
    history = await read_results(
        ("find", "", (), (("id", "A-17"), ("returned", '{"id":"A-17"}'))),
        ("notify", "", (), (("returned", "null"),)),
        ("git_log", "", (), (("content", "a\nb"), ("git_log", '{"content": "a\\nb"}'))),
    )
    assert [name for name, _, _ in shown(history)] == ["id", "git_log"]
    assert {"returned_1", "returned", "content"} <= dict(history.results).keys(), "arguments may still refer to them"


async def test_more_of_a_result_is_shown_without_being_stored_again() -> None:
    more = (("name", Reference(source="result", name="text")), ("from", 2))
    history = await read_results(("read", "", (), (("text", "ABCD"),)), ("read_more", "", more, ()))
    assert shown(history) == [("text", "ABCD", 0), ("text", "ABCD", 2)]
    assert history.results == (("text", "ABCD"),)


# --- settled failures

NOW = Observation(id="o9", surface=Surface(title="Shop"), fingerprint="f9")
CHECKOUT = replace(NOW, surface=Surface(title="Checkout"))
BROKEN = FailedStep(
    version=1, index=0, skill="click", target="Send", arguments=(), reason="expectation_unmet", detail="400"
)
WORKED = CompletedStep(version=2, index=0, skill="click", target="Send", says="", arguments=())
OTHER = replace(WORKED, target="Next")


@pytest.mark.parametrize(
    ("completed", "now", "told"),
    [
        ((), NOW, True),
        ((OTHER,), NOW, True),
        ((WORKED,), NOW, False),
        ((replace(WORKED, doubtful=True),), NOW, True),
        ((replace(WORKED, version=0),), NOW, True),
        ((OTHER,), CHECKOUT, False),
        ((), CHECKOUT, True),
    ],
    ids=["open", "another worked", "it worked later", "it may have worked", "before", "its screen was left", "moved"],
)
def test_a_planner_is_told_only_failures_that_are_not_settled(
    completed: tuple[CompletedStep, ...], now: Observation, told: bool
) -> None:
    step = Step(
        version=1,
        index=0,
        zone="e1",
        target=Target(surface="Shop", role="button", label="Send"),
        skill="click",
        call="c",
    )
    plan = PlanVersion(version=1, parent=None, cause="initial", why="", observation="o1", final=False, steps=(step,))
    history = History(completed=completed, attempts=(BROKEN,), data=(), plans=(plan,))
    assert drop_settled(history, now) == ((BROKEN,) if told else ())


@pytest.mark.parametrize(
    ("done", "told"),
    [
        (replace(OTHER, version=1, index=0), True),
        (replace(OTHER, version=1, index=2), False),
        (OTHER, False),
        (replace(OTHER, doubtful=True), True),
    ],
    ids=["before", "skipped", "in the next plan", "it may have worked"],
)
def test_a_text_that_was_waited_for_in_vain_is_forgotten_once_another_step_has_worked(
    done: CompletedStep, *, told: bool
) -> None:
    """What it waited for may be visible by now, and no plan waits for it again."""
    vain = replace(BROKEN, index=1, skill="wait_for", target="", reason="not_seen")
    other = replace(vain, reason="expectation_unmet")
    history = History(completed=(done,), attempts=(vain, other), data=())
    assert drop_settled(history, NOW) == ((vain, other) if told else (other,))
