"""Plugins of the tests and Hypothesis profiles. MIDCOURSE_HYPOTHESIS picks a profile: quick, ci (the default) or properties."""

import gc
import os

from hypothesis import settings

pytest_plugins = [
    "tests.scratch",
    "tests.lanes",
    "tests.leftovers",
    "tests.local_model",
    "tests.order",
    "tests.servers",
    "tests.up_fleet",
]

settings.register_profile("quick", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=60, deadline=None, derandomize=True)
settings.register_profile("properties", max_examples=20_000, deadline=None)
settings.load_profile(os.environ.get("MIDCOURSE_HYPOTHESIS", "ci"))


def pytest_sessionstart() -> None:
    gc.disable()  # all test modules are imported next and never freed


def pytest_collection_finish() -> None:
    """Exclude collected tests and imported modules from garbage collection: the quick tests then need a sixth less CPU time."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()
