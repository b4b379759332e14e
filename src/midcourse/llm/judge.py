"""The progress judge: has a model say how far an outline is, and point at what shows it."""

from pydantic import BaseModel, ConfigDict, Field

from midcourse.domain.budget import Cost
from midcourse.llm.model_client import Mind, Unanswered
from midcourse.llm.prompt_text import about, outline_lines
from midcourse.llm.quoting import fenced, quoted
from midcourse.llm.screen import shown
from midcourse.llm.template import Prompt, template
from midcourse.ports.judge import Judgement, ProgressContext

ROLE = "judge"


class JudgementAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    current: int = Field(description="number of the first goal that is not reached")
    evidence: str = Field(default="", description="a text copied from the screen that shows it")


class ModelJudge:
    def __init__(self, mind: Mind) -> None:
        self.mind = mind

    def worst(self, tokens: int) -> Cost:
        return self.mind.worst(tokens)

    async def judge(self, context: ProgressContext) -> Judgement:
        prompt = judge_prompt(context, self.mind.room(context.worst, JudgementAnswer))
        reply = await self.mind.ask(prompt, JudgementAnswer, worst=context.worst)
        if isinstance(reply, Unanswered):
            return Judgement(verdict="transport", detail=reply.detail, cost=reply.cost, model=reply.model)
        answer = reply.answer
        return Judgement(current=answer.current, evidence=answer.evidence, cost=reply.cost, model=reply.model)


def judge_prompt(context: ProgressContext, room: int) -> Prompt:
    goals = " ".join(goal.says for goal in context.outline.goals)
    words = f"{goals} {about(context.task)}"
    return template(ROLE).filled(
        {
            "goal": quoted(context.task.goal, longest=1000),
            "outline": fenced("OUTLINE", outline_lines(context.outline)),
            "screen": shown(context.observation, (), words, room // 2, 0).first,
        }
    )
