"""Closeness judge: a model estimates how near the goal of a detour is."""

from pydantic import Field

from midcourse.llm.answer_parser import Answer
from midcourse.llm.model_client import ModelRole, Unanswered
from midcourse.llm.prompt.prompt_text import join_task_words
from midcourse.llm.prompt.quoting import quote
from midcourse.llm.prompt.screen import fill_with_screen
from midcourse.llm.prompt.template import Prompt
from midcourse.ports.closeness import Closeness, JudgingContext

ROLE = "closeness_judge"


class ClosenessAnswer(Answer):
    closeness: float = Field(ge=0, le=10, description="0 far away, 10 there")
    why: str = ""


class ModelClosenessJudge(ModelRole):
    async def judge(self, context: JudgingContext) -> Closeness:
        prompt = build_closeness_prompt(context, self.client.room(context.worst, ClosenessAnswer))
        reply = await self.client.ask(prompt, ClosenessAnswer, worst=context.worst, turn=context.turn)
        if isinstance(reply, Unanswered):
            return Closeness(
                value=None, detail=reply.detail, cost=reply.cost, model=reply.model, wait=reply.seconds_until_retry
            )
        answer = reply.answer
        return Closeness(value=answer.closeness, detail=answer.why[:300], cost=reply.cost, model=reply.model)


def build_closeness_prompt(context: JudgingContext, room: int) -> Prompt:
    values = {"goal": quote(context.task.goal, longest=1000), "aim": quote(context.goal.says, longest=1000)}
    about = f"{context.goal.says} {join_task_words(context.task)}"
    return fill_with_screen(ROLE, values, context.observation, about, room)
