"""Points in time, as people read them."""

from datetime import datetime


def format_time(at: float) -> str:
    """The local date and time; empty if the time is unknown."""
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S") if at else ""
