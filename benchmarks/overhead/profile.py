"""Where a worker's processor time goes: Python by the profiler, the engine's own library by its threads.

Being profiled makes Python slower, and calls more than the rest: the areas of two arms can be compared, the sum means little.
"""

import cProfile
import pstats
import threading
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from temporalio.worker._workflow_instance import _WorkflowInstanceImpl as Instance

from benchmarks.overhead.meters import seconds_of_thread

AREAS = {
    "/overhead/workload": "the world",
    "/midcourse/worlds/": "the world",
    "/midcourse/domain/observation": "the world",
    "/overhead/bare": "steps by hand",
    "/midcourse/director/": "director",
    "/midcourse/policy/": "director",
    "/midcourse/domain/": "director",
    "/midcourse/drive": "director",
    "/midcourse/perform/": "perform",
    "/midcourse/store/": "store",
    "/midcourse/runtimes/": "runtime",
    "/midcourse/codec": "JSON",
    "/pydantic": "JSON",
    "/json/": "JSON",
    "/psycopg": "psycopg",
    "/temporalio/": "Temporal's library, Python",
    "/google/protobuf": "Temporal's library, Python",
}
"""By a part of the file's path; the first that fits."""
ENGINE = "Temporal's library, Rust"
REST = "event loop and standard library"
BUILT_IN = "~"


@contextmanager
def profiled() -> Generator[dict[str, float]]:
    """Filled with seconds by area when it is over. Activities run in this thread, workflows in those of a pool."""
    found: dict[str, float] = {}
    pool = _Pool()
    activate = Instance.activate

    def activate_profiled(self: Any, job: Any) -> Any:
        with pool.profile():
            return activate(self, job)

    rust = _rust_seconds()
    with patch.object(Instance, "activate", activate_profiled), pool.profile():
        yield found
    found[ENGINE] = _rust_seconds() - rust
    found |= _by_area(pool.profiles)


class _Pool:
    """A profiler for each thread: they do not share one."""

    def __init__(self) -> None:
        self.profiles: list[cProfile.Profile] = []
        self._own = threading.local()

    @contextmanager
    def profile(self) -> Generator[None]:
        if not hasattr(self._own, "profile"):
            self._own.profile = cProfile.Profile(time.thread_time)
            self.profiles.append(self._own.profile)
        self._own.profile.enable()
        try:
            yield
        finally:
            self._own.profile.disable()


def _by_area(profiles: list[cProfile.Profile]) -> dict[str, float]:
    """Built-in functions count for their callers."""
    found: Counter[str] = Counter()
    stats: Any = pstats.Stats(profiles[0])
    for profile in profiles[1:]:
        stats.add(profile)
    for (file, _, _), (_, _, own, _, callers) in stats.stats.items():
        if file == BUILT_IN and callers:
            for (caller, _, _), (_, _, share, _) in callers.items():
                found[_area(caller)] += share
        else:
            found[_area(file)] += own
    return dict(found)


def _area(file: str) -> str:
    return next((area for part, area in AREAS.items() if part in file), REST)


def _rust_seconds() -> float:
    """The threads of Temporal's library have their own names; Python's are called after the program."""
    tasks = [(int(task.name), (task / "comm").read_text()) for task in Path("/proc/self/task").iterdir()]
    return sum(seconds_of_thread(thread) for thread, name in tasks if not name.startswith("python"))
