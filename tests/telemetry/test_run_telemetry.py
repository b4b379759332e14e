"""Turns of a run as spans and metrics, read from an exporter in memory."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from midcourse import Agent, BaseWorld, Draft, Settings, Task, probe, skill
from midcourse.agent.wiring import build_telemetry
from midcourse.history.replay import Trail
from midcourse.planners import SamePlan
from midcourse.process import flush_telemetry
from midcourse.redact import redactor
from midcourse.telemetry import RunTelemetry, make_root
from midcourse.testing import Approves, MemoryStore

GOAL = "Order with hunter2-hunter2"


class Shop(BaseWorld):
    """Stores an order and does not answer."""

    @skill(effect="irreversible", probe="exists")
    def order(self, product: str) -> None:
        raise ConnectionError("504 for hunter2-hunter2")

    @probe
    def exists(self, product: str) -> bool:
        return True


class Recorded:
    """What one run of the shop comes to."""

    def __init__(self, **options: Any) -> None:
        self._exporter, self._reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._exporter))
        meters = MeterProvider([self._reader])
        self._telemetry = RunTelemetry(
            "run-1", goal=GOAL, tracer_provider=self.tracers, meter_provider=meters, **options
        )

    async def run(self, tmp_path: Any) -> None:
        store, plan = MemoryStore(), SamePlan([Draft(skill="order", arguments={"product": "lamp"})])
        agent = Agent(Shop(), plan, approver=Approves(), store=store, settings=Settings(home=tmp_path))
        assert (await agent.run(Task(goal=GOAL), run_id="run-1")).success
        opening = await store.initial_state("run-1")
        with self._telemetry.follow(opening):
            for turn in Trail(opening).take(await store.events("run-1", 0)):
                self._telemetry.tell(turn.event, turn.run, turn.commands)

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self._exporter.get_finished_spans()

    def attributes(self, name: str) -> dict[str, Any]:
        return next(dict(span.attributes or {}) for span in self.spans if span.name == name)

    def metrics(self) -> dict[str, float]:
        return dict(self._points())

    def _points(self) -> Iterator[tuple[str, float]]:
        data = self._reader.get_metrics_data()
        assert data is not None
        for metric in data.resource_metrics[0].scope_metrics[0].metrics:
            for point in metric.data.data_points:
                yield metric.name, point.count if isinstance(point, HistogramDataPoint) else getattr(point, "value", 0)


async def test_spans_follow_the_conventions_and_are_in_the_trace_of_the_run(tmp_path: Any) -> None:
    recorded = Recorded()
    await recorded.run(tmp_path)
    names = [span.name for span in recorded.spans]
    assert names == [
        "invoke_agent midcourse",
        "plan midcourse",
        "request_approval",
        "approval",
        "execute_tool order",
        "verify order",
        "end_agent midcourse",
    ]
    root, first = make_root("run-1"), recorded.spans[0].get_span_context()
    for span in recorded.spans:
        assert span.context is not None
        assert span.context.trace_id == root.trace_id
        assert [link.context for link in span.links] == ([] if span.name == names[0] else [first])
    act = recorded.attributes("execute_tool order")
    expected = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "order",
        "gen_ai.conversation.id": "run-1",
        "midcourse.effect": "irreversible",
        "midcourse.outcome": "unknown",
        "error.type": "error",
    }
    assert {name: act[name] for name in expected} == expected
    assert recorded.spans[4].status.status_code is StatusCode.ERROR
    assert recorded.attributes("verify order")["midcourse.evidence"] == "probe"
    assert recorded.attributes("end_agent midcourse")["midcourse.final_reason"] == "plan_complete"
    (decided,) = recorded.spans[3].events
    assert (decided.name, (decided.attributes or {})["midcourse.verdict"]) == ("midcourse.approval.decided", "approved")


async def test_content_is_written_only_on_request_and_without_secrets(tmp_path: Any) -> None:
    for content in (False, True):
        recorded = Recorded(content=content, mask=redactor((("password", "hunter2-hunter2"),)))
        await recorded.run(tmp_path)
        written = " ".join(span.to_json() for span in recorded.spans)
        assert "hunter2" not in written
        assert ("Order with <secret password>" in written, "504 for <secret password>" in written) == (content, content)


async def test_metrics_count_acts_doubts_and_waiting(tmp_path: Any) -> None:
    recorded = Recorded()
    await recorded.run(tmp_path)
    counted = recorded.metrics()
    names = ("midcourse.runs", "midcourse.acts", "midcourse.unknown_outcomes", "midcourse.waiting.duration")
    assert {name: counted[name] for name in names} == dict.fromkeys(names, 1)
    assert counted["midcourse.model.calls"] == 1


async def test_the_first_span_is_linked_to_where_the_run_was_started(tmp_path: Any) -> None:
    with TracerProvider().get_tracer("app").start_as_current_span("request") as request:
        recorded = Recorded()
    await recorded.run(tmp_path)
    assert [link.context for link in recorded.spans[0].links] == [request.get_span_context()]


async def test_the_run_is_in_its_trace_and_its_caller_is_not(tmp_path: Any) -> None:
    seen: list[int] = []

    class Looking(Shop):
        def exists(self, product: str) -> bool:
            seen.append(trace.get_current_span().get_span_context().trace_id)
            return True

        exists.__dict__.update(Shop.exists.__dict__)

    plan = SamePlan([Draft(skill="order", arguments={"product": "lamp"})])
    agent = Agent(Looking(), plan, approver=Approves(), store=MemoryStore(), settings=Settings(home=tmp_path))
    await agent.run("Order", run_id="run-2")
    assert seen == [make_root("run-2").trace_id]
    assert not trace.get_current_span().get_span_context().is_valid


async def test_an_exporter_that_fails_does_not_disturb_the_run(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("broken")

    monkeypatch.setattr("midcourse.telemetry.RunTrace.write", fail)
    plan = SamePlan([Draft(skill="order", arguments={"product": "lamp"})])
    agent = Agent(Shop(), plan, approver=Approves(), store=MemoryStore(), settings=Settings(home=tmp_path))
    assert (await agent.run("Order", run_id="run-3")).success
    assert caplog.messages.count("the telemetry of run run-3 is incomplete") == 1


def test_nothing_is_imported_for_a_program_without_opentelemetry(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "opentelemetry.trace")
    assert build_telemetry("run-1", Task(goal="Order"), Settings(home=tmp_path), ()) is None


def test_a_process_that_leaves_exports_what_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=600_000))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    provider.get_tracer("app").start_span("last").end()
    assert exporter.get_finished_spans() == ()
    flush_telemetry()
    assert [span.name for span in exporter.get_finished_spans()] == ["last"]
    provider.shutdown()
