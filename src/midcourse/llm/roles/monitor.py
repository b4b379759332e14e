"""Monitor: a model checks whether the path of a run, or its next plan, is fundamentally wrong."""

from typing import Literal

from pydantic import Field

from midcourse.domain.monitor import Advice, Problem, TakenStep
from midcourse.llm.answer_parser import Answer
from midcourse.llm.model_client import ModelRole, Unanswered
from midcourse.llm.prompt.prompt_text import format_outline, format_own_words, format_proposal, join_task_words
from midcourse.llm.prompt.quoting import quote, quote_block, quote_name
from midcourse.llm.prompt.screen import fill_with_screen
from midcourse.llm.prompt.template import Prompt
from midcourse.ports.monitor import Finding, MonitorContext

ROLE = "monitor"


class MonitorAnswer(Answer):
    problem: Literal["none"] | Problem = Field(description="what is fundamentally wrong; none is the usual answer")
    guidance: str = Field(
        default="", description="what to do about it, in one or two sentences; empty if nothing is wrong"
    )


class ModelMonitor(ModelRole):
    async def review(self, context: MonitorContext) -> Finding:
        prompt = build_monitor_prompt(context, self.client.room(context.worst, MonitorAnswer))
        reply = await self.client.ask(prompt, MonitorAnswer, worst=context.worst)
        if isinstance(reply, Unanswered):
            return Finding(verdict="transport", detail=reply.detail, cost=reply.cost, model=reply.model)
        answer = reply.answer
        says = answer.guidance.strip()
        advice = Advice(problem=answer.problem, says=says) if says and answer.problem != "none" else None
        return Finding(advice=advice, cost=reply.cost, model=reply.model)


def build_monitor_prompt(context: MonitorContext, room: int) -> Prompt:
    values = {
        "goal": quote(context.task.goal, longest=2000),
        "outline": quote_block("OUTLINE", format_outline(context.outline)),
        "path": quote_block("PATH", (_format_step(number, step) for number, step in enumerate(context.path, 1)))
        or "nothing yet",
        "proposed": quote_block(
            "PROPOSED", (format_proposal(number, step) for number, step in enumerate(context.proposed, 1))
        ),
    }
    return fill_with_screen(ROLE, values, context.observation, join_task_words(context.task), room, in_sight=True)


def _format_step(number: int, step: TakenStep) -> str:
    outcome = (
        "ok" if step.status == "ok" else f"{step.status}, {quote_name(step.reason)}" if step.reason else step.status
    )
    return f"{number}. on {quote(step.surface, 80)}: {quote_name(step.skill)} {quote(step.target, 80)}{format_own_words(step)}: {outcome}"
