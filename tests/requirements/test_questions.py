"""Document 003, Path 4: a planner may ask the user, and is told the answer."""

from midcourse import Agent, Decision, Settings
from midcourse.ports.planner import PlanDraft, PlanningContext
from midcourse.testing import Answers, MemoryStore, Rejects, Silent
from midcourse.testing.models import ModelServer
from tests.requirements.test_prompts import ENTER, Office, file
from tests.scenarios.stage import FunctionPlanner, Stage, plan
from tests.scenarios.test_recovery import Disk, write

WHICH = "Which of the two drawers do you mean?"


def test_a_model_asks_the_user_and_gets_the_answer() -> None:
    office, person = Office(), Answers(Decision(verdict="go_on", guidance="the right one", by="ada"))
    answers = [{"steps": [ENTER]}, {"verdict": "ask", "reason": WHICH}, {"steps": [file("right")], "final": True}]
    with ModelServer(answers) as server:
        settings = Settings(model="openai:any", model_base_url=server.url)
        result = Agent(office, approver=person, settings=settings, store=MemoryStore()).run_sync("File the figures")
    assert result.success
    assert office.filed == ["42"]
    (question,) = person.questions
    assert (question.about, question.detail) == ("question", WHICH)
    prompt = server.requests[2].text
    assert "the right one" in prompt.partition("Guidance from the user:")[2]
    assert WHICH in prompt


def asking(context: PlanningContext) -> PlanDraft:
    return plan(write("home"), final=True) if context.guidance else PlanDraft(verdict="ask", detail="Where to?")


async def test_without_an_answer_a_person_is_needed() -> None:
    for approver in (None, Rejects()):
        played = await Stage(world=Disk(), planner=FunctionPlanner(asking), approver=approver).play()
        assert played.ended == (False, False, "needs_human")
        assert "Where to?" in played.result.final_detail
    late = await Stage(world=Disk(), planner=FunctionPlanner(asking), approver=Silent()).play()
    assert late.ended == (False, False, "needs_human")
    assert late.result.final_detail == "no answer: the planner asked: Where to?"


async def test_a_planner_that_only_asks_is_stopped_by_the_ceiling_on_replans() -> None:
    person = Answers(*(Decision(verdict="go_on", guidance=f"answer {number}") for number in range(9)))
    always = FunctionPlanner(lambda _: PlanDraft(verdict="ask", detail="And now?"))
    played = await Stage(world=Disk(), planner=always, approver=person).play()
    assert played.ended == (False, False, "replan_exhausted")
    assert len(person.questions) == 5


async def test_the_answer_is_in_the_guidance_of_the_next_plan() -> None:
    person = Answers(Decision(verdict="go_on", guidance="to /home"))
    played = await Stage(world=Disk(), planner=FunctionPlanner(asking), approver=person).play()
    assert played.ended == (True, False, "plan_complete")
    assert [context.guidance for context in played.contexts] == [(), ("to /home",)]
    assert [version.cause for version in played.plans] == ["guided"]
