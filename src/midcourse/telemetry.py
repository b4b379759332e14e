"""OpenTelemetry for whole runs: one trace for each run, and metrics over all of them, by the semantic conventions for generative AI.

Each turn is written after it was stored, with the times in the journal. What was planned, sent and said is content, and left out unless
it is asked for; names of skills, outcomes, evidence, counts and costs are not.

It needs `opentelemetry-api` alone: traces and metrics go to the application's own providers, and nowhere if there are none.
"""

import json
import logging
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from hashlib import sha256
from typing import TypeAlias

from opentelemetry import context, metrics, trace
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from midcourse.domain import commands, events, phases
from midcourse.domain.plan import PlannedStep
from midcourse.domain.result import SUCCESSES
from midcourse.domain.run import Issued, Run
from midcourse.policy.spending import MICRO
from midcourse.redact import Discreet

log = logging.getLogger(__name__)

Value: TypeAlias = str | bool | int | float | Sequence[str]
NANOSECONDS = 1_000_000_000
LONGEST_TEXT = 300

AGENT = "midcourse"
FAILURES = ("failed", "unreachable", "unknown")


class RunTelemetry:
    """Writes one run. `goal` and other content is included only with `content`, without what `mask` replaces."""

    def __init__(
        self,
        run_id: str,
        *,
        goal: str = "",
        content: bool = False,
        mask: Callable[[str], str] = str,
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
    ) -> None:
        self._run_id = run_id
        self._goal = goal
        self._content = content
        self._mask = mask
        self._trace = RunTrace(run_id, mask=mask, provider=tracer_provider)
        self._metrics = get_metrics(meter_provider)
        self._issued: dict[int, Issued] = {}
        self._steps: dict[tuple[int, int], PlannedStep] = {}
        self._asked: dict[int, tuple[str, float]] = {}
        self._replans = 0
        self._failed = False

    def follow(self, run: Run) -> AbstractContextManager[None]:
        self._replans = run.counts.replans
        if isinstance(run.phase, phases.Asking):
            self._asked[run.phase.question] = (run.phase.about, run.now)
        self._remember(run)
        _mask_exported_logs()
        return self._trace.enter()

    def tell(self, event: events.Event, run: Run, issued: tuple[commands.Command, ...]) -> None:
        try:
            self._write(event, run)
            for command in issued:
                if isinstance(command, commands.AskPerson):
                    self._write_question(command, run.now)
            self._count(event, run)
            self._remember(run)
        except Exception:
            if not self._failed:
                log.exception("the telemetry of run %s is incomplete", self._run_id)
            self._failed = True

    def _remember(self, run: Run) -> None:
        self._issued = {issued.command.id: issued for issued in run.pending}
        for step in run.segment.steps if run.segment else ():
            self._steps[step.version, step.index] = step

    # --- spans

    def _write(self, event: events.Event, run: Run) -> None:
        match event:
            case events.Started() | events.Resumed():
                self._write_beginning(event)
            case events.Planned() | events.TryPlanned():
                self._write_plan(event)
            case events.Acted():
                self._write_act(event)
            case events.Verified():
                self._write_verification(event)
            case events.ApprovalDecided():
                self._write_decision(event)
            case events.Finished():
                self._write_end(event, run)
            case _:
                pass

    def _write_beginning(self, event: events.Started | events.Resumed) -> None:
        attributes: dict[str, Value] = {
            "gen_ai.agent.name": AGENT,
            "midcourse.resumed": isinstance(event, events.Resumed),
        }
        if self._content:
            parts = [{"type": "text", "content": self._mask(self._goal)}]
            attributes["gen_ai.input.messages"] = json.dumps([{"role": "user", "parts": parts}], ensure_ascii=False)
        self._trace.write(
            f"invoke_agent {AGENT}", "invoke_agent", began=event.at, ended=event.at, attributes=attributes
        )

    def _write_plan(self, event: events.Planned | events.TryPlanned) -> None:
        command, began = self._find_issued(event.answers, event.at)
        attributes: dict[str, Value] = {"gen_ai.agent.name": AGENT, "midcourse.verdict": event.verdict}
        if isinstance(command, commands.MakePlan | commands.PlanTry):
            attributes["midcourse.plan"] = command.version
            attributes["midcourse.cause"] = command.cause if isinstance(command, commands.MakePlan) else "detour"
        if isinstance(event, events.Planned):
            attributes |= {
                "midcourse.steps": len(event.steps),
                "midcourse.final": event.final,
                "midcourse.repairs": event.repairs,
                "midcourse.reused": event.reused,
            }
            self._steps |= {(step.version, step.index): step for step in event.steps}
        elif event.step is not None:
            self._steps[event.step.version, event.step.index] = event.step
        self._trace.write(
            f"plan {AGENT}",
            "plan",
            began=began,
            ended=event.at,
            attributes=attributes | self._detail_attributes(event.detail),
            error=event.verdict if event.verdict in ("garbage", "transport", "refused", "rejected") else "",
        )

    def _write_act(self, event: events.Acted) -> None:
        """Write a span only for an act that was sent or failed: a held step waits for a person, and some steps send nothing."""
        command, began = self._find_issued(event.answers, event.at)
        step = self._steps.get((command.version, command.index)) if isinstance(command, commands.Act) else None
        if event.reason == "held" or not (event.dispatched or event.status in FAILURES):
            return
        name = step.skill if step else ""
        effect = (
            event.effect
            or (command.effect if isinstance(command, commands.Act) else None)
            or (step.effect if step else "")
        )
        attributes: dict[str, Value] = {
            "gen_ai.tool.name": name,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": f"{self._run_id}/{event.answers}",
            "midcourse.effect": effect,
            "midcourse.dispatched": event.dispatched,
            "midcourse.outcome": event.status,
            "midcourse.reason": event.reason,
            "midcourse.evidence": event.evidence,
        }
        if isinstance(command, commands.Act):
            attributes |= {"midcourse.plan": command.version, "midcourse.step": command.index + 1}
        self._trace.write(
            f"execute_tool {name}".strip(),
            "execute_tool",
            began=began,
            ended=event.at,
            attributes=attributes | self._detail_attributes(event.detail),
            error=(event.reason or event.status) if event.status in FAILURES else "",
        )
        if event.dispatched:
            kind: dict[str, Value] = {"gen_ai.tool.name": name, "midcourse.effect": effect}
            self._metrics.acts.add(1, {**kind, "midcourse.outcome": event.status})
            if event.status == "unknown":
                self._metrics.unknown.add(1, kind)

    def _write_verification(self, event: events.Verified) -> None:
        command, began = self._find_issued(event.answers, event.at)
        step = self._steps.get((command.version, command.index)) if isinstance(command, commands.Verify) else None
        attributes: dict[str, Value] = {
            "gen_ai.tool.name": step.skill if step else "",
            "midcourse.verdict": event.verdict,
            "midcourse.evidence": event.evidence,
        }
        if isinstance(command, commands.Verify):
            attributes["gen_ai.tool.call.id"] = f"{self._run_id}/{command.doubted}"
        name = f"verify {attributes['gen_ai.tool.name']}".strip()
        more = self._detail_attributes(event.detail)
        self._trace.write(name, "verify", began=began, ended=event.at, attributes=attributes | more)

    def _write_question(self, command: commands.AskPerson, at: float) -> None:
        self._asked[command.id] = (command.about, at)
        asked: dict[str, Value] = {
            "midcourse.question": command.id,
            "midcourse.about": command.about,
            "midcourse.steps": len(command.steps),
        }
        span_events = {"midcourse.approval.requested": asked}
        self._trace.write(
            "request_approval", "request_approval", began=at, ended=at, attributes=asked, events=span_events
        )

    def _write_decision(self, event: events.ApprovalDecided) -> None:
        about, asked_at = self._asked.pop(event.question, ("", event.at))
        decided: dict[str, Value] = {
            "midcourse.question": event.question,
            "midcourse.about": about,
            "midcourse.verdict": event.verdict,
        }
        if self._content:
            decided |= {
                "midcourse.decided_by": event.by,
                "midcourse.guidance": self._mask(event.guidance)[:LONGEST_TEXT],
            }
        span_events = {"midcourse.approval.decided": decided}
        self._trace.write(
            "approval", "approval", began=asked_at, ended=event.at, attributes=decided, events=span_events
        )
        kind = {"midcourse.about": about, "midcourse.verdict": event.verdict}
        self._metrics.waiting.record(max(0.0, event.at - asked_at), kind)

    def _write_end(self, event: events.Finished, run: Run) -> None:
        reason = run.phase.reason if isinstance(run.phase, phases.Ended) else "cancelled"
        success, spent = reason in SUCCESSES, run.budget.spent
        attributes: dict[str, Value] = {
            "gen_ai.agent.name": AGENT,
            "midcourse.final_reason": reason,
            "midcourse.success": success,
            "midcourse.verified": run.verified,
            "midcourse.replans": run.counts.replans,
            "midcourse.executions": run.counts.executions,
            "midcourse.model_calls": spent.calls,
            "midcourse.tokens": spent.tokens,
            "midcourse.cost_usd": spent.microusd / MICRO,
            "midcourse.active_seconds": run.budget.active_seconds,
        }
        error = "" if success else reason
        name = f"end_agent {AGENT}"
        self._trace.write(name, "end_agent", began=event.at, ended=event.at, attributes=attributes, error=error)
        self._metrics.runs.add(1, {"midcourse.final_reason": reason, "midcourse.verified": run.verified})

    def _detail_attributes(self, detail: str) -> dict[str, Value]:
        return {"midcourse.detail": self._mask(detail)[:LONGEST_TEXT]} if self._content and detail else {}

    def _find_issued(self, number: int, otherwise: float) -> tuple[commands.Command | None, float]:
        """Return the command that was answered, and when it was issued."""
        issued = self._issued.get(number)
        return (issued.command, issued.at or otherwise) if issued else (None, otherwise)

    # --- metrics

    def _count(self, event: events.Event, run: Run) -> None:
        if run.counts.replans > self._replans:
            self._metrics.replans.add(run.counts.replans - self._replans)
        self._replans = run.counts.replans
        for spent in event.spent if isinstance(event, events.Accounted) else ():
            kind: dict[str, Value] = {"midcourse.role": spent.role, "gen_ai.request.model": spent.model}
            self._metrics.calls.add(spent.cost.calls, kind)
            self._metrics.tokens.add(spent.cost.tokens, kind)
            self._metrics.cost.add(spent.cost.microusd / MICRO, kind)


