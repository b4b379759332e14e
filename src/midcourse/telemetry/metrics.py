"""Metrics over runs: replans, unknown outcomes, waiting time, tokens and cost."""

from functools import lru_cache

from opentelemetry import metrics


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
def metrics_of(provider: metrics.MeterProvider | None) -> RunMetrics:
    """The same instruments for all runs of a process."""
    return RunMetrics(provider)
