"""Task files from Python: load one, and build the agent or the planner that it describes."""

from midcourse.agent.agent import agent_for
from midcourse.agent.wiring import Job, load_job, planner_for

__all__ = ["Job", "agent_for", "load_job", "planner_for"]
