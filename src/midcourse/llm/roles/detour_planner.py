"""Detour planner: a model proposes the next step towards a goal to which no way is known."""

from typing import Literal

from pydantic import Field

from midcourse.domain.detour import Option
from midcourse.llm.answer_parser import Answer
from midcourse.llm.model_client import ModelRole, Unanswered
from midcourse.llm.prompt.prompt_text import format_arguments, format_skills, join_task_words
from midcourse.llm.prompt.quoting import quote, quote_block, quote_name
from midcourse.llm.prompt.screen import fill_with_screen
from midcourse.llm.prompt.template import Prompt
from midcourse.llm.roles.named_values import Misfit
from midcourse.llm.roles.plan_answer import StepAnswer, build_step_draft
from midcourse.policy.plan.skill_offer import is_offered_by_screen, is_offered_by_task
from midcourse.ports.detour import DetourContext, PastTry, TryDraft

ROLE = "detour_planner"
MOST_OPTIONS = 3


class OptionAnswer(Answer):
    name: str = Field(description="a few words")
    says: str = Field(default="", description="what to do, in a sentence")


class TryAnswer(Answer):
    verdict: Literal["try", "gave_up"] = "try"
    reason: str = ""
    act: StepAnswer | None = None
    options: list[OptionAnswer] = Field(default_factory=list[OptionAnswer])


class ModelDetourPlanner(ModelRole):
    async def plan_try(self, context: DetourContext) -> TryDraft:
        prompt = build_detour_prompt(context, self.client.room(context.worst, TryAnswer))
        reply = await self.client.ask(prompt, TryAnswer, worst=context.worst, turn=context.turn)
        if isinstance(reply, Unanswered):
            return TryDraft(verdict=reply.why, detail=reply.detail, cost=reply.cost, model=reply.model, wait=reply.wait)
        answer = reply.answer
        if answer.verdict == "gave_up" or answer.act is None:
            verdict = "gave_up" if answer.verdict == "gave_up" else "garbage"
            return TryDraft(verdict=verdict, detail=answer.reason[:300], cost=reply.cost, model=reply.model)
        try:
            step, _ = build_step_draft(answer.act, context.observation, context.catalogue)
        except Misfit as error:
            return TryDraft(verdict="garbage", detail=str(error), cost=reply.cost, model=reply.model)
        options = tuple(Option(name=option.name, says=option.says) for option in answer.options[:MOST_OPTIONS])
        return TryDraft(step=step, options=options, detail=answer.reason[:300], cost=reply.cost, model=reply.model)


def build_detour_prompt(context: DetourContext, room: int) -> Prompt:
    """Build the prompt in at most `room` tokens, as far as cutting the screen allows."""
    hint, seen = context.hint, context.observation
    offered = [
        skill
        for skill in context.catalogue.skills
        if is_offered_by_task(skill, context.task) or is_offered_by_screen(skill, seen)
    ]
    values = {
        "skills": quote_block("SKILLS", format_skills(offered)) or "none",
        "goal": quote(context.task.goal, longest=2000),
        "aim": quote(context.goal.says, longest=1000),
        "tries": quote_block("TRIES", map(_format_past, context.tries)),
        "guidance": "\n".join(f"- {quote(text, longest=600)}" for text in context.guidance if text),
        "refused": quote_block("REFUSED", [quote(context.refused, longest=600)]) if context.refused else "",
        "hint": quote_block("HINT", [quote(f"{hint.name}: {hint.says}" if hint.says else hint.name)]) if hint else "",
        "undo": quote_block("UNDO", [_format_past(context.undo)]) if context.undo else "",
        "closeness": f"{context.closeness:.1f}",
    }
    about = f"{context.goal.says} {join_task_words(context.task)}"
    return fill_with_screen(ROLE, values, seen, about, room, in_sight=True)


def _format_past(past: PastTry) -> str:
    step = past.step
    if step is None:
        return f"{past.label}: no step was proposed ({quote_name(past.failed or 'garbage')})"
    arguments = f" {format_arguments(step.arguments)}" if step.arguments else ""
    closeness = f"{past.closeness_before:.1f} to {past.closeness_after:.1f}"
    failed = f", failed: {quote_name(past.failed)}" if past.failed else ""
    reverted = ", reverted" if past.reverted else ""
    return (
        f"{past.label}: {quote_name(step.skill)} {quote(step.target.label)}{arguments}: {closeness}{failed}{reverted}"
    )
