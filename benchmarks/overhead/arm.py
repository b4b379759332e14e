"""One arm in a separate process: reads an order per line, and answers each with a line.

{"runs": ["a", "b"], "steps": 4}    these runs at the same time, of segments of four steps
{"count": "a"}                      what the engine kept of that run
{"profile": ["a"], "steps": 4}      these runs, and where the processor time goes
"""

import argparse
import asyncio
import json
import os
import sys
import time
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict
from typing import Any, Protocol

ANSWERS = os.fdopen(os.dup(sys.stdout.fileno()), "w")
"""The standard output. Libraries get the standard error instead: Temporal's prints warnings, for example on a busy machine."""
os.dup2(sys.stderr.fileno(), sys.stdout.fileno())


class Arm(Protocol):
    def at_work(self) -> AbstractAsyncContextManager[None]: ...

    async def run(self, run_id: str, steps: int) -> None: ...

    async def counts(self, run_id: str) -> Any: ...


async def make(name: str, temporal: str, postgres: str) -> Arm:
    """Imports are inside: no arm carries what only another one needs, and one of them lives in another environment."""
    if name == "langgraph":
        from benchmarks.overhead.graph import Graph

        return Graph(postgres)
    if name == "dbos":
        from benchmarks.overhead.steps import Steps

        return Steps(postgres)
    if name == "midcourse":
        from benchmarks.overhead.ours import Ours
        from midcourse.runtimes.temporal.client import connect

        return Ours(await connect(temporal), postgres)
    from temporalio.client import Client

    from benchmarks.overhead.bare import Bare, Kept, Segmented

    client = await Client.connect(temporal)
    match name:
        case "bare":
            return Bare(client)
        case "kept":
            return Kept(client, postgres)
        case _:
            return Segmented(client, postgres)


async def serve(arm: Arm) -> None:
    async with arm.at_work():
        _say({"ready": True})
        while line := await asyncio.to_thread(sys.stdin.readline):
            order = json.loads(line)
            if "count" in order:
                counted = await arm.counts(order["count"])
                _say(asdict(counted) if counted else {})
            elif "profile" in order:
                _say(await _where(arm, order["profile"], order["steps"]))
            else:
                cpu = time.process_time()
                seconds = await _run_all(arm, order["runs"], order["steps"])
                _say({"seconds": seconds, "cpu": time.process_time() - cpu})


async def _run_all(arm: Arm, runs: list[str], steps: int) -> list[float]:
    return await asyncio.gather(*(_timed(arm, run, steps) for run in runs))


async def _where(arm: Arm, runs: list[str], steps: int) -> dict[str, float]:
    from benchmarks.overhead.profile import profiled

    with profiled() as areas:
        await _run_all(arm, runs, steps)
    return areas


async def _timed(arm: Arm, run_id: str, steps: int) -> float:
    began = time.perf_counter()
    await arm.run(run_id, steps)
    return time.perf_counter() - began


def _say(answer: object) -> None:
    print(json.dumps(answer), file=ANSWERS, flush=True)


async def main() -> None:
    parser = argparse.ArgumentParser()
    for word in ("name", "temporal", "postgres"):
        parser.add_argument(word)
    args = parser.parse_args()
    await serve(await make(args.name, args.temporal, args.postgres))


if __name__ == "__main__":
    asyncio.run(main())
