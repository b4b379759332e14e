"""A fake of Slack's API on loopback: the Web API over HTTP, and socket mode over a WebSocket."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any
from urllib.parse import parse_qsl

from websockets.sync.server import ServerConnection, serve

from midcourse.server.webhooks.config import EventType, SlackHook

CHANNEL = "C0123456789"
BOT, APP = "xoxb-bot", "xapp-app"


@dataclass(kw_only=True)
class FakeSlack:
    url: str = ""
    socket: str = ""
    answers: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """The answers to the next messages. When they are used up, messages are accepted."""
    posted: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    called: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Method and token of every call."""
    sends: Queue[dict[str, Any]] = field(default_factory=Queue[dict[str, Any]])
    """Envelopes to send to the client that is connected by socket mode."""
    replies: Queue[dict[str, Any]] = field(default_factory=Queue[dict[str, Any]])
    """What the client sent back."""

    def make_hook(self, **options: Any) -> SlackHook:
        events: tuple[EventType, ...] = ("question.asked", "run.ended")
        options = {"name": "team", "tenant": "acme", "events": events, "channel": CHANNEL, **options}
        return SlackHook(url=f"{self.url}/api/", bot_token=BOT, app_token=APP, **options)

    def answer(self, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
        match method:
            case "chat.postMessage":
                answer = self.answers.pop(0) if self.answers else {"ok": True, "ts": "1.2"}
                self.posted.append(arguments)
                return answer
            case "apps.connections.open":
                return {"ok": True, "url": self.socket}
            case "auth.test":
                return {"ok": True, "bot_id": "B1", "user_id": "U1", "team_id": "T1", "url": "https://x.slack.com/"}
            case _:
                return {"ok": False, "error": "unknown_method"}


@contextmanager
def run_fake_slack() -> Generator[FakeSlack]:
    fake = FakeSlack()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            form = self.headers.get("Content-Type", "").startswith("application/x-www-form-urlencoded")
            arguments = dict(parse_qsl(body)) if form else json.loads(body or "{}")
            method = self.path.rpartition("/")[2]
            fake.called.append((method, self.headers.get("Authorization", "").removeprefix("Bearer ")))
            data = json.dumps(fake.answer(method, arguments)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Log nothing."""

    def handle_connection(line: ServerConnection) -> None:
        line.send(json.dumps({"type": "hello", "num_connections": 1}))
        stopped = threading.Event()

        def send() -> None:
            while not stopped.is_set():
                if not fake.sends.empty():
                    line.send(json.dumps(fake.sends.get()))
                stopped.wait(0.05)

        sending = threading.Thread(target=send, daemon=True)
        sending.start()
        try:
            for message in line:
                fake.replies.put(json.loads(message))
        finally:
            stopped.set()
            sending.join()

    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{web.server_address[1]}"
    with serve(handle_connection, "127.0.0.1", 0, close_timeout=1) as lines:
        fake.socket = f"ws://127.0.0.1:{lines.socket.getsockname()[1]}/link?ticket=1"
        threads = [
            threading.Thread(target=lambda: web.serve_forever(poll_interval=0.05), daemon=True),
            threading.Thread(target=lines.serve_forever, daemon=True),
        ]
        for thread in threads:
            thread.start()
        try:
            yield fake
        finally:
            web.shutdown()
            web.server_close()
            lines.shutdown()
            for thread in threads:
                thread.join()