class RunTrace:
    """Writes finished spans into the trace of a run. `mask` replaces secrets in every text."""

    def __init__(
        self, run_id: str, *, mask: Callable[[str], str], provider: trace.TracerProvider | None = None
    ) -> None:
        self._run_id = run_id
        self._mask = mask
        self._tracer = trace.get_tracer("midcourse", tracer_provider=provider)
        self._context = trace.set_span_in_context(NonRecordingSpan(make_root(run_id)), context.Context())
        self._started_in = trace.get_current_span().get_span_context()
        self._first: SpanContext | None = None

    @contextmanager
    def enter(self) -> Generator[None]:
        """Make it the current trace: spans of model calls and log records of the run belong to it."""
        token = context.attach(trace.set_span_in_context(NonRecordingSpan(make_root(self._run_id))))
        try:
            yield
        finally:
            context.detach(token)

    def write(
        self,
        name: str,
        operation: str,
        *,
        began: float,
        ended: float,
        attributes: Mapping[str, Value],
        error: str = "",
        events: Mapping[str, Mapping[str, Value]] | None = None,
    ) -> None:
        """Write a span that lasted from `began` to `ended`, in seconds. It is linked to the first span of this process.

        The first one is linked to the span that was current where the run was started, if there was one.
        """
        common: dict[str, Value] = {"gen_ai.operation.name": operation, "midcourse.run": self._run_id}
        span = self._tracer.start_span(
            self._mask(name),
            context=self._context,
            kind=SpanKind.INTERNAL,
            attributes=self._mask_values({**common, "gen_ai.conversation.id": self._run_id, **attributes}),
            links=[Link(linked) for linked in (self._first or self._started_in,) if linked.is_valid],
            start_time=round(began * NANOSECONDS),
        )
        self._first = self._first or span.get_span_context()
        for event, values in (events or {}).items():
            span.add_event(event, self._mask_values(values), round(ended * NANOSECONDS))
        if error:
            span.set_attribute("error.type", self._mask(error))
            span.set_status(Status(StatusCode.ERROR))
        span.end(round(max(began, ended) * NANOSECONDS))

    def _mask_values(self, values: Mapping[str, Value]) -> dict[str, Value]:
        return {name: self._mask(value) if isinstance(value, str) else value for name, value in values.items()}


