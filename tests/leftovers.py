"""A guard process that stops all processes of a test run when the run ends, even by SIGKILL; detached processes, too.

The run has a folder, named in the environment of every process that the tests start. The guard, in its own session, reads from
a pipe that only the controlling pytest process holds. When that ends, the guard stops all processes whose environment names the
folder, with their children, and removes the folder.

Run as a program, this file is the guard: `leftovers.py FOLDER PID`, with the pipe as its input. PID is the controlling pytest
process, which ends by itself: its own environment may name the folder, too.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

FOLDER = "TEST_RUN_FOLDER"
"""Not named MIDCOURSE_*, because tests remove such variables from the environment. The caller of pytest may name a folder that
does not exist yet, and wait until it is removed again."""
PATIENCE = 5.0
"""Seconds between SIGTERM and SIGKILL."""


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        return  # a worker of pytest-xdist: its controller has a guard
    folder = os.environ.get(FOLDER, "")
    if folder and not Path(folder).exists():
        Path(folder).mkdir(parents=True)
    else:  # none was named, or this pytest was started by a test of another one
        folder = os.environ[FOLDER] = tempfile.mkdtemp(prefix="midcourse-")
    guard = subprocess.Popen(
        [sys.executable, __file__, folder, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    config.add_cleanup(lambda: _dismiss(guard))


def run_folder() -> Path:
    """The folder of this test run, shared by all its workers. It is removed at the end."""
    return Path(os.environ[FOLDER])


def _dismiss(guard: "subprocess.Popen[bytes]") -> None:
    assert guard.stdin
    guard.stdin.close()
    guard.wait(60)


def stop_leftovers(folder: str, controller: int) -> None:
    """End every process of the run that is left, except this one and the controller."""
    left = _processes_of(folder, controller)
    for stop in (psutil.Process.terminate, psutil.Process.kill):
        for process in left:
            with suppress(psutil.NoSuchProcess):
                stop(process)
        psutil.wait_procs(left, PATIENCE)
        left = _processes_of(folder, controller)  # also those that were started meanwhile


def _processes_of(folder: str, controller: int) -> list[psutil.Process]:
    found: set[psutil.Process] = set()
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(FOLDER) == folder:
                found |= {process, *process.children(recursive=True)}
    return [process for process in found if process.pid not in (os.getpid(), controller)]


if __name__ == "__main__":
    sys.stdin.read()
    stop_leftovers(sys.argv[1], int(sys.argv[2]))
    for link in Path(sys.argv[1]).rglob("postgres"):
        if link.is_symlink():  # root's server keeps its data elsewhere
            shutil.rmtree(link.resolve(), ignore_errors=True)
    shutil.rmtree(sys.argv[1], ignore_errors=True)
