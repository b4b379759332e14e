"""The PostgreSQL store: the suite of every store, then what only several processes and a kill can show."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import cast

import psycopg
import pytest

from midcourse import Agent
from midcourse.errors import FleetUnavailable, KeyTaken, RunBusy, TaskInvalid
from midcourse.ports.abilities import offers
from midcourse.ports.store import Claimable, JournalRow, Store
from midcourse.store.postgres import PostgresStore
from midcourse.store.postgres.connections import OWNER
from midcourse.testing.conformance.driven_store import DrivingConformance, ListingConformance, RetentionConformance
from midcourse.testing.conformance.store import StoreConformance, keep_all, same
from midcourse.testing.conformance.store_samples import OBSERVATION, TASK, new_run, result, turns
from midcourse.worlds import Functions
from tests.scenarios.stage import RUN, example
from tests.store.batches import Batched

CLAIMER = """
import sys
from midcourse.store.postgres import PostgresStore

with PostgresStore(sys.argv[1], tenant=sys.argv[2]).claim(sys.argv[3]):
    print("held", flush=True)
    sys.stdin.read()
"""


class OnPostgres:
    @pytest.fixture(autouse=True)
    def _database(self, postgres: str, tenant: str) -> None:
        self.url, self.tenant = postgres, tenant


class TestPostgresStore(OnPostgres, StoreConformance, DrivingConformance, ListingConformance):
    def make_store(self, tmp_path: Path) -> Store:
        return PostgresStore(self.url, tenant=self.tenant)

    def reopen(self, store: Store) -> Store | None:
        return self.make_store(Path())


class TestRetention(OnPostgres, RetentionConformance):
    def make_store(self, tmp_path: Path) -> Store:
        return PostgresStore(self.url, tenant=self.tenant)

    async def prune(self, store: Store, run_id: str, at: float) -> int:
        """As the owner of the tables. A run of another tenant with the same id stays, also if the owner is a superuser."""
        async with (
            PostgresStore(self.url, tenant=self.tenant, role=OWNER) as owner,
            PostgresStore(self.url, tenant=f"{self.tenant}x") as other,
        ):
            if not await other.runs_named(run_id, 1):
                await other.begin(new_run(run_id), TASK)
                await keep_all(other, run_id)
                await other.save_result(result(run_id))
            with pytest.raises(FleetUnavailable, match="owns the tables"):
                await cast(PostgresStore, store).prune((run_id,), at)
            pruned = await owner.prune((run_id,), at)
            assert len(await other.journal(run_id)) == len(turns(run_id))
        return pruned


class TestPostgresBatch(OnPostgres, StoreConformance):
    """What waits in a batch is read as if it were stored."""

    def make_store(self, tmp_path: Path) -> Store:
        return cast(Store, Batched(PostgresStore(self.url, tenant=self.tenant)))


class TestClaims:
    @contextmanager
    def claimer(self, url: str, tenant: str, run_id: str) -> Iterator["subprocess.Popen[str]"]:
        command = [sys.executable, "-c", CLAIMER, url, tenant, run_id]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout
                assert process.stdout.readline() == "held\n"
                yield process
            finally:
                process.kill()

    def test_run_is_held_by_one_and_free_afterwards(self, postgres: str, tenant: str) -> None:
        store = PostgresStore(postgres, tenant=tenant)
        assert offers(store, Claimable)
        with store.claim("a"), store.claim("b"):
            with pytest.raises(RunBusy), store.claim("a"):
                pass
            with PostgresStore(postgres, tenant=f"{tenant}x").claim("a"):
                pass
        with store.claim("a"):
            pass

    def test_torn_down_task_holds_nothing(self, postgres: str, tenant: str) -> None:
        store = PostgresStore(postgres, tenant=tenant)

        async def hold_for_ever() -> None:
            with store.claim("a"):
                await asyncio.Event().wait()

        loop = asyncio.new_event_loop()
        loop.set_exception_handler(lambda loop, context: None)  # it would tell of the task that was left pending
        task = loop.create_task(hold_for_ever())
        loop.run_until_complete(asyncio.sleep(0))
        with pytest.raises(RunBusy, match=r"this process \(task 'Task"), store.claim("a"):
            pass
        loop.close()
        with eventually_claimed(store, "a"):
            assert not task.done()

    def test_killed_holder_holds_nothing(self, postgres: str, tenant: str) -> None:
        store = PostgresStore(postgres, tenant=tenant)
        with self.claimer(postgres, tenant, "a") as process:
            with pytest.raises(RunBusy), store.claim("a"):
                pass
            process.send_signal(signal.SIGKILL)
            process.wait()
            with eventually_claimed(store, "a"):
                pass


@contextmanager
def eventually_claimed(store: PostgresStore, run_id: str) -> Iterator[None]:
    """The server notices a broken connection when it next looks at it."""
    while True:
        try:
            with store.claim(run_id):
                yield
                return
        except RunBusy:
            continue


class TestSeveralWorkers:
    async def test_one_of_many_runs_with_one_key_begins(self, postgres: str, tenant: str) -> None:
        async with PostgresStore(postgres, tenant=tenant) as store:

            async def come(number: int) -> bool:
                try:
                    await store.begin(new_run(f"run {number}"), replace(TASK, key="order 1"))
                except KeyTaken:
                    return False
                return True

            assert sum(await asyncio.gather(*map(come, range(20)))) == 1
            assert len(await store.runs()) == 1

    async def test_one_of_many_different_writes_of_a_turn_succeeds(self, postgres: str, tenant: str) -> None:
        async with PostgresStore(postgres, tenant=tenant) as store:
            await store.begin(new_run("a"), TASK)
            run, event, commands = turns("a")[0]

            async def keep(number: int) -> bool:
                try:
                    await store.save_turn(run, replace(event, at=float(number)), commands)
                except RunBusy:
                    return False
                return True

            assert sum(await asyncio.gather(*map(keep, range(20)))) == 1

    async def test_cache_of_records_is_bounded(
        self, postgres: str, tenant: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("midcourse.store.postgres.database.MEMORY", 2000)
        async with PostgresStore(postgres, tenant=tenant) as store:
            await store.begin(new_run("a"), TASK)
            for number in range(20):
                await store.save_observation("a", replace(OBSERVATION, id=f"o{number}"))
            assert 0 < len(list(store._database._recent)) < 10
            assert (await store.observation("a", "o0")) == replace(OBSERVATION, id="o0")


class TestConnections:
    async def test_task_that_is_cancelled_in_the_middle_leaves_the_others_a_connection(
        self, postgres: str, tenant: str
    ) -> None:
        async with PostgresStore(postgres, tenant=tenant, connections=1) as store:
            sleeping = asyncio.create_task(store._database.rows(b"SELECT pg_sleep(600), %s", (tenant,)))
            busy = "SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep(600)%' AND state = 'active'"
            with psycopg.connect(postgres, autocommit=True) as superuser:
                while superuser.execute(busy).fetchone() is None:
                    await asyncio.sleep(0.01)
            sleeping.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sleeping
            assert await store.runs() == ()

    async def test_never_more_connections_than_allowed(self, postgres: str, tenant: str) -> None:
        async with PostgresStore(postgres, tenant=tenant, connections=2) as store:
            pids = await asyncio.gather(*(store._database.rows(b"SELECT pg_backend_pid()", ()) for _ in range(12)))
        assert len({pid for ((pid,),) in pids}) == 2


class TestText:
    async def test_difficult_text_is_stored_unchanged(self, postgres: str, tenant: str) -> None:
        nasty = "NUL \0, quote ' \" \\, percent %s %(run)s, emoji 🖊, line\nbreak"
        seen = replace(OBSERVATION, surface=replace(OBSERVATION.surface, title=nasty))
        async with PostgresStore(postgres, tenant=tenant) as store:
            await store.begin(new_run("a"), replace(TASK, goal=nasty))
            await store.save_observation("a", seen)
            store._database.forget("a")
            assert same(await store.observation("a", "o1"), seen)
            assert (await store.load("a"))[1].goal == nasty
            assert (await store.runs())[0].goal == nasty.replace("\0", " ")


async def test_the_local_runtime_records_the_same_in_postgres(postgres: str, tenant: str) -> None:
    async with PostgresStore(postgres, tenant=tenant) as store:
        here = await example("order").play()
        there = await replace(example("order"), store=store).play()
        assert (there.ended, there.turns) == (here.ended, here.turns)
        assert await store.journal(RUN) == tuple(
            JournalRow(seq=turn.run.seq, event=turn.event, commands=turn.commands) for turn in there.turns
        )


async def test_an_agent_does_not_guess_which_runs_nobody_drives(postgres: str, tenant: str) -> None:
    """A run that it named might be driven by a worker. Whoever picked it up would end the worker's turn."""
    async with PostgresStore(postgres, tenant=tenant) as store, PostgresStore(postgres, tenant=tenant) as other:
        await other.begin(new_run("a"), TASK)
        await other.claim_run("a")
        with pytest.raises(TaskInvalid, match="a PostgresStore cannot tell which runs no process drives"):
            await Agent(Functions(), store=store).unfinished()
