"""The keeper of one desktop. It starts the display, buses and programs, and ends all of them when its owner ends.

`display.py` runs it as a program, `keeper.py FOLDER`, which needs only the standard library. It reads one JSON object per line from
its input and answers each with one. When the owner ends, even by kill -9, that input is closed. All processes below the keeper, even
those that detached, stay its descendants, because the kernel makes it the parent of orphans.

{"serve": {"width": …, "height": …}, "environment": {…}}   starts the display, its window manager and the buses
{"start": ["mousepad", …], "environment": {…}}             starts a program
{"running": PID}                                           whether a program still runs
"""

import ctypes
import json
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

_PR_SET_CHILD_SUBREAPER = 36
_FAMILY_WILD = 0xFFFF
_GLANCE = 0.5
"""Seconds between two checks whether the owner is still the parent, since a fork of the owner may keep the pipe open."""
_PATIENCE = 1.5
"""Seconds that processes have to end after SIGTERM. Then they get SIGKILL."""
_STARTS_WITHIN = 60.0
LAUNCHERS = ("/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi2-core/at-spi-bus-launcher")


class StartFailed(Exception):
    """A part of the desktop did not start."""


class Keeper:
    """All processes of one desktop."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []
        """The process objects. They are kept only so that they are not deleted: `reap` collects the processes."""
        self.ended: set[int] = set()

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        try:
            environment = cast(dict[str, str], asked.get("environment", {}))
            if "serve" in asked:
                return self.serve(asked["serve"], environment)
            if "start" in asked:
                return {"pid": self.start(asked["start"], environment)}
            self.reap()
            return {"running": asked["running"] not in self.ended}
        except (OSError, StartFailed) as problem:
            return {"error": str(problem)}

    # --- starting

    def serve(self, size: dict[str, int], environment: dict[str, str]) -> dict[str, Any]:
        """Start the display, the session bus, the accessibility bus and the window manager. Return how to reach them."""
        authority = self.folder / "authority"
        authority.write_bytes(_make_cookie())
        screen = f"{size['width']}x{size['height']}x24"
        reading, writing = os.pipe()
        command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", screen, "-fbdir", str(self.folder)]
        command += ["-nolisten", "tcp", "-noreset", "-auth", str(authority)]
        self.start(command, environment, pass_fds=(writing,))
        os.close(writing)
        number = _read_line(reading, "Xvfb")
        bus = f"unix:path={self.folder / 'bus'}"
        environment = environment | {
            "DISPLAY": f":{number}",
            "XAUTHORITY": str(authority),
            "DBUS_SESSION_BUS_ADDRESS": bus,
        }
        self.start(["dbus-daemon", "--session", "--nofork", "--nosyslog", f"--address={bus}"], environment)
        _wait_for(self.folder / "bus", "dbus-daemon")
        self.start(["openbox"], environment)
        launcher = next((path for path in LAUNCHERS if os.path.exists(path)), LAUNCHERS[0])
        self.start([launcher, "--launch-immediately", "--a11y=1"], environment)
        return {"environment": environment}

    def start(self, command: list[str], environment: dict[str, str], pass_fds: tuple[int, ...] = ()) -> int:
        with (self.folder / "programs.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                env=environment,
                cwd=environment.get("HOME", "/"),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=pass_fds,
                start_new_session=True,
            )
        self.started.append(process)
        return process.pid

    # --- ending

    def reap(self) -> None:
        """Collect every process that has ended, orphans too."""
        with suppress(ChildProcessError):
            while pid := os.waitpid(-1, os.WNOHANG)[0]:
                self.ended.add(pid)

    def end(self) -> None:
        """End all descendants, the latest first: by SIGTERM, then by SIGKILL."""
        for by, seconds in ((signal.SIGTERM, _PATIENCE), (signal.SIGKILL, _PATIENCE)):
            for pid in reversed(list_descendants(os.getpid())):
                with suppress(OSError):
                    os.kill(pid, by)
            until = time.monotonic() + seconds
            while list_descendants(os.getpid()) and time.monotonic() < until:
                self.reap()
                time.sleep(0.01)
        shutil.rmtree(self.folder, ignore_errors=True)


def list_descendants(root: int) -> list[int]:
    """Return all processes below this one, parents first."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError, IndexError, ValueError):
                status = Path("/proc", entry, "stat").read_text(errors="replace")
                children.setdefault(int(status.rpartition(")")[2].split()[1]), []).append(int(entry))
    found: list[int] = []
    queue = [root]
    while queue:
        below = children.get(queue.pop(0), [])
        found += below
        queue += below
    return found


def _make_cookie() -> bytes:
    """Return an X authority file with a random key that allows its holder to connect to any display."""
    fields = (b"", b"", b"MIT-MAGIC-COOKIE-1", secrets.token_bytes(16))
    return _FAMILY_WILD.to_bytes(2, "big") + b"".join(len(each).to_bytes(2, "big") + each for each in fields)


def _read_line(handle: int, program: str) -> str:
    line = b""
    until = time.monotonic() + _STARTS_WITHIN
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([handle], (), (), max(0.0, until - time.monotonic()))
        read = os.read(handle, 1) if ready else b""
        if not read:
            raise StartFailed(f"{program} did not start")
        line += read
    os.close(handle)
    return line.decode().strip()


def _wait_for(path: Path, program: str) -> None:
    until = time.monotonic() + _STARTS_WITHIN
    while not path.exists():
        if time.monotonic() > until:
            raise StartFailed(f"{program} did not start")
        time.sleep(0.005)


def _leave(_signal: int, _frame: object) -> None:
    sys.exit(0)


def main(folder: str) -> None:
    libc: Any = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    owner, keeper, pending = os.getppid(), Keeper(Path(folder)), b""
    try:
        while os.getppid() == owner:
            ready, _, _ = select.select([0], (), (), _GLANCE)
            keeper.reap()
            read = os.read(0, 65536) if ready else None
            if read == b"":
                break
            pending += read or b""
            *lines, pending = pending.split(b"\n")
            for line in lines:
                os.write(1, json.dumps(keeper.answer(json.loads(line))).encode() + b"\n")
    finally:
        keeper.end()


if __name__ == "__main__":
    main(sys.argv[1])
