"""Task files from Python: load one, and build the agent or the planner that it describes."""

from midcourse.agent.agent import build_agent
from midcourse.agent.wiring import Job, build_planner, load_job

agent_for = build_agent
"""The older name of `build_agent`."""
planner_for = build_planner
"""The older name of `build_planner`."""

__all__ = ["Job", "agent_for", "build_agent", "build_planner", "load_job", "planner_for"]
