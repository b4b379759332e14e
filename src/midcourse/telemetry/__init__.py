"""OpenTelemetry for whole runs: one trace for each run, and metrics over all of them.

It needs `opentelemetry-api` alone: traces and metrics go to the application's own providers, and nowhere if there are none.
"""

from midcourse.telemetry.run_telemetry import RunTelemetry as RunTelemetry
