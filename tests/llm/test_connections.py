"""Connections to a model are kept within an event loop and a run: none is left open, and none is used in another loop."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from midcourse import Agent, Settings
from midcourse.domain.budget import Cost
from midcourse.llm.model_client import Answered, ModelClient
from midcourse.llm.models import build_models
from midcourse.llm.prompt.template import Prompt
from midcourse.llm.roles.plan_answer import PlanAnswer
from midcourse.testing import MemoryStore
from midcourse.testing.models import Fails, ModelServer
from midcourse.worlds.simulated.shop import Shop

CALLS = 2
"""Of each run: a model that says 'done' before anything was done is asked once more."""


def make_agent(server: ModelServer) -> Agent:
    settings = Settings.load(overrides={"model": "openai:scripted", "model_base_url": server.url})
    return Agent(world=Shop(), settings=settings, store=MemoryStore())


def test_one_agent_plans_in_one_event_loop_after_another():
    with ModelServer([{"verdict": "done"}]) as server:
        agent = make_agent(server)
        assert [agent.run_sync("Look").final_reason for _ in range(3)] == ["plan_complete"] * 3
    assert len(server.requests) == 3 * CALLS


@pytest.mark.slow
async def test_several_runs_at_once_share_a_rate_limited_model():
    with ModelServer([Fails(429, retry_after=0.1), {"verdict": "done"}]) as server:
        agent = make_agent(server)
        results = await asyncio.gather(*(agent.run("Look") for _ in range(5)))
    assert {result.final_reason for result in results} == {"plan_complete"}


def make_client(server: ModelServer) -> ModelClient:
    return ModelClient(build_models("openai:scripted", base_url=server.url), answer_tokens=100)


async def ask(client: ModelClient) -> None:
    prompt = Prompt(role="planner", version=1, instructions="Plan.", parts=("Now.",))
    assert isinstance(await client.ask(prompt, PlanAnswer, worst=Cost(calls=1, tokens=50_000)), Answered)


def test_the_connection_is_kept_for_the_next_call_and_closed_with_the_loop():
    async def both() -> None:
        await ask(client)
        await ask(client)
        assert (server.connections, server.closed) == (1, 0)

    with ModelServer([{"verdict": "done"}]) as server:
        client = make_client(server)
        asyncio.run(both())
        wait_until(lambda: server.closed == 1)


async def test_many_runs_share_one_connection():
    with ModelServer([{"verdict": "done"}]) as server:
        for _ in range(5):
            await make_agent(server).run("Look")
        assert (len(server.requests), server.connections) == (5 * CALLS, 1)


@pytest.mark.slow
def test_threads_share_nothing():
    with ModelServer([{"verdict": "done"}]) as server, ThreadPoolExecutor(4) as threads:
        results = threads.map(lambda _: make_agent(server).run_sync("Look").final_reason, range(8))
        assert set(results) == {"plan_complete"}
    assert len(server.requests) == 8 * CALLS


def test_a_changed_key_is_used_by_the_next_run(monkeypatch: pytest.MonkeyPatch):
    for key in ("one", "two"):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        with ModelServer([{"verdict": "done"}], key=key) as server:
            assert make_agent(server).run_sync("Look").final_reason == "plan_complete"


def wait_until(condition: Callable[[], bool], seconds: float = 600.0) -> None:
    give_up_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < give_up_at
        time.sleep(0.01)
