"""An OTLP receiver on loopback, and a process that exports to it what it drives."""

import gzip
import logging
import os
import signal
import threading
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from opentelemetry import metrics, trace
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from midcourse import Agent, BaseWorld, Draft, Settings, Task, probe, skill
from midcourse.expect import Reference
from midcourse.planners import SamePlan
from midcourse.testing import Approves

SECRETS = tuple(f"secret_{number}" for number in range(50))
PATHS = ("traces", "metrics", "logs")


def secret_value(name: str) -> str:
    return f"p4ss-{name[::-1]}-wörd"


class Receiver(ThreadingHTTPServer):
    """Keeps what is posted to `/v1/traces`, `/v1/metrics` and `/v1/logs`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: dict[str, list[bytes]] = {path: [] for path in PATHS}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def spans(self) -> list[tuple[str, Span]]:
        """Spans with the process that exported them."""
        return [
            (resource.resource.attributes[-1].value.string_value, span)
            for body in self.bodies["traces"]
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def logs(self) -> list[LogRecord]:
        return [
            record
            for body in self.bodies["logs"]
            for resource in ExportLogsServiceRequest.FromString(body).resource_logs
            for scope in resource.scope_logs
            for record in scope.log_records
        ]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Receiver)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
        self.server.bodies[self.path.rpartition("/")[2]].append(body)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002  # as in the base class


@contextmanager
def receive() -> Generator[Receiver]:
    with Receiver() as receiver:
        threading.Thread(target=receiver.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield receiver
        finally:
            receiver.shutdown()


class Door(BaseWorld):
    """A world that repeats every secret that it is told, in results, errors and logs."""

    def __init__(self, dies: bool) -> None:
        super().__init__()
        self._dies = dies

    async def open(self) -> str:
        return "door"

    async def attach(self, handle: str) -> bool:
        return True

    @skill(effect="reversible")
    def say(self, word: str) -> dict[str, str]:
        """Say a word."""
        logging.getLogger("door").warning("said %s", word)
        return {"heard": word}

    @skill(effect="irreversible", probe="is_open")
    def enter(self, word: str) -> None:
        """Open the door."""
        if self._dies:
            os.kill(os.getpid(), signal.SIGKILL)
        raise TimeoutError(f"no answer to {word}")

    @probe
    def is_open(self, word: str) -> bool:
        return not self._dies


class Vault:
    def reveal(self, name: str) -> str | None:
        return secret_value(name)


def drive(home: str, url: str, run_id: str, *, dies: bool) -> None:
    """Start a run in this process, which dies in it, or resume the one that was left; export all of it."""
    resource = Resource({"process": str(os.getpid())})
    traces = TracerProvider(resource=resource)
    traces.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{url}/traces")))
    trace.set_tracer_provider(traces)
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(f"{url}/metrics"))
    meters = MeterProvider([reader], resource=resource)
    metrics.set_meter_provider(meters)
    logs = LoggerProvider(resource=resource)
    logs.add_log_record_processor(SimpleLogRecordProcessor(OTLPLogExporter(f"{url}/logs")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the handler moves to another package
        logging.getLogger().addHandler(LoggingHandler(logger_provider=logs))
    steps = [Draft(skill="say", arguments={"word": Reference(source="secret", name=name)}) for name in SECRETS[:49]]
    last = Draft(skill="enter", arguments={"word": Reference(source="secret", name=SECRETS[49])})
    settings = Settings(home=Path(home), trace_content=True)
    agent = Agent(Door(dies), SamePlan([*steps, last]), approver=Approves(), settings=settings, vault=Vault())
    said = " ".join(secret_value(name) for name in SECRETS)
    if dies:
        agent.run_sync(Task(goal=f"Open the door with {said}", secrets=SECRETS), run_id=run_id)
    else:
        assert agent.resume_sync(run_id).success
    meters.shutdown()
