"""The scripted model says what it was told to, over real HTTP, to a real client."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from http.client import HTTPConnection, IncompleteRead
from typing import Any
from urllib.parse import urlsplit

import pytest
from openai import APIConnectionError, APIStatusError, AsyncOpenAI
from openai.types.chat import ChatCompletionMessage
from pydantic import BaseModel
from pydantic_ai import Agent, AgentRunResult, BinaryContent, NativeOutput, UnexpectedModelBehavior
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from midcourse.errors import TaskInvalid
from midcourse.testing.models import (
    Blurts,
    Calls,
    ChatRequest,
    Cut,
    Fails,
    Late,
    Limited,
    ModelServer,
    Refuses,
    Says,
    Slow,
    Usage,
)


class Colour(BaseModel):
    name: str


def client(server: ModelServer, *, key: str = "k", timeout: float = 10.0, max_retries: int = 0) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=server.url, api_key=key, timeout=timeout, max_retries=max_retries)


@asynccontextmanager
async def agent(server: ModelServer, **options) -> AsyncGenerator[Agent[None, Any]]:
    async with client(server) as speaking:
        yield Agent(OpenAIChatModel("scripted", provider=OpenAIProvider(openai_client=speaking)), **options)


async def run(server: ModelServer, prompt: str | list[Any] = "Which?", **options) -> AgentRunResult[Any]:
    async with agent(server, **options) as asking:
        return await asking.run(prompt)


def post(server: ModelServer, body: object) -> tuple[int, dict[str, str], bytes]:
    address = urlsplit(server.url)
    connection = HTTPConnection(address.hostname or "", address.port or 0, timeout=10)
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    try:
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
    finally:
        connection.close()


async def ask(server: ModelServer, prompt: str = "Which?", **options) -> ChatCompletionMessage:
    messages = [{"role": "user", "content": prompt}]
    async with client(server, **options) as speaking:
        done = await speaking.chat.completions.create(model="scripted", messages=messages)  # pyrefly: ignore[bad-argument-type]
    return done.choices[0].message


class TestAnswers:
    async def test_the_schema_is_asked_for_and_the_value_comes_back(self):
        with ModelServer([{"name": "blue"}]) as server:
            done = await run(server, "Which?", output_type=NativeOutput(Colour), instructions="Be short.")
        assert done.output == Colour(name="blue")
        (request,) = server.requests
        assert request.schema["properties"]["name"] == {"type": "string"}
        assert (request.model, request.streams, "Which?" in request.text, request.system) == (
            "scripted",
            False,
            True,
            "Be short.",
        )
        assert request.headers["authorization"] == "Bearer k"

    async def test_a_tool_is_called(self):
        with ModelServer([Calls("final_result", {"name": "green"})]) as server:
            done = await run(server, "Which?", output_type=Colour)
        assert done.output == Colour(name="green")
        assert server.requests[0].tools == ("final_result",)

    @pytest.mark.parametrize(
        "answer", [{"name": "a rather long name of a colour"}, Calls("final_result", {"name": "red"})]
    )
    async def test_answers_are_streamed(self, answer):
        kind = Colour if isinstance(answer, Calls) else NativeOutput(Colour)
        with ModelServer([answer]) as server:
            async with agent(server, output_type=kind) as asking, asking.run_stream("Which?") as stream:
                output = await stream.get_output()
        assert isinstance(output, Colour)
        assert server.requests[0].streams
        assert stream.usage.output_tokens > 0

    async def test_answers_come_in_order_and_the_last_one_stays(self):
        with ModelServer(["one", "two"]) as server:
            assert [(await ask(server)).content for _ in range(3)] == ["one", "two", "two"]

    @pytest.mark.slow
    async def test_a_function_sees_the_request(self):
        with ModelServer(lambda request: f"{request.number}: {request.text}") as server:
            assert [(await ask(server, hail)).content for hail in ("Hey", "Ho")] == ["0: Hey", "1: Ho"]

    @pytest.mark.slow
    async def test_usage_is_as_scripted(self):
        with ModelServer([Says("x", usage=Usage(10**9, 7, cached=5))]) as server:
            usage = (await run(server, "Which?")).usage
        assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (10**9, 7, 5)

    async def test_usage_grows_with_the_prompt(self):
        with ModelServer(["x"]) as server:
            short, long = [(await run(server, "w" * length)).usage for length in (10, 4010)]
        assert long.input_tokens == short.input_tokens + 1000

    async def test_pictures_arrive(self):
        with ModelServer(["a cat"]) as server:
            await run(server, ["What is it?", BinaryContent(b"png", media_type="image/png")])
        assert server.requests[0].images == ("data:image/png;base64,cG5n",)
        assert server.requests[0].text == "What is it?"

    async def test_models_are_listed(self):
        with ModelServer(["x"], models=("a", "b")) as server:
            async with client(server) as speaking:
                assert [found.id async for found in speaking.models.list()] == ["a", "b"]
        assert server.requests == ()

    def test_a_script_without_answers_is_refused(self):
        with pytest.raises(TaskInvalid, match="at least one"):
            ModelServer([])


class TestTrouble:
    def test_429_says_when_to_come_back(self):
        with ModelServer([Fails(429, retry_after=1.5)]) as server:
            status, headers, body = post(server, {})
        assert (status, headers["retry-after"], headers["retry-after-ms"]) == (429, "2", "1500")
        assert json.loads(body)["error"]["type"] == "rate_limit_exceeded"

    @pytest.mark.parametrize("status", [400, 401, 500, 503])
    async def test_errors_have_their_status(self, status):
        with ModelServer([Fails(status, "no")]) as server, pytest.raises(APIStatusError, match="no") as caught:
            await ask(server)
        assert caught.value.status_code == status

    def test_a_cut_answer_breaks_off(self):
        with ModelServer([Cut("x" * 1000)]) as server, pytest.raises(IncompleteRead) as caught:
            post(server, {})
        assert json.dumps(caught.value.partial.decode()).startswith('"{')
        assert len(caught.value.partial) > 300

    async def test_a_cut_stream_breaks_off(self):
        with (
            ModelServer([Cut("x" * 1000)]) as server,
            pytest.raises(Exception, match=r"(?i)connection|incomplete"),
        ):
            async with agent(server) as asking, asking.run_stream("Which?") as stream:
                await stream.get_output()

    async def test_a_late_answer_is_a_timeout_of_the_client(self):
        with ModelServer([Late("x", seconds=60)]) as server, pytest.raises(APIConnectionError):
            await ask(server, timeout=0.2)

    async def test_stopped_server_ends_waiting_requests(self):
        with ModelServer([Late("x", seconds=60)]) as server:
            asking = asyncio.create_task(ask(server))
            while not server.requests:
                await asyncio.sleep(0.01)
        assert (await asking).content == "x"

    def test_a_slow_answer_takes_its_time(self):
        with ModelServer([Slow("x" * 100, seconds=0.3)]) as server:
            began = time.monotonic()
            status, _, body = post(server, {"model": "m"})
        assert status == 200
        assert json.loads(body)["model"] == "m"
        assert time.monotonic() - began >= 0.25

    @pytest.mark.parametrize("answer", ["{no json", {"colour": "blue"}, "", Says('{"name": "bl', finish="length")])
    async def test_an_answer_that_does_not_fit_is_sent_all_the_same(self, answer):
        with ModelServer([answer]) as server, pytest.raises(UnexpectedModelBehavior):
            await run(server, "Which?", output_type=NativeOutput(Colour), retries=0)

    async def test_a_body_that_is_no_completion_is_an_error_of_the_client(self):
        with ModelServer([Blurts("<html>"), Blurts('{"choices": []}')]) as server:
            for _ in range(2):
                with pytest.raises(Exception, match=r"(?i)json|choices|validation|invalid|response"):
                    await run(server, "Which?")

    async def test_a_refusal_is_marked_as_one(self):
        with ModelServer([Refuses("Not that.")]) as server:
            said = await ask(server)
        assert (said.refusal, said.content) == ("Not that.", None)

    async def test_another_key_is_turned_away(self):
        with ModelServer(["x"], key="right") as server:
            assert (await ask(server, key="right")).content == "x"
            with pytest.raises(APIStatusError, match="wrong key"):
                await ask(server, key="wrong")
        assert len(server.requests) == 2

    async def test_what_the_script_raises_fails_the_test(self):
        def script(request: ChatRequest) -> str:
            raise AssertionError("not what I expected")

        async def carelessly() -> None:
            with ModelServer(script) as server, suppress(APIStatusError):
                await ask(server)

        with pytest.raises(AssertionError, match="not what I expected"):
            await carelessly()

    def test_a_body_that_is_no_json_is_the_callers_fault(self):
        with ModelServer(["x"]) as server:
            address = urlsplit(server.url)
            connection = HTTPConnection(address.hostname or "", address.port or 0, timeout=10)
            connection.request("POST", "/v1/chat/completions", "{")
            assert connection.getresponse().status == 400
            connection.close()


class TestLimited:
    @pytest.mark.slow
    async def test_client_that_waits_as_told_gets_all_answers_in_order(self):
        limited: Limited = Limited(
            ["one", "two", "three"],
            requests=1,
            seconds=0.25,
            clock=lambda: 0.25 * limited.refused,  # each refusal is followed by the wait that it asks for
        )
        with ModelServer(limited) as server:
            assert [(await ask(server, max_retries=1)).content for _ in range(3)] == ["one", "two", "three"]
        assert limited.refused == 2
        assert len(server.requests) == 3 + limited.refused

    def test_requests_beyond_the_limit_get_429_with_retry_after(self):
        with ModelServer(Limited(["x"], requests=2, seconds=60, clock=lambda: 0.0)) as server:
            answers = [post(server, {}) for _ in range(3)]
        assert [status for status, _, _ in answers] == [200, 200, 429]
        assert float(answers[2][1]["retry-after"]) == 60
