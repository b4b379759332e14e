"""Planners for agents of other frameworks: anything that answers a prompt with text can plan."""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from midcourse.domain.replace import replace
from midcourse.llm.answer_parser import Unreadable, parse_answer
from midcourse.llm.model_client import CALL_TOKENS
from midcourse.llm.roles.plan_answer import PlanAnswer, build_plan_draft
from midcourse.llm.roles.planner import build_planner_prompt
from midcourse.ports.planner import PlanDraft, PlanningContext


class TextPlanner:
    """Plans with a function that is given a prompt and returns the plan as JSON text.

    The prompt is the one that a model of our own gets: content of the world is quoted as data. What the function spends besides
    the call itself is not known, so ceilings in tokens and money do not hold for it.
    """

    remembers = True

    def __init__(self, ask: Callable[[str], Awaitable[str]], *, room: int = CALL_TOKENS) -> None:
        """`room`: tokens that a prompt may have."""
        self._ask = ask
        self._room = room

    async def plan(self, context: PlanningContext) -> PlanDraft:
        answer = await self._ask(build_planner_prompt(context, self._room).text)
        found = parse_answer(answer, PlanAnswer)
        if isinstance(found, Unreadable):
            return PlanDraft(verdict="garbage", detail=found.why)
        draft = build_plan_draft(found.answer, context)
        return replace(draft, repairs=found.repairs + draft.repairs)


class LangGraphPlanner(TextPlanner):
    """Plans with a LangGraph graph whose state has `messages`: the prompt is the first of them, and the last one is the plan."""

    def __init__(self, graph: Any, *, room: int = CALL_TOKENS) -> None:
        async def ask(prompt: str) -> str:
            answered = await graph.ainvoke({"messages": [{"role": "user", "content": prompt}]})
            return str(answered["messages"][-1].text)

        super().__init__(ask, room=room)


class OpenAIPlanner(TextPlanner):
    """Plans with an agent of the OpenAI Agents SDK, whose final output is the plan."""

    def __init__(self, agent: Any, *, room: int = CALL_TOKENS) -> None:
        runner: Any = import_module("agents").Runner

        async def ask(prompt: str) -> str:
            return str((await runner.run(agent, prompt)).final_output)

        super().__init__(ask, room=room)
