"""Makes a home as an earlier version left it: one run finished, one killed at its question, one killed right after its order was stored.

    git worktree add ../earlier v0.1.0
    python -m tests.upgrade.make_home ../earlier tests/fixtures/homes/0.1.0.tar.gz

The code of the earlier checkout writes it; only the packages are those of the present environment.
"""

import gzip
import os
import pty
import re
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PATIENCE = 120.0
LONG = ("--set", "approval_seconds=3e9")
"""The question is still open when the tests run, years later."""


def midcourse(source: Path, folder: Path, *words: str) -> "subprocess.Popen[bytes]":
    """Start a command of the earlier version in a terminal."""
    environment = {**os.environ, "PYTHONPATH": str(source / "src"), "MIDCOURSE_HOME": ".midcourse", "LOGNAME": "ada"}
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "midcourse", *words]
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    threading.Thread(target=drain, args=(ours,), daemon=True).start()
    return process


def drain(terminal: int) -> None:
    """Read what is printed, since a process whose terminal is full waits."""
    with suppress(OSError):
        while os.read(terminal, 65536):
            pass


def kill_when(condition: Callable[[], bool], process: "subprocess.Popen[bytes]") -> None:
    give_up_at = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None
        assert time.monotonic() < give_up_at
        time.sleep(0.02)
    process.kill()
    process.wait()


def has_question(database: Path, run: str) -> bool:
    with suppress(sqlite3.Error), sqlite3.connect(f"file:{database}?mode=ro", uri=True) as read:
        return bool(read.execute("SELECT 1 FROM questions WHERE run = ?", (run,)).fetchall())
    return False


def make(source: Path, folder: Path) -> None:
    home = folder / ".midcourse"
    example = (source / "examples" / "tasks" / "order.toml").read_text()
    task = re.sub(r"^#.*\n", "", example, flags=re.MULTILINE)
    task = task.replace('goal = "Order one desk lamp"', 'goal = "Order one desk lamp"\nkey = "order $input.reference"')
    (folder / "lamp.toml").write_text(task)
    assert midcourse(source, folder, "run", "lamp.toml", "--run-id", "finished").wait(PATIENCE) == 0
    words = ("run", "lamp.toml", "--run-id", "waiting", "--input", "reference=PO-1002", "--approvals", "always", *LONG)
    kill_when(lambda: has_question(home / "midcourse.db", "waiting"), midcourse(source, folder, *words))
    slow = ("--set", "step_delay_seconds=1")
    words = ("run", "lamp.toml", "--run-id", "interrupted", "--input", "reference=PO-1003", *slow)
    log = home / "runs" / "interrupted" / "effects.jsonl"
    kill_when(lambda: log.exists() and log.stat().st_size > 0, midcourse(source, folder, *words))
    for shop in home.glob("runs/*/world/*.log"):  # those of the killed runs are still there
        with suppress(ProcessLookupError):
            os.kill(int(re.findall(r"in process (\d+)", shop.read_text())[0]), 9)


def pack(folder: Path, archive: Path, *, sessions: bool = False) -> None:
    """All files but locks and what SQLite makes again, and open sessions only if asked; the same files give the same bytes."""

    def plain(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if info.name.endswith(("-shm", ".lock")) or "/world" in info.name:
            return None
        if ".sessions" in info.name and not sessions:
            return None
        info.uid = info.gid = info.mtime = 0
        info.uname = info.gname = ""
        return info

    archive.parent.mkdir(parents=True, exist_ok=True)
    with gzip.GzipFile(archive, "wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for path in sorted(folder.rglob("*")):
            tar.add(path, path.relative_to(folder), recursive=False, filter=plain)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        make(Path(sys.argv[1]).resolve(), Path(made))
        pack(Path(made), Path(sys.argv[2]))
