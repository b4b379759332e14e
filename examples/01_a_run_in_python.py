"""A task from a file, run from Python: watch it turn by turn, then read its result."""

import asyncio
import tempfile
from dataclasses import replace
from pathlib import Path

from midcourse.records import Observed, Planned
from midcourse.tasks import build_agent, load_job


async def main() -> None:
    job = load_job("notepad", overrides={})
    with tempfile.TemporaryDirectory() as folder:
        home = job.settings.model_copy(update={"home": Path(folder)})
        agent = replace(build_agent(job, Path(folder), approver=None), settings=home)
        live = agent.start(job.task)
        async for turn in live:
            match turn.event:
                case Observed(seen=seen) if seen:
                    print(f"saw '{seen.surface}' with {seen.zones} zones")
                case Planned(steps=steps):
                    print(f"plan {turn.run.counts.versions}: {len(steps)} steps")
                case _:
                    pass
        result = await live.result()
    print(f"{result.final_reason}: {result.steps} steps, {result.replans} replans, verified: {result.verified}")


if __name__ == "__main__":
    asyncio.run(main())
