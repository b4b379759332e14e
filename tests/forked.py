"""Processes that have imported everything when they start: forked from a server that did so once.

`python -m midcourse` spends more than a second on imports, which is longer than most tests need it for. A forked process is just as
isolated: it can be killed, and its state is not shared. A test about a fresh interpreter, for example about
its imports, has to start one.
"""

import fcntl
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import termios
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, Any, TypeAlias

PATIENCE = 600.0
Pipe: TypeAlias = "Connection[Any, Any]"
_PRELOADED = (
    *(
        "midcourse.cli.session.durable",
        "midcourse.cli.commands.fleet.host",
        "midcourse.cli.commands.resume",
        "midcourse.cli.commands.run",
        "midcourse.cli.commands.records.show",
    ),
    *(
        "midcourse.fleet.connection",
        "midcourse.llm.roles.planner",
        "midcourse.server.start",
        "midcourse.testing.sites",
        "midcourse.worlds.browser",
    ),
    *("playwright.async_api", "pydantic_ai.models.openai", "tests.chaos.dying_order", "tests.undo.files"),
)
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(list(_PRELOADED))


class Forked:
    """A forked process with the part of the interface of `subprocess.Popen` that tests use."""

    def __init__(self, *words: str, cwd: Path, errors: bool = True) -> None:
        """Without `errors`, stderr is discarded, so that its pipe cannot fill up."""
        (out, out_end), (err, err_end) = PROCESSES.Pipe(duplex=False), PROCESSES.Pipe(duplex=False)
        ends = (out_end, err_end if errors else None)
        self._process = PROCESSES.Process(target=_run_piped, args=(words, str(cwd), dict(os.environ), *ends))
        _start(self._process)
        out_end.close()
        err_end.close()
        self.stdout, self.stderr = (open(os.dup(end.fileno())) for end in (out, err))  # noqa: SIM115

    def __enter__(self) -> "Forked":
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        self.stderr.close()
        self._process.join(PATIENCE)

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float = PATIENCE) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout)
        return self._process.exitcode

    def communicate(self, timeout: float = PATIENCE) -> tuple[str, str]:
        """Wait for its end and return stdout and stderr."""
        with ThreadPoolExecutor(1) as threads:  # otherwise one pipe may fill up while the other is read
            errors = threads.submit(self.stderr.read)
            out, err = self.stdout.read(), errors.result(timeout)
        self.wait(timeout)
        return out, err

    def send_signal(self, number: int) -> None:
        if self._process.exitcode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run_forked(
    *words: str, cwd: Path, environment: Mapping[str, str], umask: int | None = None, timeout: float = PATIENCE
) -> "subprocess.CompletedProcess[str]":
    """Run `midcourse ARGUMENTS`, `python FILE ARGUMENTS` or `python -m MODULE ARGUMENTS`, and wait for its end."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        process = PROCESSES.Process(target=_run, args=(words, str(cwd), dict(environment), str(out), str(err), umask))
        _start(process)
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(words, timeout, out.read_bytes(), err.read_bytes())
        return subprocess.CompletedProcess(words, process.exitcode, out.read_text(), err.read_text())


def start_forked(*words: str, cwd: Path, environment: Mapping[str, str], out: Path) -> BaseProcess:
    """Like `run_forked`, without waiting for the end; stdout goes to the file `out`."""
    process = PROCESSES.Process(target=_run, args=(words, str(cwd), dict(environment), str(out), f"{out}.err"))
    _start(process)
    return process


def start_in_terminal(*words: str, cwd: Path, environment: Mapping[str, str], terminal: str) -> BaseProcess:
    """Like `start_forked`, with this terminal as input, output and controlling terminal."""
    process = PROCESSES.Process(target=_run_in_terminal, args=(words, str(cwd), dict(environment), terminal))
    _start(process)
    return process


def execute_forked(command: list[str], out: IO[bytes]) -> int:
    """Run `python -m MODULE ARGUMENTS` in its own session with output to a file; processes that it started go on."""
    arguments = (("python", *command[1:]), str(Path.cwd()), dict(os.environ), out.name, sys.path)
    process = PROCESSES.Process(target=_run_detaching, args=arguments)
    _start(process)
    process.join(PATIENCE)
    assert process.exitcode is not None
    return process.exitcode


def _start(process: BaseProcess) -> None:
    sys.audit("tests.forked", process.name)  # for tests.lanes: Python has no audit event for a fork server
    process.start()


def _run(
    words: tuple[str, ...], cwd: str, environment: dict[str, str], out: str, err: str, umask: int | None = None
) -> None:
    if umask is not None:
        os.umask(umask)
    for number, path in enumerate((os.devnull, out, err)):
        opened = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    _become(words, cwd, environment)


def _run_detaching(words: tuple[str, ...], cwd: str, environment: dict[str, str], out: str, path: list[str]) -> None:
    os.setsid()
    os.umask(0o077)
    sys.path[:] = path
    opened, nothing = os.open(out, os.O_WRONLY | os.O_APPEND), os.open(os.devnull, os.O_RDWR)
    for number, file in enumerate((nothing, opened, opened)):
        os.dup2(file, number)
    _become(words, cwd, environment)


def _run_piped(words: tuple[str, ...], cwd: str, environment: dict[str, str], out: "Pipe", err: "Pipe | None") -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as if the tests ran in the foreground
    nothing = os.open(os.devnull, os.O_RDWR)
    for number, opened in enumerate((nothing, out.fileno(), nothing if err is None else err.fileno())):
        os.dup2(opened, number)
    out.close()
    if err is not None:
        err.close()
    _become(words, cwd, environment)


def _run_in_terminal(words: tuple[str, ...], cwd: str, environment: dict[str, str], terminal: str) -> None:
    os.setsid()
    # as after a login, even if SIGINT is ignored where the tests run
    signal.signal(signal.SIGINT, signal.default_int_handler)
    opened = os.open(terminal, os.O_RDWR)
    fcntl.ioctl(opened, termios.TIOCSCTTY, 0)
    for number in range(3):
        os.dup2(opened, number)
    os.close(opened)
    _become(words, cwd, environment)


def _become(words: tuple[str, ...], cwd: str, environment: dict[str, str]) -> None:
    sys.stdin, sys.stdout, sys.stderr = (open(number, mode) for number, mode in enumerate(("r", "w", "w")))  # noqa: SIM115
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    match words:
        case ("midcourse", *arguments):
            from midcourse.cli.main import main

            sys.argv = list(words)
            sys.exit(main(arguments))
        case ("python", "-m", module, *arguments):
            sys.argv = [module, *arguments]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case ("python", file, *_):
            sys.argv = list(words[1:])
            sys.path.insert(0, os.path.dirname(os.path.abspath(file)))
            runpy.run_path(file, run_name="__main__")
        case _:
            raise ValueError(f"neither midcourse nor python: {words}")
