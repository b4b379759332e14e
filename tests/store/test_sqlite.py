"""The SQLite store: the suite of every store, then what only several processes and a kill can show."""

import asyncio
import builtins
import fcntl
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from midcourse.codec import encode
from midcourse.domain.events import CancelAsked, Started
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.errors import FormatUnknown, RunBusy, RunUnknown
from midcourse.policy.audit import verify_log
from midcourse.ports.store import Store
from midcourse.store.sqlite import SqliteStore
from midcourse.store.sqlite.schema import FIRST, OLDEST, SCHEMA_VERSION
from midcourse.testing.conformance.driven_store import DrivingConformance, ListingConformance, RetentionConformance
from midcourse.testing.conformance.store import StoreConformance, make_asked

TASK = Task(goal="Count")

WRITER = """
import asyncio, itertools, sys
from dataclasses import replace
from midcourse.codec import encode
from midcourse.domain.events import CancelAsked, Started
from midcourse.domain.records.ledger import LedgerEntry
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.store.sqlite import SqliteStore

async def main(path, run_id, count):
    with SqliteStore(path) as store:
        run = Run(id=run_id)
        await store.begin(run, Task(goal="Count"))
        for seq in range(1, count + 1) if count else itertools.count(1):
            await store.write_ledger(run_id, LedgerEntry(command=seq, version=1, index=0, call=""))
            await store.save_turn(replace(run, seq=seq), Started(at=float(seq)), ())
            print(seq, flush=True)

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""

RACER = """
import asyncio, sys
from midcourse.domain.run import Run
from midcourse.domain.task import Task
from midcourse.errors import KeyTaken
from midcourse.store.sqlite import SqliteStore

async def main(path, name, keys):
    with SqliteStore(path) as store:
        print("ready", flush=True)
        sys.stdin.readline()
        for key in range(keys):
            try:
                await store.begin(Run(id=f"{name}-{key}"), Task(goal="Win", key=f"key {key}"))
            except KeyTaken:
                continue
            print(key, flush=True)

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""

