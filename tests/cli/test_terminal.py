"""A real process in a pseudo-terminal, with a user who types."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.forked import start_in_terminal

pytestmark = pytest.mark.slow

SLOW = ("--set", "step_delay_seconds=0.3")


class TerminalUser:
    """A user at a terminal of 80 by 24, who waits for an output before typing.

    A thread reads the output all the time: a process whose terminal is full would block.
    """

    patience = 600.0

    def __init__(self, process: BaseProcess, terminal: int) -> None:
        self._process = process
        self._terminal = terminal
        self._seen = 0
        self._changed = threading.Condition()
        self._stopped = False
        self.output = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait_for(self, text: str) -> None:
        """Wait until this text is printed, after the text that was waited for before."""
        with self._changed:
            seen = self._changed.wait_for(lambda: text in self.output[self._seen :], self.patience)
        assert seen, f"{text!r} was not printed in {self.output[self._seen :]!r}"
        self._seen = self.output.index(text, self._seen) + len(text)

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def wait_for_exit(self) -> int:
        self._process.join(self.patience)
        assert self._process.exitcode is not None, f"it does not end: {self.output[-2000:]!r}"
        while self._read_output(0.0):
            pass
        return self._process.exitcode

    def stop(self) -> None:
        self._stopped = True
        self._reader.join()

    def is_echoing(self) -> bool:
        return bool(termios.tcgetattr(self._terminal)[3] & termios.ECHO)

    def _read(self) -> None:
        while not self._stopped:
            self._read_output(0.05)

    def _read_output(self, seconds: float) -> bool:
        """Read the output that arrives within this time. Returns whether there was any."""
        ready, _, _ = select.select([self._terminal], [], [], seconds)
        with self._changed:
            if not ready or not select.select([self._terminal], [], [], 0)[0]:
                return False
            try:
                read = os.read(self._terminal, 65536)
            except OSError:
                return False
            self.output += read.decode(errors="replace")
            self._changed.notify_all()
            return bool(read)


@contextmanager
def run_in_terminal(folder: Path, *args: str, program: str = "midcourse", **environment: str) -> Iterator[TerminalUser]:
    user_end, process_end = pty.openpty()
    fcntl.ioctl(process_end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    variables = {**os.environ, "TERM": "xterm-256color", **environment}
    process = start_in_terminal(program, *args, cwd=folder, environment=variables, terminal=os.ttyname(process_end))
    user = TerminalUser(process, user_end)
    try:
        yield user
    finally:
        process.kill()
        process.join()
        user.stop()
        os.close(user_end)
        os.close(process_end)


def read_result(home: Path, run_id: str) -> dict[str, object]:
    return json.loads((home / "runs" / run_id / "result.json").read_text())


def test_an_order_is_approved_there_and_in_no_colour_if_none_is_wanted(tmp_path: Path, home: Path, order: str) -> None:
    with run_in_terminal(tmp_path, "run", order, "--run-id", "order", NO_COLOR="1") as user:
        user.wait_for("May this be done?")
        user.wait_for("1 Harbour Street")
        user.wait_for("y/r/n/g/t>")
        assert user.is_echoing()
        user.type("y\n")
        user.wait_for("done, and verified")
        assert user.wait_for_exit() == 0
        assert user.output.rindex("\x1b[?25h") > user.output.rindex("\x1b[?25l"), "the cursor is back"
    assert read_result(home, "order")["success"] is True
    styles = re.findall(r"\x1b\[[\d;]*m", user.output)
    assert not [style for style in styles if re.search(r"\b(3[0-8]|9[0-7])\b", style)]


def test_keys_typed_before_the_question_do_not_answer_it(tmp_path: Path, home: Path, order: str) -> None:
    with run_in_terminal(tmp_path, "run", order, "--run-id", "order", *SLOW) as user:
        user.wait_for("Put one into the basket")
        user.type("y\ny\ny\n")
        user.wait_for("y/r/n/g/t>")
        user.type("n\n")
        user.wait_for("failed: it was not approved")
        assert user.wait_for_exit() == 1
    assert read_result(home, "order")["final_reason"] == "rejected"


def test_a_person_stops_a_run_in_doubt(tmp_path: Path, home: Path, doubtful_order: str) -> None:
    arguments = ("run", doubtful_order, "--run-id", "order", "--set", "approvals=never")
    with run_in_terminal(tmp_path, *arguments) as user:
        user.wait_for("Did this happen?")
        user.wait_for("h/d/s>")
        user.type("s\n")
        assert user.wait_for_exit() == 1
    assert read_result(home, "order")["final_reason"] == "needs_human"


def test_ctrl_c_pauses_and_lets_choose(tmp_path: Path, home: Path) -> None:
    with run_in_terminal(tmp_path, "run", "notepad", "--run-id", "note", *SLOW) as user:
        user.wait_for("first plan")
        assert not user.is_echoing()
        user.type("\x03")
        user.wait_for("Paused.")
        user.wait_for("r/g/t/c/q>")
        user.type("g\n")
        user.wait_for("Advice for the planner:")
        user.type("no hurry\n")
        user.wait_for("guidance: no hurry")
        user.wait_for("Plan 2")
        user.type("\x03")
        user.wait_for("r/g/t/c/q>")
        user.type("q\n")
        user.wait_for("midcourse resume note")
        assert user.wait_for_exit() == 130
        assert user.is_echoing()
    with run_in_terminal(tmp_path, "resume", "note", "--set", "step_delay_seconds=0") as user:
        user.wait_for("done, and verified")
        assert user.wait_for_exit() == 0
    assert read_result(home, "note")["success"] is True


def test_a_person_takes_over_and_gives_back(tmp_path: Path) -> None:
    with run_in_terminal(tmp_path, "run", "notepad", *SLOW) as user:
        user.wait_for("first plan")
        user.type("\x03")
        user.wait_for("r/g/t/c/q>")
        user.type("t\n")
        user.wait_for("You have taken over the world.")
        user.wait_for("Enter when you are done:")
        user.type("\n")
        user.wait_for("continuing")
        user.wait_for("done, and verified")
        assert user.wait_for_exit() == 0


def test_a_second_ctrl_c_leaves_at_once(tmp_path: Path) -> None:
    with run_in_terminal(tmp_path, "run", "notepad", "--set", "step_delay_seconds=5") as user:
        user.wait_for("doing: Press the Windows key")
        user.type("\x03")
        user.wait_for("pausing after this")
        user.type("\x03")
        user.wait_for("left before its end")
        assert user.wait_for_exit() == 130
        assert "Traceback" not in user.output


def test_ctrl_c_at_a_question_can_cancel(tmp_path: Path, home: Path, order: str) -> None:
    with run_in_terminal(tmp_path, "run", order, "--run-id", "order") as user:
        user.wait_for("y/r/n/g/t>")
        user.type("\x03")
        user.wait_for("b/c/q>")
        user.type("b\n")
        user.wait_for("y/r/n/g/t>")
        user.type("\x03")
        user.wait_for("b/c/q>")
        user.type("c\n")
        assert user.wait_for_exit() == 1
    assert read_result(home, "order")["final_reason"] == "cancelled"


def test_ctrl_d_leaves_the_question_for_later(tmp_path: Path, order: str) -> None:
    with run_in_terminal(tmp_path, "run", order, "--run-id", "order") as user:
        user.wait_for("y/r/n/g/t>")
        user.type("\x04")
        user.wait_for("midcourse resume order")
        assert user.wait_for_exit() == 130
    with run_in_terminal(tmp_path, "resume", "order") as user:
        user.wait_for("y/r/n/g/t>")
        user.type("y\n")
        assert user.wait_for_exit() == 0


def test_a_question_expires_and_leaves_the_keyboard_alone(tmp_path: Path, home: Path, order: str) -> None:
    with run_in_terminal(tmp_path, "run", order, "--run-id", "order", "--set", "approval_seconds=0.5") as user:
        user.wait_for("y/r/n/g/t>")
        user.type("half an ans")
        user.wait_for("failed: it was not approved")
        assert user.wait_for_exit() == 1
        assert user.is_echoing()
    assert read_result(home, "order")["final_detail"] == "place_order was not approved in time"


def test_with_json_the_question_goes_to_standard_error(tmp_path: Path, order: str) -> None:
    with run_in_terminal(tmp_path, "run", order, "--json") as user:
        user.wait_for("y/r/n/g/t>")
        user.type("y\n")
        assert user.wait_for_exit() == 0
    assert json.loads(user.output.splitlines()[-1])["success"] is True


def test_a_dumb_terminal_gets_lines(tmp_path: Path) -> None:
    with run_in_terminal(tmp_path, "run", "notepad", TERM="dumb") as user:
        assert user.wait_for_exit() == 0
    assert re.search(r" \d+:\d\d  done: Click Save", user.output)
    assert "\x1b" not in user.output


def test_tables_fit_the_terminal(tmp_path: Path, cli: Cli) -> None:
    cli("run", "notepad", "--run-id", "note", "--json")
    for args in (("runs",), ("settings",)):
        with run_in_terminal(tmp_path, *args) as user:
            assert user.wait_for_exit() == 0
        for line in user.output.splitlines():
            assert len(re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", line)) <= 80


def test_a_job_in_the_background_leaves_the_terminal_alone(tmp_path: Path) -> None:
    """A shell stops a job that was started with `&` as soon as the job changes a mode of the terminal."""
    shell, terminal = pty.fork()
    if shell == 0:
        os.chdir(tmp_path)
        os.execvp("sh", ["sh", "-mc", f"{sys.executable} -m midcourse run notepad --run-id behind & wait"])
    reader = threading.Thread(target=_read_to_end, args=(terminal,), daemon=True)
    reader.start()
    assert os.waitstatus_to_exitcode(os.waitpid(shell, 0)[1]) == 0
    os.close(terminal)
    assert read_result(tmp_path / ".midcourse", "behind")["final_reason"] == "goal_reached"


def _read_to_end(terminal: int) -> None:
    with suppress(OSError):  # the last process that had the terminal open has ended
        while os.read(terminal, 65536):
            pass
