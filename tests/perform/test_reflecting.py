"""The reflector explains a failure: how any answer is used, and what memory keeps of it."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from midcourse.domain.budget import Spent
from midcourse.domain.commands import Advise
from midcourse.domain.events import Advised
from midcourse.domain.failure import Classification, Failure
from midcourse.domain.outcome import Outcome
from midcourse.domain.records.lesson import Lesson, Untrusted
from midcourse.domain.reflection import Analysis, Fix, Reflection
from midcourse.domain.task import Task
from midcourse.errors import TaskInvalid
from midcourse.perform import Lessons, Performer
from midcourse.perform.advising import MOST_FACTORS
from midcourse.policy.failure.reflection import explain_failure
from midcourse.ports.planner import ONE_CALL
from midcourse.ports.reflector import Explanation
from midcourse.store.sqlite.memory import SqliteMemory
from midcourse.testing import Scripted, ScriptedReflector
from tests.harness import Bench, Safe, Shop, draft, steps

WHY = "The disk is full"
FAILURE = Failure(reason="rejected", detail="no", found=Classification(error_type="permission"), version=1)
REFLECTION = Reflection(
    analysis=Analysis(error_type="other", severity="LOW", root_cause=WHY), fix=Fix(message="Make room"), by="model"
)


class Says:
    def __init__(self, answer: Any) -> None:
        self._answer = answer

    async def reflect(self, _context: Any) -> Explanation:
        if isinstance(self._answer, Exception):
            raise self._answer
        return cast(Explanation, self._answer)


class Slow:
    async def reflect(self, _context: Any) -> Explanation:
        await asyncio.sleep(60)
        raise AssertionError("it was waited for too long")


async def explained(reflector: Any, timeout: float = 5.0, **more: Any) -> Advised:
    bench = Bench(reflector=reflector, **more)
    await bench.prepare()
    event = await Performer(bench.ports).perform(
        Advise(id=7, timeout=timeout, role="reflector", version=2, failure=FAILURE)
    )
    assert isinstance(event, Advised)
    return event


async def test_an_explanation_is_passed_on_and_billed() -> None:
    event = await explained(Says(Explanation(reflection=REFLECTION, cost=ONE_CALL, model="m")))
    assert event.reflection is not None
    assert (event.verdict, event.reflection.by, event.reflection.fix.message) == ("answered", "model", "Make room")
    assert event.spent == (Spent(role="reflector", version=2, model="m", cost=ONE_CALL),)


async def test_the_kind_of_failure_stays_what_it_was_classified_as() -> None:
    event = await explained(Says(Explanation(reflection=REFLECTION)))
    assert event.reflection is not None
    assert (event.reflection.analysis.error_type, event.reflection.analysis.severity) == ("permission", "LOW")


async def test_without_a_fix_it_is_the_one_of_the_rules() -> None:
    event = await explained(Says(Explanation(reflection=replace(REFLECTION, fix=Fix(message=" ")))))
    assert event.reflection is not None
    assert event.reflection.fix == explain_failure(FAILURE).fix


async def test_a_long_explanation_is_cut() -> None:
    many, long = ("x" * 9000,) * 100, "y" * 9000
    analysis = replace(REFLECTION.analysis, root_cause=long, contributing_factors=many)
    event = await explained(
        Says(Explanation(reflection=Reflection(analysis=analysis, fix=Fix(message=long, changes=many)), detail=long))
    )
    assert event.reflection is not None
    assert len(event.reflection.analysis.root_cause) == len(event.reflection.fix.message) == 500
    for said in (event.reflection.analysis.contributing_factors, event.reflection.fix.changes):
        assert (len(said), max(map(len, said))) == (MOST_FACTORS, 500)
    assert len(event.detail) == 1000


NO_CAUSE = replace(REFLECTION, analysis=replace(REFLECTION.analysis, root_cause=" "))
BAD_SEVERITY = replace(REFLECTION, analysis=replace(REFLECTION.analysis, severity=cast(Any, "AWFUL")))


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("nonsense", "garbage"),
        (None, "garbage"),
        (RuntimeError("no idea"), "garbage"),
        (OSError("no route"), "transport"),
        (Explanation(), "garbage"),
        (Explanation(reflection=NO_CAUSE), "garbage"),
        (Explanation(reflection=BAD_SEVERITY), "garbage"),
        (Explanation(verdict="transport", reflection=REFLECTION), "transport"),
    ],
    ids=["text", "nothing", "raises", "no route", "empty", "no cause", "bad severity", "unsure"],
)
async def test_an_invalid_explanation_is_ignored(answer: Any, verdict: str) -> None:
    event = await explained(Says(answer))
    assert (event.verdict, event.reflection) == (verdict, None)


async def test_a_late_reflector_is_not_waited_for_but_charged() -> None:
    event = await explained(Slow(), timeout=0.02)
    assert (event.verdict, event.reflection, event.cost) == ("transport", None, ONE_CALL)


async def test_misuse_is_not_hidden() -> None:
    with pytest.raises(TaskInvalid):
        await explained(Says(TaskInvalid("no such model")))


async def test_no_secret_that_it_repeats_is_written_down() -> None:
    secret = "hunter2-correct-horse"
    said = replace(
        REFLECTION,
        analysis=replace(REFLECTION.analysis, root_cause=f"{secret} is wrong", contributing_factors=(secret,)),
        fix=Fix(message=secret, changes=(secret,)),
    )
    more = {"task": Task(goal="sign in", secrets=("password",)), "vault": Safe(password=secret)}
    event = await explained(Says(Explanation(reflection=said, detail=secret)), **more)
    assert secret not in repr(event)
    assert "<secret password> is wrong" in repr(event)


# --- what memory keeps


async def learned(reflector: Any, path: Path) -> Lesson:
    shop = Shop()
    shop.on_call = lambda name: Outcome(status="failed", reason="rejected", detail="no") if name == "nudge" else None
    memory = SqliteMemory(path / "lessons.db", agent="ann")
    planner = Scripted(steps(draft("order", "nudge")), steps(draft("name", "fill", text="Ada")))
    await Bench(world=shop, planner=planner, lessons=Lessons(memory=memory), reflector=reflector).run()
    (lesson,) = await memory.lessons()
    return lesson


async def test_the_explained_cause_is_in_the_lesson_as_untrusted(tmp_path: Path) -> None:
    lesson = await learned(ScriptedReflector(WHY), tmp_path)
    assert lesson.root_cause == Untrusted(text=WHY)


async def test_the_explanation_of_the_rules_is_kept_as_theirs(tmp_path: Path) -> None:
    lesson = await learned(ScriptedReflector(), tmp_path)
    assert lesson.root_cause.text.startswith("nudge on 'Order'")
    assert (lesson.cause_by, lesson.explained) == ("rules", "")
