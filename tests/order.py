"""The order of the tests: slow ones first, so that a worker that is done early finds short ones to take over from another.

pytest-xdist's `worksteal` gives each worker an equal share of the list, in one piece, and lets it take over the end of another's. So
the list is a share for each worker, one after the other, each with slow tests at its beginning. Tests of a module stay together: they
share what is expensive to start.
"""

import gc
from itertools import groupby

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    shares: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for slow in (True, False):
        chosen = [item for item in items if (item.get_closest_marker("slow") is not None) == slow]
        for _, module in groupby(chosen, key=lambda item: item.path):
            min(shares, key=len).extend(module)
    items[:] = [item for share in shares for item in share]


def pytest_sessionstart() -> None:
    gc.disable()  # the modules of all tests are imported next, and stay


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
