"""The monitor: has a model look whether something is fundamentally wrong with the path of a run, or with the plan from there."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from midcourse.domain.budget import Cost
from midcourse.domain.monitor import Advice, Problem, Proposed, Taken
from midcourse.llm.model_client import Mind, Unanswered
from midcourse.llm.prompt_text import about, outline_lines, own_words
from midcourse.llm.quoting import fenced, quoted
from midcourse.llm.screen import named, shown
from midcourse.llm.template import Prompt, template
from midcourse.llm.tokens import tokens_at_most
from midcourse.ports.monitor import Finding, MonitorContext

ROLE = "monitor"


class MonitorAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    problem: Literal["none"] | Problem = Field(description="what is fundamentally wrong; none is the usual answer")
    guidance: str = Field(
        default="", description="what to do about it, in one or two sentences; empty if nothing is wrong"
    )


class ModelMonitor:
    def __init__(self, mind: Mind) -> None:
        self.mind = mind

    def worst(self, tokens: int) -> Cost:
        return self.mind.worst(tokens)

    async def review(self, context: MonitorContext) -> Finding:
        prompt = monitor_prompt(context, self.mind.room(context.worst, MonitorAnswer))
        reply = await self.mind.ask(prompt, MonitorAnswer, worst=context.worst)
        if isinstance(reply, Unanswered):
            return Finding(verdict="transport", detail=reply.detail, cost=reply.cost, model=reply.model)
        answer = reply.answer
        says = answer.guidance.strip()
        advice = Advice(problem=answer.problem, says=says) if says and answer.problem != "none" else None
        return Finding(advice=advice, cost=reply.cost, model=reply.model)


def monitor_prompt(context: MonitorContext, room: int) -> Prompt:
    told = {
        "goal": quoted(context.task.goal, longest=2000),
        "outline": fenced("OUTLINE", outline_lines(context.outline)),
        "path": fenced("PATH", (_step(number, one) for number, one in enumerate(context.path, 1))) or "nothing yet",
        "proposed": fenced("PROPOSED", (_proposal(number, one) for number, one in enumerate(context.proposed, 1))),
    }
    bare = tokens_at_most(template(ROLE).filled({**told, "screen": ""}).text)
    screen = shown(context.observation, (), about(context.task), room - bare, 0).first
    return template(ROLE).filled({**told, "screen": screen})


def _proposal(number: int, one: Proposed) -> str:
    return f"{number}. {named(one.skill)} {quoted(one.target, 80)}{_says(one)}"


def _step(number: int, one: Taken) -> str:
    came = "ok" if one.status == "ok" else f"{one.status}, {named(one.reason)}" if one.reason else one.status
    return f"{number}. on {quoted(one.surface, 80)}: {named(one.skill)} {quoted(one.target, 80)}{_says(one)}: {came}"


def _says(one: Taken | Proposed) -> str:
    own = own_words(one.says, one.skill, one.target)
    return f" ({quoted(own, 120)})" if own else ""
