"""The outliner: has a model name coarse goals for a task."""

from pydantic import BaseModel, ConfigDict, Field

from midcourse.domain.budget import Cost
from midcourse.llm.model_client import Mind, Unanswered
from midcourse.llm.prompt_text import about, advice_lines, outline_lines
from midcourse.llm.quoting import fenced, quoted
from midcourse.llm.screen import shown
from midcourse.llm.template import Prompt, template
from midcourse.ports.outliner import OutlineDraft, OutliningContext

ROLE = "outliner"


class OutlineAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    goals: list[str] = Field(description="what to explore, in order; never how")
    why: str = ""


class ModelOutliner:
    def __init__(self, mind: Mind) -> None:
        self.mind = mind

    def worst(self, tokens: int) -> Cost:
        return self.mind.worst(tokens)

    async def outline(self, context: OutliningContext) -> OutlineDraft:
        prompt = outliner_prompt(context, self.mind.room(context.worst, OutlineAnswer))
        reply = await self.mind.ask(prompt, OutlineAnswer, worst=context.worst)
        if isinstance(reply, Unanswered):
            return OutlineDraft(verdict=reply.why, detail=reply.detail, cost=reply.cost, model=reply.model)
        answer = reply.answer
        verdict = "goals" if answer.goals else "gave_up"
        return OutlineDraft(
            verdict=verdict, goals=tuple(answer.goals), detail=answer.why[:300], cost=reply.cost, model=reply.model
        )


def outliner_prompt(context: OutliningContext, room: int) -> Prompt:
    return template(ROLE).filled(
        {
            "goal": quoted(context.task.goal, longest=4000),
            "screen": shown(context.observation, (), about(context.task), room // 2, 0).first,
            "outline": fenced("OUTLINE", outline_lines(context.outline)),
            "advice": fenced("MONITOR", advice_lines(context.advice)),
            "guidance": "\n".join(f"- {quoted(text, longest=600)}" for text in context.guidance if text),
        }
    )
