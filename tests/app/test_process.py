"""A process is known by its id and when it began; neither alone will do."""

import os
import signal
import subprocess
import sys
from dataclasses import replace

from midcourse.app.fleet import process as module
from midcourse.app.fleet.process import Process, process_of

STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); print('there', flush=True); time.sleep(60)"


def known(pid: int) -> Process:
    process = process_of(pid)
    assert process is not None
    return process


def test_this_process_is_alive_and_not_another_of_the_same_id():
    ours = known(os.getpid())
    assert ours.alive
    assert not replace(ours, began="some other time").alive


def test_both_ways_to_ask_the_system_tell_the_living_from_the_dead():
    with subprocess.Popen(["sleep", "60"]) as child:
        for ask in (module._from_proc, module._from_ps):
            assert ask(child.pid)
            assert ask(child.pid) == ask(child.pid)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert [module._from_proc(child.pid), module._from_ps(child.pid)] == ["", ""]


def test_one_that_asks_nothing_is_stopped_gently_and_one_that_will_not_go_is_made_to():
    with subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE) as stubborn:
        assert stubborn.stdout is not None
        stubborn.stdout.readline()
        process = known(stubborn.pid)
        process.stop(0.1)
        assert not process.alive
        process.stop(0.1)  # once more is no error


def test_a_process_that_took_over_the_id_is_left_alone():
    with subprocess.Popen(["sleep", "60"]) as child:
        replace(known(child.pid), began="before").stop(0.0)
        assert known(child.pid).alive
        child.send_signal(signal.SIGKILL)