CLAIMER = """
import sys
from midcourse.store.sqlite import SqliteStore

with SqliteStore(sys.argv[1]) as store, store.claim(sys.argv[2]):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def child(script: str, *arguments: object) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def kill(process: "subprocess.Popen[str]") -> list[str]:
    """Kill it as hard as can be; what it had still said."""
    process.send_signal(signal.SIGKILL)
    assert process.stdout
    said = process.stdout.read().splitlines()
    assert process.wait() == -signal.SIGKILL
    return said


class TestSqliteStore(StoreConformance, DrivingConformance, ListingConformance, RetentionConformance):
    def make_store(self, tmp_path: Path) -> Store:
        return SqliteStore(tmp_path / "new" / "folder" / "runs.db")

    def reopen(self, store: Store) -> Store | None:
        assert isinstance(store, SqliteStore)
        store.close()
        return SqliteStore(store.path)


class TestDurability:
    def test_failed_keep_leaves_neither_state_nor_journal(self, tmp_path: Path) -> None:
        async def play() -> None:
            with SqliteStore(tmp_path / "runs.db") as store:
                await store.begin(Run(id="a"), TASK)
                with closing(sqlite3.connect(store.path)) as other:
                    other.execute("CREATE TRIGGER full BEFORE INSERT ON journal BEGIN SELECT RAISE(ABORT, 'full'); END")
                with pytest.raises(sqlite3.IntegrityError):
                    await store.save_turn(Run(id="a", seq=1), Started(at=1.0), ())
                assert await store.load("a") == (Run(id="a"), TASK)
                assert await store.journal("a") == ()
                await store.begin(Run(id="b"), TASK)

        asyncio.run(play())

    @pytest.mark.slow
    def test_killed_writer_leaves_all_that_it_was_told_is_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        with child(WRITER, path, "a", 0) as process:
            said = [line(process) for _ in range(20)]
            said += kill(process)
        last = max(int(seq) for seq in said if seq)

        async def play() -> None:
            with SqliteStore(path) as store:
                run, task = await store.load("a")
                journal = await store.journal("a")
                assert task == TASK
                assert last <= run.seq <= last + 1
                assert [row.seq for row in journal] == list(range(1, run.seq + 1))
                assert len(await store.ledger("a")) in (run.seq, run.seq + 1)
                await store.save_turn(replace(run, seq=run.seq + 1), Started(at=0.0), ())

        asyncio.run(play())


class TestSeveralProcesses:
    @pytest.mark.slow
    def test_write_their_own_runs_in_one_new_file(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        with (
            child(WRITER, path, "a", 30) as a,
            child(WRITER, path, "b", 30) as b,
            child(WRITER, path, "c", 30) as c,
        ):
            for process in (a, b, c):
                process.communicate()
                assert process.returncode == 0

        async def play() -> None:
            with SqliteStore(path) as store:
                assert sorted(summary.id for summary in await store.runs()) == ["a", "b", "c"]
                for run_id in ("a", "b", "c"):
                    assert [row.seq for row in await store.journal(run_id)] == list(range(1, 31))
                    assert len(await store.ledger(run_id)) == 30

        asyncio.run(play())

    @pytest.mark.slow
    def test_that_begin_under_the_same_keys_at_once_get_each_key_once(self, tmp_path: Path) -> None:
        path, keys = tmp_path / "runs.db", 60
        with child(RACER, path, "a", keys) as a, child(RACER, path, "b", keys) as b, child(RACER, path, "c", keys) as c:
            for process in (a, b, c):
                assert line(process) == "ready"
            for process in (a, b, c):
                assert process.stdin
                process.stdin.write("go\n")
                process.stdin.flush()
            won = [process.communicate()[0].split() for process in (a, b, c)]
        assert sorted(int(key) for each in won for key in each) == list(range(keys))

    def test_wait_for_a_writer_while_the_file_is_still_new(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        SqliteStore(path).close()
        with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
            other.execute("PRAGMA journal_mode = DELETE")
            other.execute("BEGIN IMMEDIATE")
            later = threading.Timer(0.2, other.execute, ("COMMIT",))
            later.start()
            SqliteStore(path).close()
            later.join()

    def test_that_drive_the_same_run_are_refused(self, tmp_path: Path) -> None:
        async def play() -> None:
            with SqliteStore(tmp_path / "runs.db") as one, SqliteStore(tmp_path / "runs.db") as two:
                await one.begin(Run(id="a"), TASK)
                await one.save_turn(Run(id="a", seq=1), Started(at=1.0), ())
                with pytest.raises(RunBusy):
                    await two.save_turn(Run(id="a", seq=1), Started(at=1.5), ())
                await two.write_ledger("a", LedgerEntry(command=1, version=1, index=0, call=""))
                assert len(await one.ledger("a")) == 1

        asyncio.run(play())


@pytest.mark.skipif(sys.platform == "win32", reason="claims need fcntl")
class TestClaim:
    @pytest.mark.slow
    def test_keeps_another_process_out_until_it_leaves(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        with child(CLAIMER, path, "a") as process, SqliteStore(path) as store:
            assert line(process) == "held"
            with pytest.raises(RunBusy), store.claim("a"):
                pass
            with store.claim("b"):
                pass
            process.communicate("")
            assert process.returncode == 0
            assert not list(tmp_path.glob("*.lock"))
            with store.claim("a"):
                pass

    @pytest.mark.slow
    def test_is_free_after_a_kill(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        with child(CLAIMER, path, "a") as process, SqliteStore(path) as store:
            assert line(process) == "held"
            kill(process)
            with store.claim("a"):
                assert (tmp_path / "runs.db.a.lock").exists()
            assert not (tmp_path / "runs.db.a.lock").exists()

    @pytest.mark.slow
    def test_is_seen_by_others_without_claiming(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        with child(CLAIMER, path, "a") as process, SqliteStore(path) as store:
            assert line(process) == "held"
            assert (store.is_claimed("a"), store.is_claimed("b")) == (True, False)
            kill(process)
            assert store.is_claimed("a") is False
            assert [file.name for file in tmp_path.glob("*.lock")] == ["runs.db.a.lock"]
            with store.claim("a"):
                assert store.is_claimed("a") is True

    def test_is_not_kept_out_by_a_process_that_only_looks(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "runs.db.a.lock"
        path.touch()
        looking = os.open(path, os.O_RDONLY)
        fcntl.flock(looking, fcntl.LOCK_SH)
        monkeypatch.setattr("midcourse.store.lock.time.sleep", lambda _seconds: fcntl.flock(looking, fcntl.LOCK_UN))
        with SqliteStore(tmp_path / "runs.db") as store, store.claim("a"):
            assert store.is_claimed("a") is True
        os.close(looking)

    def test_keeps_a_second_claim_of_the_same_process_out(self, tmp_path: Path) -> None:
        with SqliteStore(tmp_path / "runs.db") as store, store.claim("a"):
            with pytest.raises(RunBusy), store.claim("a"):
                pass
            with pytest.raises(RunBusy), store.claim("a"):
                pass

    def test_ends_with_an_error_inside(self, tmp_path: Path) -> None:
        with SqliteStore(tmp_path / "runs.db") as store:
            with pytest.raises(KeyError), store.claim("a"):
                raise KeyError
            with store.claim("a"):
                pass

    def test_run_id_cannot_name_a_file_elsewhere(self, tmp_path: Path) -> None:
        with SqliteStore(tmp_path / "runs.db") as store, store.claim("../../a b"):
            assert len(list(tmp_path.glob("runs.db.*.lock"))) == 1

    def test_is_not_fooled_by_a_lock_on_a_file_that_was_removed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The holder leaves between our opening the file and locking it."""
        path = tmp_path / "runs.db.a.lock"
        really_open = os.open

        def open_then_lose(*arguments: object) -> int:
            monkeypatch.setattr(os, "open", really_open)
            lock = really_open(*arguments)  # pyrefly: ignore[bad-argument-type]
            path.unlink()
            return lock

        with SqliteStore(tmp_path / "runs.db") as store:
            monkeypatch.setattr(os, "open", open_then_lose)
            with store.claim("a"):
                assert path.exists()
                with pytest.raises(RunBusy), store.claim("a"):
                    pass


