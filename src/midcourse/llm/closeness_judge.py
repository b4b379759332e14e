"""The closeness judge: has a model say how near the goal of a detour is."""

from pydantic import BaseModel, ConfigDict, Field

from midcourse.domain.budget import Cost
from midcourse.llm.model_client import Mind, Unanswered
from midcourse.llm.prompt_text import about
from midcourse.llm.quoting import quoted
from midcourse.llm.screen import shown
from midcourse.llm.template import Prompt, template
from midcourse.llm.tokens import tokens_at_most
from midcourse.ports.closeness import Closeness, JudgingContext

ROLE = "closeness_judge"


class ClosenessAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    closeness: float = Field(ge=0, le=10, description="0 far away, 10 there")
    why: str = ""


class ModelClosenessJudge:
    def __init__(self, mind: Mind) -> None:
        self.mind = mind

    def worst(self, tokens: int) -> Cost:
        return self.mind.worst(tokens)

    async def judge(self, context: JudgingContext) -> Closeness:
        prompt = closeness_prompt(context, self.mind.room(context.worst, ClosenessAnswer))
        reply = await self.mind.ask(prompt, ClosenessAnswer, worst=context.worst, turn=context.turn)
        if isinstance(reply, Unanswered):
            return Closeness(value=None, detail=reply.detail, cost=reply.cost, model=reply.model, wait=reply.again)
        answer = reply.answer
        return Closeness(value=answer.closeness, detail=answer.why[:300], cost=reply.cost, model=reply.model)


def closeness_prompt(context: JudgingContext, room: int) -> Prompt:
    told = {"goal": quoted(context.task.goal, longest=1000), "aim": quoted(context.goal.says, longest=1000)}
    bare = tokens_at_most(template(ROLE).filled({**told, "screen": ""}).text)
    words = f"{context.goal.says} {about(context.task)}"
    return template(ROLE).filled({**told, "screen": shown(context.observation, (), words, room - bare, 0).first})
