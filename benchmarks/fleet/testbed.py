"""The servers of the fleet's trials: new PostgreSQL, Temporal and world host, and a pool of workers."""

import asyncio
import contextlib
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks import ROOT
from benchmarks.fleet.worker import Site, WorkerSpec
from midcourse.codec import encode
from midcourse.runtimes.temporal import development as temporal
from midcourse.store.postgres import development as postgres
from midcourse.store.postgres.migrate import migrate
from midcourse.worlds.host.wire import Handle, read_host_file

OFFICE = "benchmarks.fleet.world:Office"


class TestBed:
    """The servers of a trial. Each can be killed, and started again at the same address."""

    def __init__(self, site: Site, pool: "WorkerPool", server: temporal.DevelopmentServer, host: "Host") -> None:
        self.site = site
        self.pool = pool
        self._server = server
        self._host = host

    @property
    def temporal_pid(self) -> int:
        return self._server.pid

    async def kill_temporal(self, seconds: float = 0.0) -> None:
        """Kill Temporal with -9, and start it again with its files."""
        end_process(self._server.pid)
        await asyncio.sleep(seconds)
        port = int(self._server.address.rpartition(":")[2])
        folder = self.site.folder / "temporal"
        starting = asyncio.create_task(asyncio.to_thread(temporal.start_server, folder, port=port))
        try:
            await asyncio.shield(starting)
        finally:
            self._server = await starting  # also if this task is cancelled, since the server must be stopped later

    async def crash_postgres(self, seconds: float = 0.0) -> None:
        """Stop PostgreSQL as a power cut would, and start it again."""
        await asyncio.to_thread(postgres.stop, self.site.folder / "postgres", "immediate")
        await asyncio.sleep(seconds)
        await asyncio.to_thread(postgres.start, self.site.folder / "postgres")

    async def kill_host(self, seconds: float = 0.0) -> None:
        """Kill the host with -9, and start it again at the same address with the same token, but without its sessions."""
        self._host.kill()
        await asyncio.sleep(seconds)
        await asyncio.to_thread(self._host.start)

    def close(self) -> None:
        self._server.stop()


@asynccontextmanager
async def start_testbed(folder: Path, world: str) -> AsyncGenerator[TestBed]:
    """Start the servers and yield the test bed. `world` is the world that the host serves."""
    for name in ("assignments", "deaths"):
        (folder / name).mkdir(parents=True)
    pool = WorkerPool()
    url = await asyncio.to_thread(postgres.start, folder / "postgres")
    try:
        await asyncio.to_thread(migrate, url)
        server = await asyncio.to_thread(temporal.start_server, folder / "temporal")
        host = Host(folder, world)
        try:
            site = Site(folder=folder, temporal=server.address, postgres=url, host=await asyncio.to_thread(host.start))
            testbed = TestBed(site, pool, server, host)
            try:
                yield testbed
            finally:
                pool.close()
                testbed.close()
        finally:
            host.kill()
    finally:
        await asyncio.to_thread(postgres.stop, folder / "postgres", "immediate")


class WorkerPool:
    """Forks workers; see worker.py."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.fleet.worker"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def fork(self, spec: WorkerSpec) -> int:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(encode(spec) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


class Host:
    """The world host as a process that can be killed, and started again at the same address."""

    def __init__(self, folder: Path, world: str) -> None:
        self._folder = folder
        self._world = world
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._token = folder / "host-token"
        self._token.write_text(secrets.token_hex(16), encoding="utf-8")

    def start(self) -> Handle:
        """Start the host, and return when it listens."""
        ready, log = self._folder / "host.json", self._folder / "host.log"
        ready.unlink(missing_ok=True)
        command = [
            sys.executable,
            "-m",
            "midcourse",
            "fleet",
            "host",
            "--worlds",
            self._world,
            "--ready",
            str(ready),
        ]
        command += ["--port", str(self._port), "--token-file", str(self._token), "--idle", "36000", "--grace", "2"]
        command += ["--max-sessions", "100000"]  # its runs keep theirs while they wait
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd=ROOT,
                env={**os.environ, "MIDCOURSE_HOME": str(self._folder)},
            )
        while not ready.exists():
            if self._process.poll() is not None:
                raise SystemExit(f"the host did not start: {log.read_text()}")
            time.sleep(0.05)
        handle = read_host_file(ready)
        self._port = urlsplit(handle.url).port or 0
        return handle

    def kill(self) -> None:
        """With -9."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def end_process(pid: int) -> None:
    """Kill a process with -9, and return when it has ended."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    while is_alive(pid):
        time.sleep(0.001)


def is_alive(pid: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # only a parent can notice that its children ended
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