class TestAudit:
    def test_rows_can_neither_be_changed_nor_taken_out_by_mistake(self, tmp_path: Path) -> None:
        async def play() -> None:
            with SqliteStore(tmp_path / "runs.db") as store:
                await store.begin(Run(id="a"), TASK)
                await store.save_turn(Run(id="a", seq=1), CancelAsked(at=1.0), ())
                for statement in ("UPDATE audit SET body = ''", "DELETE FROM audit"):
                    with pytest.raises(sqlite3.IntegrityError, match="only added to"):
                        store._db.execute(statement)

        asyncio.run(play())

    def test_file_from_before_there_was_a_log_has_one_afterwards(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        with closing(sqlite3.connect(path)) as db:
            for statement in FIRST:
                db.execute(statement)
            for run_id in ("b", "a"):
                state = encode(Run(id=run_id))
                db.execute(
                    "INSERT INTO runs (id, key, goal, task, opening, state, phase, final_reason)"
                    " VALUES (?, '', '', ?, ?, ?, 'new', '')",
                    (run_id, encode(TASK), state, state),
                )
                for seq, event in ((1, Started(at=1.0)), (2, CancelAsked(at=2.0))):
                    db.execute("INSERT INTO journal VALUES (?, ?, ?, '[]')", (run_id, seq, encode(event)))
            db.execute(f"PRAGMA user_version = {OLDEST}")
            db.commit()

        async def play() -> None:
            with SqliteStore(path) as store:
                log = await store.audit()
                assert [(row.run, row.seq) for row in log.rows] == [("b", 2), ("a", 2)]
                assert verify_log(log).problem == ""
                assert (await store.load("a"))[0] == Run(id="a")

        asyncio.run(play())


class TestOtherFiles:
    def test_newer_schema_is_refused_and_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "runs.db"
        SqliteStore(path).close()
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
        with pytest.raises(FormatUnknown):
            SqliteStore(path)
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION + 1,)

    def test_database_of_another_program_is_refused_and_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "cookies.db"
        with closing(sqlite3.connect(path)) as db:
            db.execute("CREATE TABLE runs (kilometres)")
        before = path.read_bytes()
        with pytest.raises(FormatUnknown):
            SqliteStore(path)
        assert path.read_bytes() == before

    def test_file_that_is_no_database_is_refused_and_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "notes.txt"
        path.write_text("Not a database at all. " * 100)
        before = path.read_bytes()
        with pytest.raises(FormatUnknown):
            SqliteStore(path)
        assert path.read_bytes() == before


class TestTransactions:
    async def test_what_people_were_asked_about_is_stored_as_a_whole(self, tmp_path: Path) -> None:
        with SqliteStore(tmp_path / "runs.db") as store:
            await store.begin(Run(id="a"), TASK)
            asked = (make_asked("a", 3, "s1", "c1"), make_asked("unknown", 3, "s1", "c1"))
            with pytest.raises(RunUnknown):
                await store.save_asked_consequences(asked)
            assert await store.asked_consequences("a") == ()

    async def test_other_processes_can_write_while_the_first_message_loads_the_director(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path, importing = tmp_path / "runs.db", builtins.__import__
        loaded = list[str]()

        def write_meanwhile(name: str, *rest: Any) -> Any:
            if name == "midcourse.director.decide":
                with closing(sqlite3.connect(path, timeout=0.0)) as other:
                    other.execute("BEGIN IMMEDIATE")
                loaded.append(name)
            return importing(name, *rest)

        with SqliteStore(path) as store:
            await store.begin(Run(id="a"), TASK)
            monkeypatch.setattr(builtins, "__import__", write_meanwhile)
            await store.post("a", CancelAsked())
        assert loaded
