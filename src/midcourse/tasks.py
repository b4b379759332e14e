"""Task files from Python: load one, and build the agent or the planner that it describes."""

from midcourse.app.agent import agent_for
from midcourse.app.wiring import Job, load_job, planner_for

__all__ = ["Job", "agent_for", "load_job", "planner_for"]
