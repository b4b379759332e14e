"""The least that a step can be on this engine: one activity that acts and looks, with next to nothing in it."""

import asyncio
from datetime import timedelta

from temporalio import activity, workflow


@activity.defn
async def act_and_observe(step: int) -> int:
    await asyncio.sleep(0)
    return step


@workflow.defn
class Bare:
    @workflow.run
    async def run(self, steps: int) -> int:
        for step in range(steps):
            await workflow.execute_activity(act_and_observe, step, start_to_close_timeout=timedelta(seconds=30))
        return steps
