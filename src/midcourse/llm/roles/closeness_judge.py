"""Closeness judge: a model estimates how near the goal of a detour is."""

from pydantic import BaseModel, ConfigDict, Field

from midcourse.llm.model_client import ModelRole, Unanswered
from midcourse.llm.prompt.prompt_text import words_of_task
from midcourse.llm.prompt.quoting import quote
from midcourse.llm.prompt.screen import render_screen
from midcourse.llm.prompt.template import Prompt, template
from midcourse.llm.prompt.tokens import tokens_at_most
from midcourse.ports.closeness import Closeness, JudgingContext

ROLE = "closeness_judge"


class ClosenessAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    closeness: float = Field(ge=0, le=10, description="0 far away, 10 there")
    why: str = ""


class ModelClosenessJudge(ModelRole):
    async def judge(self, context: JudgingContext) -> Closeness:
        prompt = closeness_prompt(context, self.client.room(context.worst, ClosenessAnswer))
        reply = await self.client.ask(prompt, ClosenessAnswer, worst=context.worst, turn=context.turn)
        if isinstance(reply, Unanswered):
            return Closeness(
                value=None, detail=reply.detail, cost=reply.cost, model=reply.model, wait=reply.seconds_until_retry
            )
        answer = reply.answer
        return Closeness(value=answer.closeness, detail=answer.why[:300], cost=reply.cost, model=reply.model)


def closeness_prompt(context: JudgingContext, room: int) -> Prompt:
    values = {"goal": quote(context.task.goal, longest=1000), "aim": quote(context.goal.says, longest=1000)}
    bare = tokens_at_most(template(ROLE).fill({**values, "screen": ""}).text)
    words = f"{context.goal.says} {words_of_task(context.task)}"
    return template(ROLE).fill(
        {**values, "screen": render_screen(context.observation, (), words, room - bare, 0).first}
    )
