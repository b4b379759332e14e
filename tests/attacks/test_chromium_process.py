"""A page that breaks out of Chromium must meet its sandbox, and find no key and no secret in any environment."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from midcourse.worlds.browser import chromium
from midcourse.worlds.browser.chromium import minimal_environment

ROOT = Path(__file__).parents[2]
NOBODY = 65534
SECRETS = {
    "MIDCOURSE_SECRET_PIN": "S3CRET-4711",
    "OPENAI_API_KEY": "sk-S3CRET",
    "MIDCOURSE_DATABASE_URL": "postgresql://S3CRET@db",
}
CHILD = """
import asyncio, os, sys
import importlib.readers, playwright.async_api
from midcourse.worlds.browser import Browser
from tests.worlds.browser.site import Site

if len(sys.argv) > 2:  # only now: another account may not be able to read the modules of this one
    os.setgroups([]), os.setgid(int(sys.argv[2])), os.setuid(int(sys.argv[2]))

async def main():
    async with Site({"/": "<title>Page</title>"}).served() as site:
        browser = Browser(site.url, sandbox=sys.argv[1])
        try:
            await browser.open()
        except ConnectionError as error:
            print("failed", error, flush=True)
            return
        seen = await browser.observe()
        print("open", seen.surface.title, flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        await browser.close()

asyncio.run(main())
"""

linux = pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")


@dataclass(frozen=True)
class Process:
    pid: int
    command: bytes
    environment: bytes

    @property
    def kind(self) -> str:
        return self.command.partition(b"--type=")[2].replace(b"\0", b" ").partition(b" ")[0].decode()

    @property
    def seccomp(self) -> str:
        return Path(f"/proc/{self.pid}/status").read_text().partition("Seccomp:")[2].split()[0]

    @property
    def pid_namespace(self) -> str:
        return os.readlink(f"/proc/{self.pid}/ns/pid")


def below(ancestor: int) -> list[Process]:
    """All processes that this one started, and those that they did, the oldest first. Their ids may have wrapped around."""
    parents: dict[int, int] = {}
    started: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(") ")[2].split()
            except OSError:
                continue
            parents[int(folder.name)], started[int(folder.name)] = int(fields[1]), int(fields[19])
    family, found = {ancestor}, list[int]()
    while new := [pid for pid, parent in parents.items() if parent in family and pid not in family]:
        family |= set(new)
        found += new
    alive: list[Process] = []
    for pid in sorted(found, key=started.__getitem__):
        with suppress(OSError):  # it has ended meanwhile
            alive.append(Process(pid, _read(pid, "cmdline"), _read(pid, "environ")))
    return alive


def _read(pid: int, what: str) -> bytes:
    return Path(f"/proc/{pid}/{what}").read_bytes()


@contextmanager
def opened(
    home: Path, sandbox: str = "on", user: int | None = None, *, killed: bool = False, **more: str
) -> Generator[tuple[str, list[Process]]]:
    """A browser in a process of its own, with secrets in its environment. It is closed afterwards, or killed."""
    environment: Mapping[str, str] = {
        **os.environ,
        **SECRETS,
        **more,
        "HOME": str(home),
        "PYTHONPATH": f"{ROOT}/src:{ROOT}",
    }
    account = [] if user is None else [str(user)]
    with (
        (home / "log").open("w") as log,
        subprocess.Popen(
            [sys.executable, "-c", CHILD, sandbox, *account],
            env=environment,
            cwd=home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            said = process.stdout.readline()
            yield said, below(process.pid)
        finally:
            if killed:
                process.kill()
            process.communicate("\n", timeout=600)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder that another account can use, too."""
    folder = tmp_path / "home"
    folder.mkdir()
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
        for above in folder.parents:
            if above.stat().st_uid == 0 and above.is_relative_to("/tmp"):
                above.chmod(above.stat().st_mode | 0o011)
    return folder


@linux
@pytest.mark.slow
def test_no_process_of_the_browser_has_a_secret_in_its_environment(home: Path) -> None:
    with opened(home, sandbox="off") as (said, processes):
        assert said == "open Page\n"
        kinds = {process.kind for process in processes}
        assert {"renderer", "utility"} <= kinds
        assert any(b"cli.js" in process.command for process in processes), "the driver is among them"
        assert [process.command for process in processes if b"S3CRET" in process.environment] == []


@linux
@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="it starts Chromium as another user")
def test_chromium_of_an_ordinary_user_runs_in_its_sandbox(home: Path) -> None:
    with opened(home, user=NOBODY) as (said, processes):
        assert said == "open Page\n", (home / "log").read_text()
        ours = [process for process in processes if b"chrom" in process.command]
        renderers = [process for process in ours if process.kind == "renderer"]
        assert renderers
        assert [process.command for process in ours if b"--no-sandbox" in process.command] == []
        assert {process.seccomp for process in renderers} == {"2"}, "the kernel filters their system calls"
        assert os.readlink("/proc/self/ns/pid") not in {process.pid_namespace for process in renderers}
        assert [process.command for process in processes if b"S3CRET" in process.environment] == []


@linux
@pytest.mark.slow
def test_a_missing_sandbox_is_reported(home: Path) -> None:
    with opened(home, sandbox="off") as (said, processes):
        assert said == "open Page\n"
        assert any(b"--no-sandbox" in process.command for process in processes)
    assert "Chromium runs without its sandbox (sandbox = off)" in (home / "log").read_text()


def test_root_gets_no_sandbox_and_is_told(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    chromium._warn_unsandboxed.cache_clear()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert [chromium._can_sandbox("on") for _ in range(2)] == [False, False]
    [record] = caplog.records
    assert "without its sandbox (not available for root: run this as another user)" in record.getMessage()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert chromium._can_sandbox("on")


def test_only_what_is_listed_passes_into_the_environment_of_a_browser() -> None:
    environment = {
        "PATH": "/bin",
        "LC_ALL": "C",
        "XDG_RUNTIME_DIR": "/run",
        "PGPASSWORD": "x",
        "AWS_SECRET": "x",
        "path": "y",
    }
    assert minimal_environment(environment) == {"PATH": "/bin", "LC_ALL": "C", "XDG_RUNTIME_DIR": "/run", "path": "y"}
    assert json.dumps(minimal_environment({**environment, **SECRETS})).find("S3CRET") == -1


@linux
@pytest.mark.slow
def test_a_browser_whose_process_is_killed_leaves_no_process_and_no_folder(home: Path) -> None:
    with TemporaryDirectory() as folder:
        with opened(home, sandbox="off", killed=True, TMPDIR=folder) as (said, processes):
            assert said == "open Page\n"
            assert processes
        give_up_at = time.monotonic() + 600
        while any(_is_same(process) for process in processes) or list(Path(folder).iterdir()):
            assert time.monotonic() < give_up_at, (processes, list(Path(folder).iterdir()))
            time.sleep(0.05)


def _is_same(process: Process) -> bool:
    """Whether it is still alive."""
    try:
        return _read(process.pid, "cmdline") == process.command != b""
    except OSError:
        return False
