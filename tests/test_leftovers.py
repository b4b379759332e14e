"""All processes that tests started are gone after the test run, however it ended."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.leftovers import FOLDER

ROOT = Path(__file__).parents[1]
STARTS_A_SERVER = """
import os, subprocess, sys, time
from pathlib import Path

def test_it():
    detached = "import os, time; os.fork() and os._exit(0); os.setsid(); print(os.getpid(), flush=True); time.sleep(600)"
    server = subprocess.Popen([sys.executable, "-c", detached], stdout=subprocess.PIPE, text=True)
    there = Path(__file__).with_name("started")
    there.with_suffix(".part").write_text(server.stdout.readline())
    there.with_suffix(".part").rename(there)
    if ENDS:
        return
    time.sleep(600)
"""


def started_run(folder: Path, *, ends: bool) -> "subprocess.Popen[bytes]":
    (folder / "test_it.py").write_text(STARTS_A_SERVER.replace("ENDS", str(ends)))
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "tests.leftovers", "-p", "xdist", "-n1", "-c", os.devnull, folder],
        cwd=ROOT,
        env={**os.environ, FOLDER: str(folder / "run"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def until(holds: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + 600
    while not holds():
        assert time.monotonic() < give_up_at
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.parametrize("how", [None, signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=str)
def test_no_process_outlives_the_run(tmp_path: Path, how: signal.Signals | None):
    run = started_run(tmp_path, ends=how is None)
    until((tmp_path / "started").exists)
    server = int((tmp_path / "started").read_text())
    if how is not None:
        os.killpg(run.pid, how)
    code = run.wait(120)
    assert how is not None or code == 0, "the guard stops what is left, not the run that has ended well"
    until(lambda: not (tmp_path / "run").exists())
    assert not psutil.pid_exists(server)
