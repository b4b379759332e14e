"""Limits of the quick tests: all that are not marked `slow`, as `just test` runs them.

A quick test starts no process, needs no server and takes little CPU time; one that does more fails, here and in CI, until it is
cheaper or marked `slow`. All of them together have a budget, too, so that `just test` stays quick while tests are added. CPU
time depends little on what else runs on the machine.

The time of a property test is scaled to the number of examples of the profile `quick`.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

STARTS = frozenset({"subprocess.Popen", "os.posix_spawn", "tests.forked"})
"""Audit events of programs that are started."""
TINY = frozenset({"sleep", "true", "ldconfig", "uname"})
"""Programs that cost almost nothing."""
SERVERS = frozenset({"temporal", "s3", "postgres_server", "fleet_home", "local_model", "browser", "visitor"})
"""Fixtures with a server or a browser: a test that uses one is slow."""
PROPERTIES = Path(__file__).parent / "properties"
"""The folder of generated runs: a test with examples there is slow."""
QUICK_EXAMPLES = 50
CPU_SECONDS = 3.0
"""The limit of one test. Mark as slow what takes more than about 0.7, since a busy machine adds to it."""
BUDGET = 220.0
"""CPU seconds of all quick tests together. They took 87 on a quiet machine and 130 on a busy one of another make."""

_started: list[str] = []
_hooked = False


def pytest_configure(config: pytest.Config) -> None:
    global _hooked
    if not _hooked:  # an audit hook cannot be removed
        sys.addaudithook(_note_start)
        _hooked = True
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Budget(), "quick-budget")


def _note_start(event: str, arguments: tuple[Any, ...], starts: frozenset[str] = STARTS) -> None:
    """`starts` is a default argument because Python clears the names of the module when it ends."""
    if event in starts and not (arguments and os.path.basename(str(arguments[0])) in TINY) and not _is_importing():
        _started.append(f"{event} {str(arguments[:2])[:200]}")


def _is_importing() -> bool:
    """Whether a module is being imported: some start a process to find a library, once, in the first test that imports them."""
    frame = sys._getframe()
    while frame := frame.f_back:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
    return False


def pytest_itemcollected(item: pytest.Item) -> None:
    generated = PROPERTIES in item.path.parents and _has_examples(getattr(item, "function", None))
    if generated or SERVERS.intersection(getattr(item, "fixturenames", ())):
        item.add_marker("slow")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Any:
    _started.clear()
    return (yield)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    if item.get_closest_marker("slow"):
        return (yield)
    before = time.process_time()
    result = yield
    taken = (time.process_time() - before) / share_of_examples(getattr(item, "function", None))
    item.user_properties.append((Budget.NAME, taken))
    if complaint := complain(_started, taken):
        pytest.fail(f"{complaint}: make it cheaper, or mark it `slow`", pytrace=False)
    return result


def complain(started: list[str], taken: float) -> str | None:
    if started:
        return f"a quick test started a process ({started[0]})"
    if taken > CPU_SECONDS:
        return f"a quick test took {taken:.1f} CPU seconds, of at most {CPU_SECONDS}"
    return None


def share_of_examples(test: Any) -> float:
    """How many times more examples a test function has than under the profile `quick`."""
    if not _has_examples(test):
        return 1.0
    own: settings = test._hypothesis_internal_use_settings
    default = settings.default or settings()
    if own.max_examples != default.max_examples:
        return 1.0  # as many under each profile
    return default.max_examples / QUICK_EXAMPLES


def _has_examples(test: Any) -> bool:
    return getattr(test, "is_hypothesis_test", False)


class Budget:
    """The CPU time of the quick tests of all workers, summed up in the controlling process."""

    NAME = "quick CPU seconds"

    def __init__(self) -> None:
        self.taken, self.tests = 0.0, 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            for name, value in report.user_properties:
                if name == self.NAME:
                    self.taken += float(value)  # pyrefly: ignore[bad-argument-type]
                    self.tests += 1

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.taken > BUDGET and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.tests:
            compared = (
                f", MORE THAN {BUDGET:.0f}: mark the longest as slow" if self.taken > BUDGET else f" of {BUDGET:.0f}"
            )
            terminalreporter.write_line(f"{self.tests} quick tests took {self.taken:.0f} CPU seconds{compared}")
