"""A key at its rate limit that many runs share: they wait, none fails, and being turned away costs nothing."""

import asyncio
import re

import pytest

from midcourse import Agent, Settings, Task
from midcourse.agent.models import build_model_planner
from midcourse.domain.phases import BackingOff
from midcourse.domain.result import Result
from midcourse.presentation.status import run_status
from midcourse.testing import MemoryStore
from midcourse.testing.models import ChatRequest, Limited, ModelServer
from midcourse.testing.models.script import Line
from midcourse.worlds.simulated.shop import Shop
from tests.runtimes.fleet import Cast, Fleet

pytestmark = pytest.mark.slow

RUNS = 5
PLANS = 2
GO = {"zone": "__global__", "skill": "go", "arguments": {"page": "checkout"}}


def buyer(request: ChatRequest) -> Line:
    """Two plans a run: to the checkout, and that is it."""
    return {"steps": [GO, {"zone": "__replan__"}]} if 'surface "Catalogue"' in request.text else {"verdict": "done"}


def make_limited_model() -> Limited:
    return Limited(buyer, requests=3, seconds=1.0)


def settings_for(server: ModelServer) -> Settings:
    return Settings.load(overrides={"model": "openai:scripted", "model_base_url": server.url, "max_step_retries": "0"})


def assert_all_done(results: list[Result], limit: Limited, server: ModelServer) -> None:
    assert [result.final_reason for result in results] == ["plan_complete"] * RUNS
    assert [result.budget.calls for result in results] == [PLANS] * RUNS
    assert limit.refused > 0
    assert len(server.requests) == RUNS * PLANS + limit.refused


async def test_runs_that_share_a_limited_key_all_finish_locally():
    with ModelServer(limit := make_limited_model()) as server:
        agents = [Agent(world=Shop(), settings=settings_for(server), store=MemoryStore()) for _ in range(RUNS)]
        results = await asyncio.gather(*(agent.run("Go to the checkout") for agent in agents))
    assert_all_done(list(results), limit, server)


async def test_the_wait_is_in_the_status_of_the_run():
    with ModelServer(Limited(buyer, requests=1, seconds=1.5)) as server:
        agent = Agent(world=Shop(), settings=settings_for(server), store=MemoryStore())
        run = agent.start("Go to the checkout")
        waits = [
            run_status(turn.run, turn.event.at, "") async for turn in run if isinstance(turn.run.phase, BackingOff)
        ]
    assert waits
    assert all(re.fullmatch(r"waiting .+, then asking the planner again", wait) for wait in waits), waits


async def test_a_wait_beyond_the_deadline_ends_the_run_for_that_reason_at_once():
    with ModelServer(Limited(buyer, requests=1, seconds=600.0)) as server:
        settings = settings_for(server).model_copy(update={"deadline_seconds": 300.0})
        agent = Agent(world=Shop(), settings=settings, store=MemoryStore())
        async with asyncio.timeout(60):
            result = await agent.run("Go to the checkout")
    assert (result.final_reason, result.budget.calls) == ("deadline_exceeded", 1)
    assert "no time left to wait" in result.final_detail


async def test_runs_that_share_a_limited_key_all_finish_on_temporal(fleet: Fleet):
    with ModelServer(limit := make_limited_model()) as server:
        settings = settings_for(server)
        task = Task(goal="Go to the checkout", limits=settings.limits())
        async with fleet.worker():
            begun = [
                await fleet.begin(Cast(world=Shop(), planner=build_model_planner(settings.model, settings), task=task))
                for _ in range(RUNS)
            ]
            results = await asyncio.gather(*(handle.result() for handle in begun))
    assert_all_done(list(results), limit, server)
