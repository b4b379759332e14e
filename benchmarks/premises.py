"""Where a fleet's trials take place: PostgreSQL, Temporal and one world host, started anew, and a nursery of workers."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

from fleet_worker import Post, Site

from midcourse.codec import encode
from midcourse.runtimes.temporal import development as temporal
from midcourse.store.postgres import development as postgres
from midcourse.store.postgres.migrate import migrate
from midcourse.worlds.host.start import host_in
from midcourse.worlds.host.wire import Handle

HERE = Path(__file__).parent


class Premises:
    """Its servers can be taken away for a while. They come back where they were."""

    def __init__(self, site: Site, nursery: "Nursery", server: temporal.DevelopmentServer) -> None:
        self.site = site
        self.nursery = nursery
        self._server = server

    async def kill_temporal(self) -> None:
        """With -9, and start it again on what it has left on disk."""
        end_process(self._server.pid)
        port = int(self._server.address.rpartition(":")[2])
        folder = self.site.folder / "temporal"
        starting = asyncio.create_task(asyncio.to_thread(temporal.start_server, folder, port=port))
        try:
            await asyncio.shield(starting)
        finally:
            self._server = await starting  # whatever happens to us, somebody has to stop it

    async def crash_postgres(self) -> None:
        """As a power cut would, and start it again."""
        await asyncio.to_thread(postgres.stop, self.site.folder / "postgres", "immediate")
        await asyncio.to_thread(postgres.start, self.site.folder / "postgres")

    def close(self) -> None:
        self._server.stop()


@asynccontextmanager
async def premises_in(folder: Path) -> AsyncGenerator[Premises]:
    for name in ("errands", "deaths"):
        (folder / name).mkdir(parents=True)
    nursery = Nursery()
    url = await asyncio.to_thread(postgres.start, folder / "postgres")
    try:
        await asyncio.to_thread(migrate, url)
        server = await asyncio.to_thread(temporal.start_server, folder / "temporal")
        with _host(folder) as host:
            site = Site(folder=folder, temporal=server.address, postgres=url, host=host)
            premises = Premises(site, nursery, server)
            try:
                yield premises
            finally:
                nursery.close()
                premises.close()
    finally:
        await asyncio.to_thread(postgres.stop, folder / "postgres", "immediate")


class Nursery:
    """Where workers come from; see fleet_worker.py."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "fleet_worker.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def fork(self, post: Post) -> int:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(encode(post) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


@contextlib.contextmanager
def _host(folder: Path) -> Generator[Handle]:
    ready, log = folder / "host.json", folder / "host.log"
    words = [sys.executable, "-m", "midcourse", "host", "--worlds", "office:Office", "--ready", str(ready)]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*words, "--idle", "36000", "--grace", "2"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            env={**os.environ, "PYTHONPATH": str(HERE), "MIDCOURSE_HOME": str(folder)},
        )
    try:
        while not ready.exists():
            if process.poll() is not None:
                raise SystemExit(f"the host did not start: {log.read_text()}")
            time.sleep(0.05)
        yield host_in(ready)
    finally:
        process.terminate()
        process.wait()


def end_process(pid: int) -> None:
    """With -9. Returns when it is gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    while is_alive(pid):
        time.sleep(0.001)


def is_alive(pid: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)  # of our own children only we can notice that they are gone
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
