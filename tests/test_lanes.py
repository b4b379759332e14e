"""A quick test that starts a process or takes too long fails, and so does a run of quick tests that exceeds their budget."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import lanes

pytest_plugins = ["pytester"]

STARTS = """
import subprocess, sys
import pytest

def test_tiny():
    subprocess.run(["true"])

def test_quick():
    subprocess.run(["sh", "-c", "true"])

@pytest.mark.slow
def test_slow():
    subprocess.run(["sh", "-c", "true"])
"""
WORKS = """
import time

def test_long():
    until = time.process_time() + 0.05
    while time.process_time() < until:
        pass
"""
NEEDS_A_SERVER = """
import pytest

@pytest.fixture
def postgres_server():
    return "postgresql://"

@pytest.fixture
def store(postgres_server):
    return postgres_server

def test_quick(): ...
def test_stored(store): ...
"""


@pytest.fixture(autouse=True)
def _no_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # pytester would import them for each run


def run(pytester: pytest.Pytester, source: str, *options: str) -> pytest.RunResult:
    pytester.makepyfile(source)
    pytester.makeini("[pytest]\nmarkers = slow\n")
    return pytester.runpytest_inprocess("-p", "tests.lanes", *options)


def test_a_quick_test_starts_no_process(pytester: pytest.Pytester) -> None:
    done = run(pytester, STARTS)
    lanes._started.clear()  # they were started within this test, too
    done.assert_outcomes(passed=2, failed=1)
    done.stdout.fnmatch_lines(["*a quick test started a process (subprocess.Popen*sh*mark it `slow`*"])


def test_a_quick_test_takes_little_cpu_time(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "CPU_SECONDS", 0.04)
    run(pytester, WORKS).assert_outcomes(failed=1)
    monkeypatch.setattr(lanes, "CPU_SECONDS", 60.0)
    run(pytester, WORKS).assert_outcomes(passed=1)


def test_all_quick_tests_have_a_budget(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(pytester, WORKS).ret == pytest.ExitCode.OK
    monkeypatch.setattr(lanes, "BUDGET", 0.04)
    done = run(pytester, WORKS)
    done.assert_outcomes(passed=1)
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(["1 quick tests took 0 CPU seconds, MORE THAN 0: mark the longest as slow"])


def test_what_needs_a_server_is_slow(pytester: pytest.Pytester) -> None:
    run(pytester, NEEDS_A_SERVER, "-m", "not slow").assert_outcomes(passed=1, deselected=1)


def test_properties_count_as_with_few_examples() -> None:
    def holds(n: int) -> None: ...

    usual = given(st.integers())
    assert lanes.share_of_examples(holds) == 1.0
    assert lanes.share_of_examples(usual(holds)) == settings().max_examples / lanes.QUICK_EXAMPLES
    assert lanes.share_of_examples(settings(max_examples=17)(usual(holds))) == 1.0
