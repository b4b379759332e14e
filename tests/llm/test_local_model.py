"""A real model behind a real server: HTTP, schema, usage and errors are what they are with any. Nothing is said of its answers."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Literal

import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel, Field
from pydantic_ai import Agent, ModelSettings, NativeOutput
from pydantic_ai.exceptions import ModelAuthenticationError, ModelRequestRejectedError, ModelTimeoutError
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from tests.local_model import CONTEXT, KEY, MODEL

pytestmark = pytest.mark.slow

PATIENCE = 240.0
"""Seconds for an answer: it makes 60 tokens a second on a quiet machine, and 3 on a busy one."""

SHORT = ModelSettings(max_tokens=4)


class Colour(BaseModel):
    name: Literal["red", "green", "blue"]
    why: str = Field(max_length=8)


@asynccontextmanager
async def open_agent(
    url: str, *, key: str = KEY, patience: float = PATIENCE, **options: Any
) -> AsyncGenerator[Agent[None, Any]]:
    async with AsyncOpenAI(base_url=url, api_key=key, timeout=patience, max_retries=0) as client:
        model = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))
        yield Agent(model, retries=0, model_settings=ModelSettings(max_tokens=40, temperature=0), **options)


async def test_the_answer_has_the_shape_that_was_asked_for_and_what_it_took_is_counted(local_model: str):
    async with open_agent(local_model, output_type=NativeOutput(Colour)) as agent:
        done = await agent.run("Which colour?")
    assert isinstance(done.output, Colour)
    assert done.usage.input_tokens > 0
    assert 0 < done.usage.output_tokens <= 40


async def test_answers_are_streamed(local_model: str):
    async with open_agent(local_model) as agent, agent.run_stream("Hello", model_settings=SHORT) as stream:
        pieces = [piece async for piece in stream.stream_text(delta=True, debounce_by=None)]
    assert len(pieces) > 1
    assert stream.usage.output_tokens > 0


async def test_what_is_longer_than_allowed_is_cut_off_and_says_so(local_model: str):
    async with open_agent(local_model) as agent:
        done = await agent.run("Count to one thousand.", model_settings=SHORT)
    assert (done.response.finish_reason, done.usage.output_tokens) == ("length", 4)


async def test_a_wrong_key_is_turned_away(local_model: str):
    async with open_agent(local_model, key="another") as agent:
        with pytest.raises(ModelAuthenticationError):
            await agent.run("Hello")


async def test_a_prompt_that_does_not_fit_is_rejected(local_model: str):
    async with open_agent(local_model) as agent:
        with pytest.raises(ModelRequestRejectedError, match="context"):
            await agent.run("word " * (CONTEXT + 100))


async def test_timed_out_request_does_not_affect_the_next_one(local_model: str):
    async with open_agent(local_model, patience=0.01) as agent:
        with pytest.raises(ModelTimeoutError):
            await agent.run("Count to one thousand.")
    async with open_agent(local_model) as agent:
        assert (await agent.run("Hello", model_settings=SHORT)).usage.output_tokens > 0
