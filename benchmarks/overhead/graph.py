"""LangGraph: a node that plans, a node that acts and looks, and a synchronous checkpoint in PostgreSQL after each.

It runs under another interpreter, which has LangGraph.
"""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypedDict

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.graph import END, START, StateGraph
from psycopg import AsyncConnection
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from benchmarks.overhead.workload import SEGMENTS, Panel, Todo, act_and_look, look, segment_after
from midcourse.codec import encode

CONNECTIONS = 10
ROOM = 1000
"""More than the nodes of any run here: the default ends a run after 25."""


class State(TypedDict):
    run: str
    steps: int
    todo: list[dict[str, Any]]
    done: int
    seen: str
    """What was seen last, as JSON: a graph's state is where it keeps things."""


class Graph:
    def __init__(self, url: str) -> None:
        self._url = url
        self._worlds: dict[str, Panel] = {}

    @asynccontextmanager
    async def at_work(self) -> AsyncGenerator[None]:
        async with AsyncExitStack() as stack:
            pool = AsyncConnectionPool[AsyncConnection[dict[str, Any]]](
                self._url,
                kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
                min_size=CONNECTIONS,
                max_size=CONNECTIONS,
                open=False,
            )
            saver = AsyncPostgresSaver(await stack.enter_async_context(pool))
            await saver.setup()
            graph = StateGraph(State)
            graph.add_node("plan", self._plan)
            graph.add_node("step", self._step)
            graph.add_edge(START, "plan")
            graph.add_edge("plan", "step")
            graph.add_conditional_edges("step", _next, ["plan", "step", END])
            self._graph = graph.compile(checkpointer=saver)
            yield

    async def run(self, run_id: str, steps: int) -> None:
        self._worlds[run_id] = Panel()
        first = State(run=run_id, steps=steps, todo=[], done=0, seen="")
        config: Any = {"configurable": {"thread_id": run_id}, "recursion_limit": ROOM}
        last = await self._graph.ainvoke(first, config, durability="sync")
        assert last["done"] == SEGMENTS * steps
        del self._worlds[run_id]

    async def counts(self, run_id: str) -> None:
        """Without an engine there is no history."""

    async def _plan(self, state: State) -> dict[str, Any]:
        seen = await look(self._worlds[state["run"]])
        todo = [vars(one) for one in segment_after(state["done"], state["steps"])]
        return {"todo": todo, "seen": encode(seen)}

    async def _step(self, state: State) -> dict[str, Any]:
        first, *rest = state["todo"]
        _, seen = await act_and_look(self._worlds[state["run"]], Todo(**first))
        return {"todo": rest, "done": state["done"] + 1, "seen": encode(seen)}


def _next(state: State) -> str:
    if state["todo"]:
        return "step"
    return END if state["done"] == SEGMENTS * state["steps"] else "plan"
