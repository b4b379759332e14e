"""One arm in a process of its own: takes an order a line from its input, and answers each with a line.

{"runs": ["a", "b"], "steps": 4}    these runs at the same time, of segments of four steps
{"count": "a"}                      what the engine kept of that run
"""

import argparse
import asyncio
import json
import sys
import time
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict
from typing import Any, Protocol


class Arm(Protocol):
    def at_work(self) -> AbstractAsyncContextManager[None]: ...

    async def run(self, run_id: str, steps: int) -> None: ...

    async def counts(self, run_id: str) -> Any: ...


async def make(name: str, temporal: str, postgres: str) -> Arm:
    """Imports are inside: no arm carries what only another one needs, and one of them lives in another environment."""
    if name == "langgraph":
        from overhead.graph import Graph

        return Graph(postgres)
    if name == "midcourse":
        from midcourse.runtimes.temporal.client import connect
        from overhead.ours import Ours

        return Ours(await connect(temporal), postgres)
    from temporalio.client import Client

    from overhead.bare import Bare, Kept

    client = await Client.connect(temporal)
    return Bare(client) if name == "bare" else Kept(client, postgres)


async def serve(arm: Arm) -> None:
    async with arm.at_work():
        _say({"ready": True})
        while line := await asyncio.to_thread(sys.stdin.readline):
            order = json.loads(line)
            if "count" in order:
                counted = await arm.counts(order["count"])
                _say(asdict(counted) if counted else {})
            else:
                cpu = time.process_time()
                seconds = await asyncio.gather(*(_timed(arm, run, order["steps"]) for run in order["runs"]))
                _say({"seconds": seconds, "cpu": time.process_time() - cpu})


async def _timed(arm: Arm, run_id: str, steps: int) -> float:
    began = time.perf_counter()
    await arm.run(run_id, steps)
    return time.perf_counter() - began


def _say(answer: object) -> None:
    print(json.dumps(answer), flush=True)


async def main() -> None:
    parser = argparse.ArgumentParser()
    for word in ("name", "temporal", "postgres"):
        parser.add_argument(word)
    given = parser.parse_args()
    await serve(await make(given.name, given.temporal, given.postgres))


if __name__ == "__main__":
    asyncio.run(main())
