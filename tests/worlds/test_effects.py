"""The log of effects: the back end of one world, or of many in several processes."""

import subprocess
import sys
from pathlib import Path

import pytest

from midcourse.worlds.simulated.effects import EffectLog, LoggedEffect, read_effects

WRITER = """
import sys
from midcourse.worlds.simulated.effects import EffectLog, LoggedEffect

log = EffectLog(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for number in range(int(sys.argv[3])):
    log.append(LoggedEffect(effect="note", at=1.0, values={"by": sys.argv[2], "number": number, "text": "x" * 5000}))
    print(number, flush=True)
"""


def note(number: int, at: float = 1.0) -> LoggedEffect:
    return LoggedEffect(effect="note", at=at, values={"number": number})


def test_effects_of_one_log_are_visible_in_another(tmp_path: Path) -> None:
    one, two = (EffectLog(str(tmp_path / "log.jsonl")) for _ in range(2))
    one.append(note(1))
    two.append(note(2))
    one.append(note(3))
    assert [each.get("number") for each in one.present(2.0)] == [1, 2, 3]
    assert one.present(2.0) == two.present(2.0) == read_effects(tmp_path / "log.jsonl")
    assert len(one) == len(two) == 3


def test_half_written_line_is_ignored_and_the_next_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = EffectLog(str(path))
    log.append(note(1))
    with path.open("a") as file:
        file.write('{"effect": "note", "at": 1.0, "num')
    assert len(log) == len(EffectLog(str(path))) == len(read_effects(path)) == 1
    log.append(note(2))
    assert [each.get("number") for each in log.present(2.0)] == [1, 2]
    assert read_effects(path) == log.present(2.0)


@pytest.mark.slow
def test_processes_that_write_at_once_and_are_killed_leave_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name, "150"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in "abc"
    ]
    for writer in writers:
        assert writer.stdout
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin
        writer.stdin.write("go\n")
        writer.stdin.flush()
    assert writers[2].stdout
    said = {"c": len([writers[2].stdout.readline() for _ in range(20)])}
    writers[2].kill()
    for name, writer in zip("abc", writers, strict=True):
        with writer:  # not `communicate`, which leaves out what `readline` has read ahead
            assert writer.stdout
            said[name] = said.get(name, 0) + len(writer.stdout.read().split())
    written = {name: [one.get("number") for one in read_effects(path) if one.get("by") == name] for name in "abc"}
    assert written["a"] == written["b"] == list(range(150))
    assert said["c"] <= len(written["c"]) <= said["c"] + 1
    assert written["c"] == list(range(len(written["c"])))
