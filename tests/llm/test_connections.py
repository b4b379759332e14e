"""Connections to a model are kept within an event loop and a run: none is left open, and none is used in another loop."""

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor

import pytest

from midcourse import Agent, Settings
from midcourse.domain.budget import Cost
from midcourse.llm.mind import Answered, Mind
from midcourse.llm.named import models_named
from midcourse.llm.plan import PlanAnswer
from midcourse.llm.template import Prompt
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


def test_one_agent_plans_in_several_threads_at_once():
    with ModelServer([{"verdict": "done"}]) as server, ThreadPoolExecutor(4) as threads:
        agent = agent_of(server)
        results = list(threads.map(agent.run_sync, ["Look"] * 8))
    assert {result.final_reason for result in results} == {"plan_complete"}
    assert len(server.requests) == 8


async def test_several_runs_at_once():
    with ModelServer([Fails(429, retry_after=0.1), {"verdict": "done"}]) as server:
        agent = agent_of(server)
        results = await asyncio.gather(*(agent.run("Look") for _ in range(5)))
    assert {result.final_reason for result in results} == {"plan_complete"}


def mind_of(server: ModelServer) -> Mind:
    return Mind(models_named("openai:scripted", base_url=server.url), answer_tokens=100)


async def ask(mind: Mind) -> None:
    prompt = Prompt(role="planner", version=1, instructions="Plan.", parts=("Now.",))
    assert isinstance(await mind.ask(prompt, PlanAnswer, worst=Cost(calls=1, tokens=50_000)), Answered)


def test_the_connection_is_kept_for_the_next_call_and_closed_with_the_loop(recwarn: pytest.WarningsRecorder):
    async def both() -> None:
        await ask(mind)
        await ask(mind)

    with ModelServer([{"verdict": "done"}]) as server:
        mind = mind_of(server)
        asyncio.run(both())
        assert server.connections == 1
    assert_none_left_open(recwarn)


async def test_whoever_is_gone_holds_no_connection(recwarn: pytest.WarningsRecorder):
    with ModelServer([{"verdict": "done"}]) as server:
        await ask(mind_of(server))
        gc.collect()
        await asyncio.sleep(0.05)
    assert_none_left_open(recwarn)


def assert_none_left_open(recwarn: pytest.WarningsRecorder) -> None:
    gc.collect()
    assert not [str(warning.message) for warning in recwarn if issubclass(warning.category, ResourceWarning)]
