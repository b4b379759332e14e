"""The real thing: a process in a pseudo-terminal, and somebody typing."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.forked import start_in_terminal

pytestmark = pytest.mark.slow

SLOW = ("--set", "step_delay_seconds=0.3")


class Person:
    """Sits at a terminal of 80 by 24 and waits for words before typing.

    A thread reads what is printed: a process whose terminal is full waits, also while the test waits for something else of it.
    """

    patience = 600.0

    def __init__(self, process: BaseProcess, terminal: int) -> None:
        self._process = process
        self._terminal = terminal
        self._seen = 0
        self._news = threading.Condition()
        self._left = False
        self.output = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def sees(self, words: str) -> None:
        """Waits until this is printed, after what was seen before."""
        with self._news:
            seen = self._news.wait_for(lambda: words in self.output[self._seen :], self.patience)
        assert seen, f"never saw {words!r} in {self.output[self._seen :]!r}"
        self._seen = self.output.index(words, self._seen) + len(words)

    def types(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def leaves_with(self) -> int:
        self._process.join(self.patience)
        assert self._process.exitcode is not None, f"it does not end: {self.output[-2000:]!r}"
        while self._take(0.0):
            pass
        return self._process.exitcode

    def leave(self) -> None:
        self._left = True
        self._reader.join()

    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self._terminal)[3] & termios.ECHO)

    def _read(self) -> None:
        while not self._left:
            self._take(0.05)

    def _take(self, seconds: float) -> bool:
        """Read what is there within this time. Returns whether there was something."""
        ready, _, _ = select.select([self._terminal], [], [], seconds)
        with self._news:
            if not ready or not select.select([self._terminal], [], [], 0)[0]:
                return False
            try:
                read = os.read(self._terminal, 65536)
            except OSError:
                return False
            self.output += read.decode(errors="replace")
            self._news.notify_all()
            return bool(read)


@contextmanager
def sitting_at(folder: Path, *args: str, program: str = "midcourse", **environment: str) -> Iterator[Person]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    variables = {**os.environ, "TERM": "xterm-256color", **environment}
    process = start_in_terminal(program, *args, cwd=folder, environment=variables, terminal=os.ttyname(theirs))
    person = Person(process, ours)
    try:
        yield person
    finally:
        process.kill()
        process.join()
        person.leave()
        os.close(ours)
        os.close(theirs)


def result_of(home: Path, run_id: str) -> dict[str, object]:
    return json.loads((home / "runs" / run_id / "result.json").read_text())


def test_an_order_is_approved_there_and_in_no_colour_if_none_is_wanted(tmp_path: Path, home: Path, order: str) -> None:
    with sitting_at(tmp_path, "run", order, "--run-id", "order", NO_COLOR="1") as person:
        person.sees("May this be done?")
        person.sees("1 Harbour Street")
        person.sees("y/r/n/g/t>")
        assert person.echoes()
        person.types("y\n")
        person.sees("done, and verified")
        assert person.leaves_with() == 0
        assert person.output.rindex("\x1b[?25h") > person.output.rindex("\x1b[?25l"), "the cursor is back"
    assert result_of(home, "order")["success"] is True
    styles = re.findall(r"\x1b\[[\d;]*m", person.output)
    assert not [style for style in styles if re.search(r"\b(3[0-8]|9[0-7])\b", style)]


def test_keys_typed_before_the_question_do_not_answer_it(tmp_path: Path, home: Path, order: str) -> None:
    with sitting_at(tmp_path, "run", order, "--run-id", "order", *SLOW) as person:
        person.sees("Put one into the basket")
        person.types("y\ny\ny\n")
        person.sees("y/r/n/g/t>")
        person.types("n\n")
        person.sees("failed: it was not approved")
        assert person.leaves_with() == 1
    assert result_of(home, "order")["final_reason"] == "rejected"


def test_a_person_stops_a_run_in_doubt(tmp_path: Path, home: Path, doubtful_order: str) -> None:
    arguments = ("run", doubtful_order, "--run-id", "order", "--set", "approvals=never")
    with sitting_at(tmp_path, *arguments) as person:
        person.sees("Did this happen?")
        person.sees("h/d/s>")
        person.types("s\n")
        assert person.leaves_with() == 1
    assert result_of(home, "order")["final_reason"] == "needs_human"


def test_ctrl_c_pauses_and_lets_choose(tmp_path: Path, home: Path) -> None:
    with sitting_at(tmp_path, "run", "notepad", "--run-id", "note", *SLOW) as person:
        person.sees("first plan")
        assert not person.echoes()
        person.types("\x03")
        person.sees("Paused.")
        person.sees("r/g/t/c/q>")
        person.types("g\n")
        person.sees("Advice for the planner:")
        person.types("no hurry\n")
        person.sees("guidance: no hurry")
        person.sees("Plan 2")
        person.types("\x03")
        person.sees("r/g/t/c/q>")
        person.types("q\n")
        person.sees("midcourse resume note")
        assert person.leaves_with() == 130
        assert person.echoes()
    with sitting_at(tmp_path, "resume", "note", "--set", "step_delay_seconds=0") as person:
        person.sees("done, and verified")
        assert person.leaves_with() == 0
    assert result_of(home, "note")["success"] is True


def test_a_person_takes_over_and_gives_back(tmp_path: Path) -> None:
    with sitting_at(tmp_path, "run", "notepad", *SLOW) as person:
        person.sees("first plan")
        person.types("\x03")
        person.sees("r/g/t/c/q>")
        person.types("t\n")
        person.sees("The world is yours.")
        person.sees("Enter when you are done:")
        person.types("\n")
        person.sees("continuing")
        person.sees("done, and verified")
        assert person.leaves_with() == 0


def test_a_second_ctrl_c_leaves_at_once(tmp_path: Path) -> None:
    with sitting_at(tmp_path, "run", "notepad", "--set", "step_delay_seconds=5") as person:
        person.sees("doing: Press the Windows key")
        person.types("\x03")
        person.sees("pausing after this")
        person.types("\x03")
        person.sees("left before its end")
        assert person.leaves_with() == 130
        assert "Traceback" not in person.output


def test_ctrl_c_at_a_question_can_cancel(tmp_path: Path, home: Path, order: str) -> None:
    with sitting_at(tmp_path, "run", order, "--run-id", "order") as person:
        person.sees("y/r/n/g/t>")
        person.types("\x03")
        person.sees("b/c/q>")
        person.types("b\n")
        person.sees("y/r/n/g/t>")
        person.types("\x03")
        person.sees("b/c/q>")
        person.types("c\n")
        assert person.leaves_with() == 1
    assert result_of(home, "order")["final_reason"] == "cancelled"


def test_ctrl_d_leaves_the_question_for_later(tmp_path: Path, order: str) -> None:
    with sitting_at(tmp_path, "run", order, "--run-id", "order") as person:
        person.sees("y/r/n/g/t>")
        person.types("\x04")
        person.sees("midcourse resume order")
        assert person.leaves_with() == 130
    with sitting_at(tmp_path, "resume", "order") as person:
        person.sees("y/r/n/g/t>")
        person.types("y\n")
        assert person.leaves_with() == 0


def test_a_question_expires_and_leaves_the_keyboard_alone(tmp_path: Path, home: Path, order: str) -> None:
    with sitting_at(tmp_path, "run", order, "--run-id", "order", "--set", "approval_seconds=0.5") as person:
        person.sees("y/r/n/g/t>")
        person.types("half an ans")
        person.sees("failed: it was not approved")
        assert person.leaves_with() == 1
        assert person.echoes()
    assert result_of(home, "order")["final_detail"] == "place_order was not approved in time"


def test_with_json_the_question_goes_to_standard_error(tmp_path: Path, order: str) -> None:
    with sitting_at(tmp_path, "run", order, "--json") as person:
        person.sees("y/r/n/g/t>")
        person.types("y\n")
        assert person.leaves_with() == 0
    assert json.loads(person.output.splitlines()[-1])["success"] is True


def test_a_dumb_terminal_gets_lines(tmp_path: Path) -> None:
    with sitting_at(tmp_path, "run", "notepad", TERM="dumb") as person:
        assert person.leaves_with() == 0
    assert re.search(r" \d+:\d\d  done: Click Save", person.output)
    assert "\x1b" not in person.output


def test_tables_fit_the_terminal(tmp_path: Path, cli: Cli) -> None:
    cli("run", "notepad", "--run-id", "note", "--json")
    for args in (("runs",), ("settings",)):
        with sitting_at(tmp_path, *args) as person:
            assert person.leaves_with() == 0
        for line in person.output.splitlines():
            assert len(re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", line)) <= 80
