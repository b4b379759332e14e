"""A model that is asked for every plan, with its answers ignored, to search its prompts, cassettes and traces."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor

from midcourse.agent.models import build_model_planner
from midcourse.config.settings import Settings
from midcourse.ports.planner import PlanningContext

MAX_TOKENS = 100_000


@cache
def get_model(url: str, folder: Path) -> "RecordedModel":
    """Return the model of this process. There is one, because the span exporter can be set only once."""
    return RecordedModel(url, folder)


class RecordedModel:
    """A model with records in `folder`: spans with all messages, and a cassette."""

    def __init__(self, url: str, folder: Path) -> None:
        provider = TracerProvider()
        spans = (folder / "spans.jsonl").open("a", encoding="utf-8")
        provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=spans, formatter=_format_span)))
        trace.set_tracer_provider(provider)
        settings = Settings(record=folder / "cassette.jsonl", trace_content=True)
        self._planner = build_model_planner("openai:scripted", settings, url)

    async def ask(self, context: PlanningContext) -> None:
        worst = self._planner.worst(MAX_TOKENS)  # pyrefly: ignore[missing-attribute]
        draft = await self._planner.plan(replace(context, worst=worst))
        assert draft.verdict == "gave_up", f"the model was not asked: {draft}"


def _format_span(span: ReadableSpan) -> str:
    return span.to_json(indent=None) + "\n"
