"""Calls of models as spans: by the conventions, and with nothing in them that should not be."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from pydantic_ai.exceptions import ModelAuthenticationError

from midcourse.domain.budget import Cost
from midcourse.domain.task import Task
from midcourse.llm.model_client import ModelClient
from midcourse.llm.prompt.template import load_template
from midcourse.llm.roles.planner import ModelPlanner
from midcourse.llm.tracing import Tracing
from midcourse.ports.planner import PlanDraft
from midcourse.redact import redactor
from tests.llm.scripted import Answer, ScriptedModel
from tests.llm.situations import FIRST
from tests.llm.test_cassette import SECRETS
from tests.test_redact import ENCODINGS

SECRET = "hunter2-hunter2"
MASK = redactor((("password", SECRET),))


class Traced:
    def __init__(self, *, content: bool = False, mask: Callable[[str], str] = MASK) -> None:
        self._spans = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self._spans))
        self._tracing = Tracing(run="run-1", content=content, mask=mask, provider=provider)

    async def plan(self, answer: Answer, goal: str = "Order a lamp") -> tuple[PlanDraft, ReadableSpan]:
        model = ScriptedModel([answer], name="gpt-5", provider="openai", tokens=(1000, 100)).model
        client = ModelClient([model], answer_tokens=500, tracing=self._tracing)
        context = replace(FIRST, task=Task(goal=goal), version=3, worst=Cost(calls=1, tokens=60_000))
        draft = await ModelPlanner(client).plan(context)
        return draft, self._spans.get_finished_spans()[-1]


async def test_a_call_is_a_span_by_the_conventions():
    _, span = await Traced().plan({"verdict": "done"})
    assert span.name == "chat gpt-5"
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "function",
        "gen_ai.request.model": "gpt-5",
        "gen_ai.request.max_tokens": 500,
        "gen_ai.response.model": "gpt-5",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.output_tokens": 100,
        "gen_ai.usage.cache_read.input_tokens": 0,
        "midcourse.role": "planner",
        "midcourse.prompt": f"planner {load_template('planner').version}",
        "midcourse.run": "run-1",
        "midcourse.plan": 3,
        "midcourse.cost_usd": 0.00225,
    }
    assert not span.events


async def test_prompts_and_answers_are_in_a_span_only_on_request():
    answer = {"verdict": "done", "reason": f"it says {SECRET}"}
    _, quiet = await Traced().plan(answer, goal=f"Sign in with {SECRET}")
    _, telling = await Traced(content=True).plan(answer, goal=f"Sign in with {SECRET}")
    assert not any(name.endswith((".messages", ".system_instructions")) for name in quiet.attributes or {})
    recorded_text = str(dict(telling.attributes or {}))
    assert "Sign in with <secret password>" in recorded_text
    assert "it says <secret password>" in recorded_text
    assert SECRET not in recorded_text


async def test_an_error_quotes_no_secret_anywhere():
    error = ModelAuthenticationError("gpt-5", f"wrong key: {SECRET}")
    draft, span = await Traced(content=True).plan(error)
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "wrong key: <secret password>")
    assert (span.attributes or {})["error.type"] == "ModelAuthenticationError"
    assert not span.events
    assert draft.detail == "ModelAuthenticationError: wrong key: <secret password>"


async def test_a_bug_is_raised_through_the_span():
    traced = Traced()
    with pytest.raises(ZeroDivisionError):
        await traced.plan(ZeroDivisionError("?"))


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
async def test_no_secret_is_in_a_span_in_any_form(encoding: str, secret: str):
    form = ENCODINGS[encoding](secret)
    spans = Traced(content=True, mask=redactor((("pin", secret),)))
    answer = {"verdict": "gave_up", "reason": f"it is {form}"}
    _, recorded_text = await spans.plan(answer, goal=f"Type {form}")
    _, failed = await spans.plan(ModelAuthenticationError("gpt-5", f"wrong key {form}"))
    texts = [text for span in (recorded_text, failed) for text in _texts(span)]
    assert any("<secret pin>" in text for text in texts)
    assert not any(form in text.replace("<secret pin>", "\0") for text in texts)


def _texts(span: ReadableSpan) -> list[str]:
    """As it is exported, and every text in it as its readers get it."""
    values = list(map(str, (span.attributes or {}).values()))
    inner = [json.dumps(json.loads(value), ensure_ascii=False) for value in values if value.startswith("[{")]
    read = [part["content"] for text in inner for part in _parts(json.loads(text))]
    return [span.to_json(), span.status.description or "", *values, *read]


def _parts(value: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [part for each in value for part in each.get("parts", [each])]
