"""A process is identified by its id and its start time; neither alone is enough."""

import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from midcourse.process import Process, find_process

STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); print('there', flush=True); time.sleep(60)"


def known(pid: int) -> Process:
    process = find_process(pid)
    assert process is not None
    return process


def test_this_process_is_alive_and_not_another_of_the_same_id():
    ours = known(os.getpid())
    assert ours.alive
    assert not replace(ours, began="1000000000.00").alive


def test_a_process_that_was_killed_and_not_waited_for_is_not_alive():
    with subprocess.Popen(["sleep", "60"]) as child:
        process = known(child.pid)
        assert process.alive
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not process.alive
        assert find_process(child.pid) is None


@pytest.mark.slow
def test_a_process_that_ignores_sigterm_is_killed():
    with subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE) as stubborn:
        assert stubborn.stdout is not None
        stubborn.stdout.readline()
        process = known(stubborn.pid)
        process.stop(0.1)
        assert not process.alive
        process.stop(0.1)  # stopping it again is not an error


def test_a_process_that_took_over_the_id_is_left_alone():
    with subprocess.Popen(["sleep", "60"]) as child:
        replace(known(child.pid), began="written by an earlier version").stop(0.0)
        assert known(child.pid).alive
        child.send_signal(signal.SIGKILL)
