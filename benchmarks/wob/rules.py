"""Every rule there is: importing this registers them all."""

from wob import adjusting, booking, clicking, dragging, finding, mailing, posting, writing
from wob.planner import RULES as RULES

__all__ = ["RULES", "adjusting", "booking", "clicking", "dragging", "finding", "mailing", "posting", "writing"]
