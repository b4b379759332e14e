"""Outliner: a model names coarse goals for a task."""

from pydantic import Field

from midcourse.llm.answer_parser import Answer
from midcourse.llm.model_client import ModelRole, Unanswered
from midcourse.llm.prompt.prompt_text import format_advice, format_completed_step, format_outline, join_task_words
from midcourse.llm.prompt.quoting import quote, quote_block
from midcourse.llm.prompt.results import render_results
from midcourse.llm.prompt.screen import render_screen
from midcourse.llm.prompt.template import Prompt, load_template
from midcourse.ports.outliner import OutlineDraft, OutliningContext

ROLE = "outliner"


class OutlineAnswer(Answer):
    goals: list[str] = Field(description="what to explore, in order; never how")
    why: str = ""


class ModelOutliner(ModelRole):
    async def outline(self, context: OutliningContext) -> OutlineDraft:
        prompt = build_outliner_prompt(context, self.client.room(context.worst, OutlineAnswer))
        reply = await self.client.ask(prompt, OutlineAnswer, worst=context.worst)
        if isinstance(reply, Unanswered):
            return OutlineDraft(verdict=reply.why, detail=reply.detail, cost=reply.cost, model=reply.model)
        answer = reply.answer
        verdict = "goals" if answer.goals else "gave_up"
        return OutlineDraft(
            verdict=verdict, goals=tuple(answer.goals), detail=answer.why[:300], cost=reply.cost, model=reply.model
        )


def build_outliner_prompt(context: OutliningContext, room: int) -> Prompt:
    return load_template(ROLE).fill(
        {
            "goal": quote(context.task.goal, longest=4000),
            "screen": render_screen(
                context.observation, (), join_task_words(context.task), room // 2, 0, in_sight=True
            ).first,
            "completed": quote_block("FINISHED", map(format_completed_step, context.completed)),
            "results": render_results(context.readings, room // 2).text,
            "outline": quote_block("OUTLINE", format_outline(context.outline)),
            "advice": quote_block("MONITOR", format_advice(context.advice)),
            "guidance": "\n".join(f"- {quote(text, longest=600)}" for text in context.guidance if text),
        }
    )
