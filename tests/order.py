"""The order of the tests: modules that take long first, then slow ones, then quick ones.

pytest-xdist's `loadfile` hands out one module at a time in this order, so that tests share expensive fixtures, and the workers end
at about the same time, with quick tests.
"""

import pytest

LONG = (
    "docs/test_typed.py",
    "benchmarks/test_fleet_trials.py",
    "benchmarks/test_benchmarks.py",
    "parity/test_parity.py",
    "docs/test_docs.py",
    "chaos/test_kill_order.py",
    "runtimes/test_lost_workers.py",
    "worlds/browser/page/test_tabs.py",
    "scenarios/test_every_fault.py",
    "server/test_openapi.py",
    "benchmarks/test_leaks.py",
    "benchmarks/test_agentdojo.py",
    "benchmarks/test_first_run.py",
    "cli/test_batch.py",
)
"""Modules that took more than a minute of a worker, the longest first."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    long = {item.path: place for item in items for place, end in enumerate(LONG) if item.path.as_posix().endswith(end)}
    items.sort(key=lambda item: (long.get(item.path, len(LONG)), item.path not in slow))