def make_root(run_id: str) -> SpanContext:
    """Return the parent of all spans of a run. No span has this id: none is open as long as the run lasts, which may be days."""
    digest = sha256(f"midcourse run {run_id}".encode()).digest()
    return SpanContext(
        trace_id=int.from_bytes(digest[:16], "big") or 1,
        span_id=int.from_bytes(digest[16:24], "big") or 1,
        is_remote=True,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )


class RunMetrics:
    """The instruments. Those of `gen_ai.client` are written with each model call (`llm/tracing.py`)."""

    def __init__(self, provider: metrics.MeterProvider | None = None) -> None:
        meter = metrics.get_meter("midcourse", meter_provider=provider)
        self.runs = meter.create_counter("midcourse.runs", "{run}", "Runs that ended")
        self.replans = meter.create_counter(
            "midcourse.replans", "{plan}", "Plans made after a failure, guidance or a loss"
        )
        self.acts = meter.create_counter("midcourse.acts", "{act}", "Acts that were sent")
        self.unknown = meter.create_counter(
            "midcourse.unknown_outcomes", "{act}", "Acts after which it was unknown whether they happened"
        )
        self.waiting = meter.create_histogram("midcourse.waiting.duration", "s", "Time that a run waited for a person")
        self.calls = meter.create_counter("midcourse.model.calls", "{call}", "Model calls")
        self.tokens = meter.create_counter("midcourse.model.tokens", "{token}", "Tokens of model calls")
        self.cost = meter.create_counter("midcourse.model.cost", "USD", "Cost of model calls")


@lru_cache(maxsize=8)
def get_metrics(provider: metrics.MeterProvider | None) -> RunMetrics:
    """Return the same instruments for all runs of a process."""
    return RunMetrics(provider)


def _mask_exported_logs() -> None:
    """Mask secrets in log records that a handler of OpenTelemetry exports, as in our own log files."""
    for handler in logging.getLogger().handlers:
        exports = type(handler).__module__.startswith("opentelemetry.")
        if exports and not any(isinstance(each, Discreet) for each in handler.filters):
            handler.addFilter(Discreet())
