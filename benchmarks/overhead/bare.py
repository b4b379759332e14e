"""The engine alone, with two transactions a step, and with those in one activity per segment, as one would write them by hand.

In the first two a step is one activity that acts and looks; a look and the plan made from it are another. What goes through the
engine is a number, never a screen. Workflows run without the sandbox, as Midcourse's does.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from temporalio import activity, workflow
from temporalio.client import Client
from temporalio.common import RetryPolicy
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

with workflow.unsafe.imports_passed_through():
    from psycopg import AsyncConnection

    from benchmarks.overhead.counts import Counts, count
    from benchmarks.overhead.workload import SEGMENTS, Panel, Todo, act_and_look, look, segment_after
    from midcourse.codec import encode

PATIENCE = timedelta(seconds=60)
LIFE = timedelta(seconds=10)
CONNECTIONS = 10


@workflow.defn(name="bare")
class BareWorkflow:
    @workflow.run
    async def go(self, steps: int) -> int:
        for segment in range(SEGMENTS):
            for todo in await self._do("plan", [segment * steps, steps]):
                await self._do("step", todo)
        await self._do("finish", SEGMENTS * steps)
        return SEGMENTS * steps

    async def _do(self, name: str, said: object) -> Any:
        return await workflow.execute_activity(
            name,
            said,
            start_to_close_timeout=PATIENCE,
            heartbeat_timeout=LIFE,
            retry_policy=RetryPolicy(maximum_attempts=1),
        )


@workflow.defn(name="segmented")
class SegmentWorkflow(BareWorkflow):
    @workflow.run
    async def go(self, steps: int) -> int:
        for segment in range(SEGMENTS):
            await self._do("carry_out", [segment * steps, steps])
        await self._do("finish", SEGMENTS * steps)
        return SEGMENTS * steps


class Bare:
    """Acts and looks, and keeps nothing."""

    queue = "bare"
    flow: type[BareWorkflow] = BareWorkflow

    def __init__(self, client: Client) -> None:
        self._client = client
        self._worlds: dict[str, Panel] = {}

    @asynccontextmanager
    async def at_work(self) -> AsyncGenerator[None]:
        async with Worker(
            self._client,
            task_queue=self.queue,
            workflows=[self.flow],
            activities=self.activities(),
            workflow_runner=UnsandboxedWorkflowRunner(),
        ):
            yield

    def activities(self) -> list[Callable[..., Any]]:
        return [self.plan, self.step, self.finish]

    async def run(self, run_id: str, steps: int) -> None:
        self._worlds[run_id] = Panel()
        await self._client.execute_workflow(self.flow.go, steps, id=run_id, task_queue=self.queue)
        del self._worlds[run_id]

    async def counts(self, run_id: str) -> Counts:
        return await count(self._client, run_id)

    @activity.defn
    async def plan(self, said: list[int]) -> list[Todo]:
        done, steps = said
        await look(self._world())
        return list(segment_after(done, steps))

    @activity.defn
    async def step(self, todo: Todo) -> str:
        _, seen = await act_and_look(self._world(), todo)
        return seen.fingerprint

    @activity.defn
    async def finish(self, done: int) -> None:
        pass

    def _world(self) -> Panel:
        return self._worlds[_run_id()]


def _run_id() -> str:
    found = activity.info().workflow_id
    assert found
    return found


TABLES = """
CREATE SCHEMA IF NOT EXISTS bare;
CREATE TABLE IF NOT EXISTS bare.ledger (run text, step int, body text NOT NULL, PRIMARY KEY (run, step));
CREATE TABLE IF NOT EXISTS bare.observations (run text, id int, body text NOT NULL, PRIMARY KEY (run, id));
CREATE TABLE IF NOT EXISTS bare.journal (run text, seq int, body text NOT NULL, PRIMARY KEY (run, seq));
CREATE TABLE IF NOT EXISTS bare.plans (run text, version int, body text NOT NULL, PRIMARY KEY (run, version));
CREATE TABLE IF NOT EXISTS bare.runs (run text PRIMARY KEY, body text)
"""
DISPATCH = b"""INSERT INTO bare.ledger VALUES (%s, %s, %s)
ON CONFLICT (run, step) DO UPDATE SET body = excluded.body"""
OUTCOME = b"""WITH seen AS (
    INSERT INTO bare.observations VALUES (%s, %s, %s) ON CONFLICT (run, id) DO UPDATE SET body = excluded.body
), done AS (
    UPDATE bare.ledger SET body = %s WHERE run = %s AND step = %s
) INSERT INTO bare.journal VALUES (%s, %s, %s) ON CONFLICT (run, seq) DO UPDATE SET body = excluded.body"""
PLANNED = b"""WITH seen AS (
    INSERT INTO bare.observations VALUES (%s, %s, %s) ON CONFLICT (run, id) DO UPDATE SET body = excluded.body
), planned AS (
    INSERT INTO bare.plans VALUES (%s, %s, %s) ON CONFLICT (run, version) DO UPDATE SET body = excluded.body
) INSERT INTO bare.journal VALUES (%s, %s, %s) ON CONFLICT (run, seq) DO UPDATE SET body = excluded.body"""
BEGIN = b"INSERT INTO bare.runs (run) VALUES (%s)"
END = b"UPDATE bare.runs SET body = %s WHERE run = %s"


class Kept(Bare):
    """The same, with a row before each act, and its outcome, what was seen and the journal in one transaction after it."""

    queue = "kept"

    def __init__(self, client: Client, url: str) -> None:
        super().__init__(client)
        self._url = url
        self._connections: asyncio.LifoQueue[AsyncConnection] = asyncio.LifoQueue()

    @asynccontextmanager
    async def at_work(self) -> AsyncGenerator[None]:
        connections = [await AsyncConnection.connect(self._url, autocommit=True) for _ in range(CONNECTIONS)]
        await connections[0].execute(TABLES)
        for connection in connections:
            self._connections.put_nowait(connection)
        async with super().at_work():
            yield
        for connection in connections:
            await connection.close()

    async def run(self, run_id: str, steps: int) -> None:
        await self._write(BEGIN, run_id)
        await super().run(run_id, steps)

    @activity.defn
    async def plan(self, said: list[int]) -> list[Todo]:
        done, steps = said
        seen, run, todo = await look(self._world()), _run_id(), segment_after(done, steps)
        version, body = 1 + done // steps, encode(todo, tuple[Todo, ...])
        await self._write(PLANNED, run, -version, encode(seen), run, version, body, run, -version, body)
        return list(todo)

    @activity.defn
    async def step(self, todo: Todo) -> str:
        run = _run_id()
        await self._write(DISPATCH, run, todo.number, encode(todo))
        outcome, seen = await act_and_look(self._world(), todo)
        body = encode(outcome)
        happened = f'{{"at":{time.time():.3f},"outcome":{body},"seen":"{seen.fingerprint}"}}'
        n = todo.number
        await self._write(OUTCOME, run, n, encode(seen), body, run, n, run, n, happened)
        return seen.fingerprint

    @activity.defn
    async def finish(self, done: int) -> None:
        await self._write(END, f'{{"done":{done}}}', _run_id())

    async def _write(self, sql: bytes, *values: object) -> None:
        connection = await self._connections.get()
        await connection.execute(sql, values)
        self._connections.put_nowait(connection)


class Segmented(Kept):
    """The same transactions in one activity for each segment: the fewest that an engine can have without losing more than that."""

    queue = "segmented"
    flow = SegmentWorkflow

    def activities(self) -> list[Callable[..., Any]]:
        return [self.carry_out, self.finish]

    @activity.defn
    async def carry_out(self, said: list[int]) -> None:
        for todo in await self.plan(said):
            await self.step(todo)
