"""The display of one desktop, either its own or the user's, with the keeper that owns the programs started on it."""

import asyncio
import fcntl
import json
import os
import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from midcourse.errors import TaskInvalid
from midcourse.files import private_folder
from midcourse.worlds.desktop import keeper

OWN = "own"
"""The value of the option `display` for a display that is started for this world and that no user sees."""
MARK = "MIDCOURSE_DESKTOP"
"""The environment variable that names the folder of the desktop in each of its programs, so that leftover programs can be found."""
NEEDED = {"Xvfb": "xvfb", "openbox": "openbox", "dbus-daemon": "dbus", "xdotool": "xdotool"}
"""The programs that an own display needs, with their Debian packages."""
PASSED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "LD_LIBRARY_PATH", "TEST_RUN_FOLDER")
"""The environment variables that programs get from this process. Keys and tokens are not among them."""


class ProgramNotStarted(Exception):
    """A program cannot be started; the message says why."""


def find_missing_packages(display: str = OWN) -> tuple[str, ...]:
    """Return the Debian packages that a desktop on this display needs and that are not installed."""
    wanted = NEEDED if display == OWN else {"xdotool": "xdotool"}
    missing = [package for program, package in wanted.items() if shutil.which(program) is None]
    has_launcher = any(map(os.path.exists, keeper.LAUNCHERS))
    return tuple(missing if has_launcher else [*missing, "at-spi2-core"])


def format_apt_line(packages: Sequence[str]) -> str:
    return f"apt install --no-install-recommends {' '.join(packages)}"


@dataclass(frozen=True, kw_only=True)
class Size:
    width: int = 1280
    height: int = 800


class Display:
    """A running display, and the environment with which programs reach it. `close` ends every program that was started on it."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path, lock: Path, *, own: bool) -> None:
        self._process = process
        self._lock = lock
        self._asking = asyncio.Lock()
        self.folder = folder
        self.own = own
        self.environment: dict[str, str] = {}

    @classmethod
    async def start(cls, display: str, home: Path, size: Size) -> "Display":
        """Start the display and its keeper.

        Raise `TaskInvalid` if a Debian package is missing, `ConnectionError` if the display does not start.
        """
        if missing := find_missing_packages(display):
            raise TaskInvalid(
                f"the desktop world needs programs that no Python package brings: {format_apt_line(missing)}"
            )
        base = await asyncio.to_thread(_prepare_base)
        name = secrets.token_hex(4)
        lock, folder = base / f"{name}.lock", base / name
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(handle, fcntl.LOCK_EX)  # the keeper shares this lock; it is free when both have ended
        try:
            private_folder(folder)
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                "-S",
                keeper.__file__,
                str(folder),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                pass_fds=(handle,),
                start_new_session=True,
            )
        finally:
            os.close(handle)
        started = cls(process, folder, lock, own=display == OWN)
        try:
            await started._prepare(display, home, size)
        except BaseException:
            await started.close()
            raise
        return started

    async def _prepare(self, display: str, home: Path, size: Size) -> None:
        base = {name: os.environ[name] for name in PASSED if name in os.environ} | {MARK: str(self.folder)}
        if not self.own:
            self.environment = {**os.environ, **base, "DISPLAY": display}
            return
        runtime = private_folder(self.folder / "run")
        base |= {
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(runtime),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local" / "share"),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "GSETTINGS_BACKEND": "keyfile",
            "GTK_A11Y": "atspi",
            "NO_AT_BRIDGE": "0",
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
            "GDK_BACKEND": "x11",
        }
        base.setdefault("LANG", "C.UTF-8")
        answer = await self._ask({"serve": {"width": size.width, "height": size.height}, "environment": base})
        if "error" in answer:
            raise ConnectionError(f"the desktop does not start: {answer['error']}")
        self.environment = answer["environment"]

    async def run(self, command: Sequence[str], more: Mapping[str, str] | None = None) -> int:
        """Start a program and return its process id. Raise `ProgramNotStarted` if that fails."""
        answer = await self._ask({"start": list(command), "environment": {**self.environment, **(more or {})}})
        if "error" in answer:
            raise ProgramNotStarted(answer["error"])
        return answer["pid"]

    async def is_running(self, pid: int) -> bool:
        return (await self._ask({"running": pid}))["running"]

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def _ask(self, question: Mapping[str, object]) -> dict[str, Any]:
        writer, reader = self._process.stdin, self._process.stdout
        if writer is None or reader is None:
            raise ConnectionError("the keeper of the desktop has no pipes")
        async with self._asking:
            try:
                writer.write(json.dumps(question).encode() + b"\n")
                await writer.drain()
                line = await reader.readline()
            except OSError as problem:
                raise ConnectionError(f"the keeper of the desktop has ended: {problem}") from problem
        if not line:
            raise ConnectionError("the keeper of the desktop has ended")
        return json.loads(line)

    async def close(self) -> None:
        """End all programs and remove the folder. It is safe to call this twice."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        await self._process.wait()
        await asyncio.to_thread(_clean_up, self._lock)


def _prepare_base() -> Path:
    """Return the folder of all desktops of this user, after removing what killed ones have left there."""
    base = Path(tempfile.gettempdir()) / f"midcourse-desktop-{os.getuid()}"
    private_folder(base)
    if base.stat().st_uid != os.getuid():
        raise ConnectionError(f"{base} belongs to another user")
    for lock in base.glob("*.lock"):
        _clean_up(lock)
    return base


def _clean_up(lock: Path) -> None:
    """End the programs that a desktop has left and remove its folder, unless its owner or its keeper still lives."""
    with suppress(FileNotFoundError):
        handle = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return
        else:
            folder = lock.with_suffix("")
            for pid in _find_processes(folder):
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            shutil.rmtree(folder, ignore_errors=True)
            lock.unlink(missing_ok=True)
        finally:
            os.close(handle)


def _find_processes(folder: Path) -> list[int]:
    wanted = f"{MARK}={folder}".encode()
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found
