"""DBOS: a workflow whose plans, steps and end are DBOS steps, with their results in its PostgreSQL tables.

It runs under another interpreter, which has DBOS.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from dbos import DBOS, SetWorkflowID

from benchmarks.overhead.workload import SEGMENTS, Panel, Todo, act_and_look, look, segment_after
from midcourse.codec import encode

WORLDS: dict[str, Panel] = {}


@DBOS.step()
async def plan(run: str, done: int, steps: int) -> tuple[list[dict[str, object]], str]:
    seen = await look(WORLDS[run])
    return [vars(todo) for todo in segment_after(done, steps)], encode(seen)


@DBOS.step()
async def step(run: str, todo: dict[str, Any]) -> str:
    _, seen = await act_and_look(WORLDS[run], Todo(**todo))
    return encode(seen)


@DBOS.workflow()
async def carry_out(run: str, steps: int) -> int:
    for segment in range(SEGMENTS):
        todos, _ = await plan(run, segment * steps, steps)
        for todo in todos:
            await step(run, todo)
    return SEGMENTS * steps


class Steps:
    def __init__(self, url: str) -> None:
        self._url = url

    @asynccontextmanager
    async def at_work(self) -> AsyncGenerator[None]:
        DBOS(config={"name": "bench", "system_database_url": self._url, "log_level": "ERROR"})
        DBOS.launch()
        yield
        DBOS.destroy()

    async def run(self, run_id: str, steps: int) -> None:
        WORLDS[run_id] = Panel()
        with SetWorkflowID(run_id):
            handle = await DBOS.start_workflow_async(carry_out, run_id, steps)
        assert await handle.get_result() == SEGMENTS * steps
        del WORLDS[run_id]

    async def counts(self, run_id: str) -> None:
        """Without an engine there is no history."""
