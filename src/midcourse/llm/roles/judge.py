"""Progress judge: which goals of an outline are finished, with evidence; rules decide first, then a model."""

from pydantic import Field

from midcourse.llm.answer_parser import Answer
from midcourse.llm.model_client import ModelRole, Unanswered
from midcourse.llm.prompt.prompt_text import format_outline, join_task_words
from midcourse.llm.prompt.quoting import quote, quote_block
from midcourse.llm.prompt.screen import render_screen
from midcourse.llm.prompt.template import Prompt, load_template
from midcourse.policy.advice.outline import find_place
from midcourse.ports.judge import Judgement, ProgressContext

ROLE = "judge"


class JudgementAnswer(Answer):
    current: int = Field(description="number of the first goal that is neither finished nor reached")
    evidence: str = Field(default="", description="a text copied from the screen that shows it")


class ModelJudge(ModelRole):
    async def judge(self, context: ProgressContext) -> Judgement:
        """Judge by rules where the screen's own name decides, which costs nothing, and else by the model."""
        outline = context.outline
        for number, goal in reversed([*enumerate(outline.goals, 1)][outline.finished :]):
            if place := find_place(goal, context.observation):
                return Judgement(current=number + 1, evidence=place)
        prompt = build_judge_prompt(context, self.client.room(context.worst, JudgementAnswer))
        reply = await self.client.ask(prompt, JudgementAnswer, worst=context.worst)
        if isinstance(reply, Unanswered):
            return Judgement(verdict="transport", detail=reply.detail, cost=reply.cost, model=reply.model)
        answer = reply.answer
        return Judgement(current=answer.current, evidence=answer.evidence, cost=reply.cost, model=reply.model)


def build_judge_prompt(context: ProgressContext, room: int) -> Prompt:
    goals = " ".join(goal.says for goal in context.outline.goals)
    words = f"{goals} {join_task_words(context.task)}"
    return load_template(ROLE).fill(
        {
            "goal": quote(context.task.goal, longest=1000),
            "outline": quote_block("OUTLINE", format_outline(context.outline)),
            "screen": render_screen(context.observation, (), words, room // 2, 0, in_sight=True).first,
        }
    )
