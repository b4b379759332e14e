"""Other agent frameworks: an agent as their tool (`Agent.as_tool`), their agents as planners, and a solver for Inspect."""

from typing import TYPE_CHECKING

from midcourse.lazy import lazy_exports

if TYPE_CHECKING:
    from midcourse.agent.tools.agent_tool import AgentTool as AgentTool
    from midcourse.agent.tools.answer import ToolAnswer as ToolAnswer
    from midcourse.agent.tools.inspect_solver import inspect_solver as inspect_solver
    from midcourse.llm.text_planner import LangGraphPlanner as LangGraphPlanner
    from midcourse.llm.text_planner import OpenAIPlanner as OpenAIPlanner
    from midcourse.llm.text_planner import TextPlanner as TextPlanner

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "midcourse.agent.tools.agent_tool": "AgentTool",
        "midcourse.agent.tools.answer": "ToolAnswer",
        "midcourse.agent.tools.inspect_solver": "inspect_solver",
        "midcourse.llm.text_planner": "LangGraphPlanner OpenAIPlanner TextPlanner",
    },
)
