"""OpenTelemetry spans and metrics of model calls, by the semantic conventions for generative AI.

Spans go to the application's provider; without an SDK none is made. Prompts and answers are included only on request. Secrets
are masked in them and in error messages, because a provider may quote the key that it rejected. That is why the library's own
spans are not used.
"""

import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from opentelemetry.metrics import Histogram, MeterProvider, get_meter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider, get_tracer
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import Model

from midcourse.domain.budget import Cost
from midcourse.llm.cassette import mask_values
from midcourse.llm.prompt.template import Prompt
from midcourse.policy.spending import MICRO


@dataclass(frozen=True, kw_only=True)
class Tracing:
    """`mask` takes out the secrets; `provider` is the application's own unless given."""

    run: str = ""
    content: bool = False
    mask: Callable[[str], str] = str
    provider: TracerProvider | None = None
    meters: MeterProvider | None = None

    @contextmanager
    def call(self, model: Model, prompt: Prompt, *, version: int, most: int) -> Generator["Call"]:
        tracer = get_tracer("midcourse", tracer_provider=self.provider)
        asked = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": model.system,
            "gen_ai.request.model": model.model_name,
        }
        attributes = {
            **asked,
            "gen_ai.request.max_tokens": most,
            "midcourse.role": prompt.role,
            "midcourse.prompt": f"{prompt.role} {prompt.version}",
            "midcourse.run": self.run,
            "midcourse.plan": version,
        }
        with tracer.start_as_current_span(
            f"chat {model.model_name}",
            kind=SpanKind.CLIENT,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            call = Call(span, self, asked)
            try:
                yield call
            except BaseException as error:
                call.record_failure(type(error).__name__, str(error))
                raise
            if self.content:
                call.record_prompt(prompt)


@lru_cache(maxsize=8)
def _get_token_histogram(provider: MeterProvider | None) -> Histogram:
    return get_meter("midcourse", meter_provider=provider).create_histogram("gen_ai.client.token.usage", "{token}")


class Call:
    """The span of one call."""

    def __init__(self, span: Span, tracing: Tracing, asked: Mapping[str, str]) -> None:
        self._span = span
        self._asked = asked
        self._tracing = tracing

    def record_prompt(self, prompt: Prompt) -> None:
        parts = [{"type": "text", "content": part} for part in prompt.parts]
        self._set_json("gen_ai.system_instructions", [{"type": "text", "content": prompt.instructions}])
        self._set_json("gen_ai.input.messages", [{"role": "user", "parts": parts}])

    def record_answer(self, response: ModelResponse, cost: Cost) -> None:
        usage, span = response.usage, self._span
        span.set_attributes(
            {
                "gen_ai.response.model": response.model_name or "",
                "gen_ai.response.finish_reasons": [response.finish_reason or "stop"],
                "gen_ai.usage.input_tokens": usage.input_tokens,
                "gen_ai.usage.output_tokens": usage.output_tokens,
                "gen_ai.usage.cache_read.input_tokens": usage.cache_read_tokens,
                "midcourse.cost_usd": cost.microusd / MICRO,
            }
        )
        for kind, tokens in (("input", usage.input_tokens), ("output", usage.output_tokens)):
            _get_token_histogram(self._tracing.meters).record(tokens, {**self._asked, "gen_ai.token.type": kind})
        if response.provider_response_id:
            span.set_attribute("gen_ai.response.id", response.provider_response_id)
        if self._tracing.content:
            texts = [part.content for part in response.parts if isinstance(part, TextPart)]
            texts += [part.args_as_json_str() for part in response.parts if isinstance(part, ToolCallPart)]
            parts = [{"type": "text", "content": text} for text in texts]
            self._set_json("gen_ai.output.messages", [{"role": "assistant", "parts": parts}])

    def record_failure(self, kind: str, message: str) -> None:
        self._span.set_attribute("error.type", kind)
        self._span.set_status(Status(StatusCode.ERROR, self._tracing.mask(message)[:300]))

    def _set_json(self, name: str, value: object) -> None:
        """Mask each text before it is encoded: a secret that was encoded twice would not be recognised."""
        self._span.set_attribute(name, json.dumps(mask_values(value, self._tracing.mask), ensure_ascii=False))
