"""A stretch of work during which nobody looks for garbage."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Generator[None]:
    """For making many objects at once of which none is part of a cycle: half of the time went into looking for some.

    Nothing may be awaited inside: it is meant for this work alone.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
