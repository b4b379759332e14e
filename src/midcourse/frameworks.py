"""Other agent frameworks: an agent as their tool (`Agent.as_tool`), their agents as planners, and a solver for Inspect."""

from midcourse.lazy import lazy_imports

with lazy_imports(globals()):
    from midcourse.agent.tools.agent_tool import AgentTool as AgentTool
    from midcourse.agent.tools.answer import ToolAnswer as ToolAnswer
    from midcourse.agent.tools.inspect_solver import inspect_solver as inspect_solver
    from midcourse.llm.text_planner import LangGraphPlanner as LangGraphPlanner
    from midcourse.llm.text_planner import OpenAIPlanner as OpenAIPlanner
    from midcourse.llm.text_planner import TextPlanner as TextPlanner
