"""Reflector: a model explains why a step failed, and what may help."""

from collections.abc import Iterable

from pydantic import Field

from midcourse.domain.failure import Severity
from midcourse.domain.reflection import Analysis, Fix, Reflection
from midcourse.llm.answer_parser import Answer
from midcourse.llm.model_client import ModelRole, Unanswered
from midcourse.llm.prompt.prompt_text import (
    format_attempt,
    format_completed_step,
    format_lesson,
    format_step,
    join_task_words,
)
from midcourse.llm.prompt.quoting import quote, quote_block, quote_name
from midcourse.llm.prompt.screen import render_screen
from midcourse.llm.prompt.template import Prompt, estimate_tokens, load_template
from midcourse.ports.reflector import Explanation, ReflectionContext

ROLE = "reflector"


class ReflectionAnswer(Answer):
    root_cause: str = Field(description="what is behind the failure, in one sentence")
    contributing_factors: tuple[str, ...] = Field(default=(), description="what made it possible or worse")
    severity: Severity = Field(description="how much of an obstacle it is")
    preventable: bool | None = Field(default=None, description="whether a better plan would have avoided it")
    fix: str = Field(default="", description="what the next plan should do otherwise, in one sentence")
    changes: tuple[str, ...] = Field(default=(), description="how, in a few words each")


class ModelReflector(ModelRole):
    async def reflect(self, context: ReflectionContext) -> Explanation:
        prompt = build_reflector_prompt(context, self.client.room(context.worst, ReflectionAnswer))
        reply = await self.client.ask(prompt, ReflectionAnswer, worst=context.worst, version=context.version)
        if isinstance(reply, Unanswered):
            verdict = "transport" if reply.why == "transport" else "garbage"
            return Explanation(verdict=verdict, detail=reply.detail, cost=reply.cost, model=reply.model)
        answer = reply.answer
        found = Reflection(
            analysis=Analysis(
                error_type=context.failure.found.error_type,
                severity=answer.severity,
                root_cause=answer.root_cause,
                contributing_factors=answer.contributing_factors,
                preventable=answer.preventable,
            ),
            fix=Fix(message=answer.fix, changes=answer.changes),
            by="model",
        )
        return Explanation(reflection=found, cost=reply.cost, model=reply.model)


def build_reflector_prompt(context: ReflectionContext, room: int) -> Prompt:
    values = {
        "goal": quote(context.task.goal, longest=2000),
        "completed": quote_block("FINISHED", map(format_completed_step, context.completed)),
        "attempts": quote_block(
            "FAILED", (format_attempt(step) for step in context.attempts if step != context.failed)
        ),
        "failure": quote_block("FAILURE", _describe_failure(context)),
        "lessons": quote_block("LESSONS", map(format_lesson, context.similar)),
    }
    if context.observation is None:
        return load_template(ROLE).fill({**values, "screen": ""})
    bare = estimate_tokens(load_template(ROLE).fill({**values, "screen": "…"}).text)
    screen = render_screen(context.observation, (), join_task_words(context.task), room - bare, 0, in_sight=True).first
    return load_template(ROLE).fill({**values, "screen": screen})


def _describe_failure(context: ReflectionContext) -> Iterable[str]:
    failure, found = context.failure, context.failure.found
    if context.failed:
        yield f"step: {format_step(context.failed)}"
    detail = f" {quote(failure.detail, longest=1000)}" if failure.detail else ""
    yield f"error: {quote_name(failure.reason)}{detail}"
    if failure.tries:
        yield f"tried {failure.tries + 1} times, with waits in between"
    yield f"class by rules: {found.nature}, {found.error_type}, {found.category}, severity {found.severity}"
