"""What calls of a model may have cost so far, for a caller that stops waiting for the answer.

A call that is cut off returns no cost. Its model client writes here what it has sent, before it waits.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from midcourse.domain.budget import Cost


class Meter:
    """The cost of what was sent since the caller began to wait. None: no model client has said."""

    cost: Cost | None = None

    def at_most(self, worst: Cost) -> Cost:
        """The most that may have been spent, which is the whole reservation if no model client has said less."""
        return worst if self.cost is None else self.cost


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metering() -> Generator[Meter]:
    """Collect what is sent in this context."""
    meter = Meter()
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


def current_meter() -> Meter:
    """The meter of the caller that waits; without one, a meter that is not read."""
    return _METER.get() or Meter()
