"""Task files from Python: load one, and build the agent or the planner that it describes."""

from midcourse.app.wiring import Job, agent_for, load_job, planner_for

__all__ = ["Job", "agent_for", "load_job", "planner_for"]
