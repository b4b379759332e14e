"""The trace of a run. Its id follows from the run's id, so every process that drives the run adds to the same trace."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import TypeAlias

from opentelemetry import context, trace
from opentelemetry.trace import Link, NonRecordingSpan, SpanContext, SpanKind, Status, StatusCode, TraceFlags

Value: TypeAlias = str | bool | int | float | Sequence[str]
NANOSECONDS = 1_000_000_000
LONGEST_TEXT = 300


def root_of(run_id: str) -> SpanContext:
    """The parent of all spans of a run. No span has this id: none is open as long as the run lasts, which may be days."""
    digest = sha256(f"midcourse run {run_id}".encode()).digest()
    return SpanContext(
        trace_id=int.from_bytes(digest[:16], "big") or 1,
        span_id=int.from_bytes(digest[16:24], "big") or 1,
        is_remote=True,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )


class RunTrace:
    """Writes finished spans into the trace of a run. `mask` replaces secrets in every text."""

    def __init__(
        self, run_id: str, *, mask: Callable[[str], str], provider: trace.TracerProvider | None = None
    ) -> None:
        self._run_id = run_id
        self._mask = mask
        self._tracer = trace.get_tracer("midcourse", tracer_provider=provider)
        self._context = trace.set_span_in_context(NonRecordingSpan(root_of(run_id)), context.Context())
        self._started_in = trace.get_current_span().get_span_context()
        self._first: SpanContext | None = None

    @contextmanager
    def enter(self) -> Generator[None]:
        """Make it the current trace: spans of model calls and log records of the run belong to it."""
        token = context.attach(trace.set_span_in_context(NonRecordingSpan(root_of(self._run_id))))
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
            start_time=_nanoseconds(began),
        )
        self._first = self._first or span.get_span_context()
        for event, values in (events or {}).items():
            span.add_event(event, self._mask_values(values), _nanoseconds(ended))
        if error:
            span.set_attribute("error.type", self._mask(error))
            span.set_status(Status(StatusCode.ERROR))
        span.end(_nanoseconds(max(began, ended)))

    def _mask_values(self, values: Mapping[str, Value]) -> dict[str, Value]:
        return {name: self._mask(value) if isinstance(value, str) else value for name, value in values.items()}


def _nanoseconds(at: float) -> int:
    return round(at * NANOSECONDS)
