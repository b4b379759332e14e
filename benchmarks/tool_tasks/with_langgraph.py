"""LangGraph: a node that makes the next call, its progress in a checkpoint after each. If it is killed, the thread is continued.

`RetryPolicy` calls the node again after a time-out, and `invoke(None)` continues a thread after a crash, as LangGraph's documentation says.
With `checks`, the node first asks the tool's probe, and makes no call whose effect it finds, so that it may be repeated. Runs in the environment of `langgraph.txt`.
"""

import runpy
from pathlib import Path
from typing import Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy

FOLDER = Path(__file__).parent
CLIENT = runpy.run_path(str(FOLDER / "client.py"))
PROBES = runpy.run_path(str(FOLDER / "probes.py"))["PROBES"]
RETRY = RetryPolicy(max_attempts=3, retry_on=TimeoutError, initial_interval=0.01, jitter=False)
ROOM = 10
"""Steps of the graph beyond the calls."""


class Progress(TypedDict):
    made: int
    """How many calls have an answer."""


async def run(job: dict[str, Any]) -> dict[str, Any]:
    client, calls, probes = CLIENT["Client"](job["socket"]), job["calls"], PROBES if job["checks"] else {}

    def make_call(progress: Progress) -> Progress:
        call = calls[progress["made"]]
        try:
            client.call_unless(probes.get(call["tool"]), **call)
        except CLIENT["Refused"]:
            pass  # an answer: the next call is made
        return {"made": progress["made"] + 1}

    def choose_next(progress: Progress) -> str:
        return "make_call" if progress["made"] < len(calls) else END

    graph = StateGraph(Progress)
    graph.add_node("make_call", make_call, retry_policy=RETRY)
    graph.add_conditional_edges(START, choose_next)
    graph.add_conditional_edges("make_call", choose_next)
    with SqliteSaver.from_conn_string(str(Path(job["home"]) / "checkpoints.db")) as saver:
        config: Any = {"configurable": {"thread_id": job["run"]}, "recursion_limit": len(calls) + ROOM}
        given = None if job["again"] else Progress(made=0)
        ended = graph.compile(checkpointer=saver).invoke(given, config, durability="sync")
    client.close()
    return {"finished": ended["made"] == len(calls), "reason": ""}
