"""Connections to a model belong to the call that they are for: none is left open, and none is used in another event loop."""

import asyncio
import gc

import pytest

from midcourse import Agent, Settings
from midcourse.testing import MemoryStore
from midcourse.testing.models import Fails, ModelServer
from midcourse.worlds.simulated.shop import Shop


def agent_of(server: ModelServer) -> Agent:
    settings = Settings.load(overrides={"model": "openai:scripted", "model_base_url": server.url})
    return Agent(world=Shop(), settings=settings, store=MemoryStore())


def test_one_agent_plans_in_one_event_loop_after_another():
    with ModelServer([{"verdict": "done"}]) as server:
        agent = agent_of(server)
        assert [agent.run_sync("Look").final_reason for _ in range(3)] == ["plan_complete"] * 3
    assert len(server.requests) == 3


async def test_several_runs_at_once_share_a_planner():
    with ModelServer([Fails(429, retry_after=0.1), {"verdict": "done"}]) as server:
        agent = agent_of(server)
        results = await asyncio.gather(*(agent.run("Look") for _ in range(5)))
    assert {result.final_reason for result in results} == {"plan_complete"}


async def test_no_connection_is_left_open(recwarn: pytest.WarningsRecorder):
    with ModelServer([{"verdict": "done"}]) as server:
        await agent_of(server).run("Look")
    gc.collect()
    assert not [warning for warning in recwarn if issubclass(warning.category, ResourceWarning)]
