"""Every rule there is: importing this registers them all."""

from benchmarks.miniwob_tasks import adjusting, booking, clicking, dragging, finding, mailing, posting, writing
from benchmarks.miniwob_tasks.planner import RULES as RULES

__all__ = ["RULES", "adjusting", "booking", "clicking", "dragging", "finding", "mailing", "posting", "writing"]
