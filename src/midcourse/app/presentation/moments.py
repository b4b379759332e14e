"""Points in time, as people read them."""

from datetime import datetime


def format_time(at: float) -> str:
    """Local date and time; empty for a moment that is not known."""
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S") if at else ""
