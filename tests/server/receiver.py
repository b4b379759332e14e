"""A receiver of webhooks on loopback that fails, delays and redirects on request, and records everything that it receives."""

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from midcourse.server.webhooks.config import EventType, Webhook

SECRET = b"a secret of at least 24 bytes"


@dataclass(frozen=True, kw_only=True)
class Received:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(kw_only=True)
class Receiver:
    answers: list[int | float] = field(default_factory=list[int | float])
    """A status for each request in turn; a float is a delay before a success. Then it succeeds."""
    received: list[Received] = field(default_factory=list[Received])
    connections: int = 0
    port: int = 0

    def make_hook(self, name: str = "ops", *, host: str = "127.0.0.1", **options: Any) -> Webhook:
        events: tuple[EventType, ...] = ("question.asked", "run.ended")
        options = {"tenant": "acme", "events": events, "allow_private": True, **options}
        return Webhook(name=name, url=f"http://{host}:{self.port}/hooks?from=midcourse", secret=SECRET, **options)


@contextmanager
def run_receiver(*answers: int | float, port: int = 0) -> Generator[Receiver]:
    receiver = Receiver(answers=list(answers))

    class Handler(BaseHTTPRequestHandler):
        def setup(self) -> None:
            receiver.connections += 1
            super().setup()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.received.append(Received(path=self.path, headers=headers, body=body))
            answer = receiver.answers.pop(0) if receiver.answers else 204
            if isinstance(answer, float):
                time.sleep(answer)
            try:
                self.send_response(answer if isinstance(answer, int) else 204)
                if answer in (301, 302, 307, 308):
                    self.send_header("Location", f"http://127.0.0.1:{receiver.port}/internal")
                self.end_headers()
            except OSError:
                pass  # the sender did not wait for it

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.05), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
