"""Families of providers: how a model of each is built, what its server answers, and where its requests carry the schema of the answer."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any

from pydantic_ai.models import Model
from pydantic_ai.profiles import ModelProfile

from midcourse.testing.loopback import serve_on_loopback

Json = dict[str, Any]
KEY = "none"
WITH_TOOLS = ModelProfile(supports_json_schema_output=False)
WITH_NEITHER = ModelProfile(supports_json_schema_output=False, supports_tools=False)


@dataclass(frozen=True, kw_only=True)
class Family:
    package: str
    """Its client; the main lock has only those of OpenAI and Bedrock."""
    build: Callable[[str], Model]
    """Builds the model of a server at this address."""
    reply: Callable[[str, str], Json]
    """The response of its server, for the name of the role and the text of the answer."""
    find_schema: Callable[[Json], Json]
    """Finds the schema of the answer in the body of a request."""


# --- models


def build_openai_chat(url: str, profile: ModelProfile | None = None) -> Model:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=f"{url}/v1", api_key=KEY)
    return OpenAIChatModel("gpt-5", provider=provider, profile=profile)


def build_openai_responses(url: str) -> Model:
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIResponsesModel("gpt-5", provider=OpenAIProvider(base_url=f"{url}/v1", api_key=KEY))


def build_anthropic(url: str, profile: ModelProfile | None = None) -> Model:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    provider = AnthropicProvider(base_url=url, api_key=KEY)
    return AnthropicModel("claude-sonnet-4-6", provider=provider, profile=profile)


def build_bedrock(name: str, url: str) -> Model:
    from pydantic_ai.models.bedrock import BedrockConverseModel
    from pydantic_ai.providers.bedrock import BedrockProvider

    keys = {"aws_access_key_id": KEY, "aws_secret_access_key": KEY}
    return BedrockConverseModel(name, provider=BedrockProvider(region_name="us-east-1", base_url=url, **keys))


def build_gemini(url: str) -> Model:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    return GoogleModel("gemini-2.5-pro", provider=GoogleProvider(api_key=KEY, base_url=url))


def build_mistral(url: str) -> Model:
    from pydantic_ai.models.mistral import MistralModel
    from pydantic_ai.providers.mistral import MistralProvider

    return MistralModel("mistral-large-latest", provider=MistralProvider(api_key=KEY, base_url=url))


def build_groq(name: str, url: str) -> Model:
    from pydantic_ai.models.groq import GroqModel
    from pydantic_ai.providers.groq import GroqProvider

    return GroqModel(name, provider=GroqProvider(api_key=KEY, base_url=url))


# --- what their servers answer


def _chat(message: Json, finish: str) -> Json:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def say_in_chat(role: str, text: str) -> Json:
    return _chat({"content": text}, "stop")


def call_in_chat(role: str, text: str) -> Json:
    call = {"id": "abcdefghi", "type": "function", "function": {"name": role, "arguments": text}}
    return _chat({"content": "", "tool_calls": [call]}, "tool_calls")


def say_in_response(role: str, text: str) -> Json:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"type": "message", "id": "1", "role": "assistant", "status": "completed", "content": content}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": "1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "m",
        "output": [message],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details},
    }


def _message(content: Json, stop: str) -> Json:
    usage = {"input_tokens": 1, "output_tokens": 1}
    body = {"id": "1", "type": "message", "role": "assistant", "model": "m", "content": [content], "usage": usage}
    return {**body, "stop_reason": stop, "stop_sequence": None}


def say_as_claude(role: str, text: str) -> Json:
    return _message({"type": "text", "text": text}, "end_turn")


def call_as_claude(role: str, text: str) -> Json:
    return _message({"type": "tool_use", "id": "1", "name": role, "input": json.loads(text)}, "tool_use")


def _converse(content: Json, stop: str) -> Json:
    usage = {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2}
    output = {"message": {"role": "assistant", "content": [content]}}
    return {"output": output, "stopReason": stop, "usage": usage, "metrics": {"latencyMs": 1}}


def say_in_bedrock(role: str, text: str) -> Json:
    return _converse({"text": text}, "end_turn")


def call_in_bedrock(role: str, text: str) -> Json:
    return _converse({"toolUse": {"toolUseId": "1", "name": role, "input": json.loads(text)}}, "tool_use")


def say_as_gemini(role: str, text: str) -> Json:
    candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m", "responseId": "1"}


# --- where their requests carry the schema


def find_in_instructions(body: Json) -> Json:
    """The schema is the one object of the system message that has the word `properties`, after the example of an answer."""
    text = "\n".join(message["content"] for message in body["messages"] if message["role"] in ("system", "developer"))
    decoder = json.JSONDecoder()
    starts = (at for at, letter in enumerate(text) if letter == "{")
    return next(found for found in _decode_all(decoder, text, starts) if "properties" in found)


def _decode_all(decoder: json.JSONDecoder, text: str, starts: Iterator[int]) -> Iterator[Json]:
    for start in starts:
        try:
            value, _ = decoder.raw_decode(text, start)
        except ValueError:
            continue
        yield value


FAMILIES: Mapping[str, Family] = {
    "openai_chat": Family(
        package="openai",
        build=build_openai_chat,
        reply=say_in_chat,
        find_schema=lambda body: body["response_format"]["json_schema"]["schema"],
    ),
    "openai_responses": Family(
        package="openai",
        build=build_openai_responses,
        reply=say_in_response,
        find_schema=lambda body: body["text"]["format"]["schema"],
    ),
    "server_with_tools_only": Family(
        package="openai",
        build=partial(build_openai_chat, profile=WITH_TOOLS),
        reply=call_in_chat,
        find_schema=lambda body: body["tools"][0]["function"]["parameters"],
    ),
    "server_with_neither": Family(
        package="openai",
        build=partial(build_openai_chat, profile=WITH_NEITHER),
        reply=say_in_chat,
        find_schema=find_in_instructions,
    ),
    "anthropic_native": Family(
        package="anthropic",
        build=build_anthropic,
        reply=say_as_claude,
        find_schema=lambda body: body["output_config"]["format"]["schema"],
    ),
    "anthropic_tools": Family(
        package="anthropic",
        build=partial(build_anthropic, profile=WITH_TOOLS),
        reply=call_as_claude,
        find_schema=lambda body: body["tools"][0]["input_schema"],
    ),
    "bedrock_claude": Family(
        package="boto3",
        build=partial(build_bedrock, "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        reply=say_in_bedrock,
        find_schema=lambda body: json.loads(body["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"]),
    ),
    "bedrock_tools": Family(
        package="boto3",
        build=partial(build_bedrock, "us.amazon.nova-pro-v1:0"),
        reply=call_in_bedrock,
        find_schema=lambda body: body["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"],
    ),
    "gemini": Family(
        package="google.genai",
        build=build_gemini,
        reply=say_as_gemini,
        find_schema=lambda body: body["generationConfig"]["responseJsonSchema"],
    ),
    "mistral": Family(
        package="mistralai",
        build=build_mistral,
        reply=call_in_chat,
        find_schema=lambda body: body["tools"][0]["function"]["parameters"],
    ),
    "groq": Family(
        package="groq",
        build=partial(build_groq, "openai/gpt-oss-120b"),
        reply=say_in_chat,
        find_schema=lambda body: body["response_format"]["json_schema"]["schema"],
    ),
}


# --- the server


@dataclass(kw_only=True)
class Server:
    """Answers every request with `answer` in the format of its family, and keeps the requests."""

    reply: Callable[[str, str], Json]
    answer: tuple[str, str] = ("", "")
    """The name of the role and the text."""
    bodies: list[Json] = field(default_factory=list[Json])
    url: str = ""


@contextmanager
def serve(family: Family) -> Iterator[Server]:
    server = Server(reply=family.reply)
    with serve_on_loopback(partial(_Handler, server)) as server.url:
        yield server


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def __init__(self, server: Server, *connection: Any) -> None:
        self._asked = server
        super().__init__(*connection)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing: the server keeps its requests."""

    def do_POST(self) -> None:
        self._asked.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        sent = json.dumps(self._asked.reply(*self._asked.answer)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)
