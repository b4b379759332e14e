"""Every outliner and progress judge that is shipped accepts any input; and the suites can fail."""

import asyncio

import pytest

from midcourse.llm.model_client import ModelClient
from midcourse.llm.roles.judge import ModelJudge
from midcourse.llm.roles.outliner import ModelOutliner
from midcourse.ports.judge import Judgement, ProgressJudge, WordsSeen
from midcourse.ports.outliner import OutlineDraft, Outliner
from midcourse.testing import ScriptedOutlines, ScriptedProgress
from midcourse.testing.conformance.outline import (
    DRAWN_FROM,
    JUDGED_FROM,
    OutlinerConformance,
    ProgressJudgeConformance,
    check_judgement,
    check_outline,
)
from tests.llm.scripted import Answer, ScriptedModel

GOALS = ("Explore the window", "Find the thing")


def client(answer: Answer) -> ModelClient:
    return ModelClient([ScriptedModel([answer] * 2 * len(JUDGED_FROM)).model], answer_tokens=500)


class TestScriptedOutlines(OutlinerConformance):
    def make_outliner(self) -> Outliner:
        return ScriptedOutlines(GOALS, GOALS[1:])


class TestModelOutliner(OutlinerConformance):
    def make_outliner(self) -> Outliner:
        return ModelOutliner(client({"goals": list(GOALS)}))


class TestModelOutlinerThatTalksNonsense(OutlinerConformance):
    def make_outliner(self) -> Outliner:
        return ModelOutliner(client("no idea"))


class TestWordsSeen(ProgressJudgeConformance):
    def make_judge(self) -> ProgressJudge:
        return WordsSeen()


class TestScriptedProgress(ProgressJudgeConformance):
    def make_judge(self) -> ProgressJudge:
        return ScriptedProgress(1, 3, 2)


class TestModelJudge(ProgressJudgeConformance):
    def make_judge(self) -> ProgressJudge:
        return ModelJudge(client({"current": 2, "evidence": "Main"}))


class TestModelJudgeThatTalksNonsense(ProgressJudgeConformance):
    def make_judge(self) -> ProgressJudge:
        return ModelJudge(client("no idea"))


# --- and what does not pass


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (None, "an outline draft"),
        (OutlineDraft(), "there are none"),
        (OutlineDraft(goals=("Click OK",)), "does not say what to explore"),
        (OutlineDraft(verdict="gave_up", goals=GOALS), "goals only if it says so"),
    ],
)
def test_invalid_outline_does_not_pass(answer: object, why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        check_outline(answer)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (2, "a judgement"),
        (Judgement(), "the number of a goal"),
        (Judgement(current=4), "the number of a goal"),
    ],
)
def test_invalid_judgement_does_not_pass(answer: object, why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        check_judgement(answer, JUDGED_FROM[0])


def test_the_script_is_followed_and_then_it_gives_up() -> None:
    outliner = ScriptedOutlines(GOALS)
    said = [asyncio.run(outliner.outline(DRAWN_FROM[0])) for _ in range(2)]
    assert [(one.verdict, one.goals) for one in said] == [("goals", GOALS), ("gave_up", ())]
