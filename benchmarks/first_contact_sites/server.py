"""A small web framework on loopback: sessions in cookies, forms, uploads, JSON bodies, and a log of effects for each application."""

import json
import secrets
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from functools import partial
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from midcourse.testing.loopback import serve_on_loopback


@dataclass(kw_only=True)
class Visit:
    """A request, with the session of its client."""

    method: str
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]
    cookies: dict[str, str]
    body: bytes = b""
    form: dict[str, str] = field(default_factory=dict[str, str])
    files: dict[str, tuple[str, bytes]] = field(default_factory=dict[str, tuple[str, bytes]])
    json: Any = None
    session: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(kw_only=True)
class Reply:
    """An answer. `seconds` is its delay."""

    body: str = ""
    status: int = 200
    type: str = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    cookies: dict[str, str] = field(default_factory=dict[str, str])
    seconds: float = 0.0


def redirect(where: str, status: int = 302) -> Reply:
    return Reply(status=status, headers={"Location": where})


def answer_json(value: object, status: int = 200, seconds: float = 0.0) -> Reply:
    return Reply(body=json.dumps(value), status=status, type="application/json", seconds=seconds)


Handler = Callable[[Visit], Reply]


class App:
    """An application. `effects` is its log of what was ordered, booked or sent; `other` counts requests without such an effect."""

    cookie = "sid"

    def __init__(self) -> None:
        self.effects: list[str] = []
        self.other: Counter[str] = Counter()
        self.sessions: dict[str, dict[str, Any]] = {}
        self.routes: dict[str, Handler] = {}
        self._lock = Lock()

    def answer(self, visit: Visit) -> Reply:
        with self._lock:
            name = visit.cookies.get(self.cookie, "")
            fresh = name not in self.sessions
            if fresh:
                name = secrets.token_hex(16)
                self.sessions[name] = {}
            visit.session = self.sessions[name]
            handler = self.routes.get(f"{visit.method} {visit.path}") or self.find(visit)
            reply = handler(visit) if handler else Reply(status=404, body="<!doctype html><title>404</title>Not found")
            if fresh and reply.status != 404:
                reply.cookies[self.cookie] = name
            return reply

    def find(self, visit: Visit) -> Handler | None:
        """Return the handler of a path with a variable part."""
        return None

    def make_token(self, visit: Visit, name: str = "tokens") -> str:
        """Return a token that only this rendering of a form has."""
        token = secrets.token_urlsafe(24)
        visit.session.setdefault(name, set()).add(token)
        return token

    def take_token(self, visit: Visit, token: str, name: str = "tokens") -> bool:
        """Return whether the token is one of this session. It can be used once."""
        known: set[str] = visit.session.setdefault(name, set())
        if token not in known:
            return False
        known.discard(token)
        return True


@contextmanager
def serve_app(app: App) -> Generator[str]:
    """Serve the application inside the context. Yields its address."""
    with serve_on_loopback(partial(_Connection, app)) as address:
        yield address


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, app: App, *connection: Any) -> None:
        self._app = app
        super().__init__(*connection)

    def do_GET(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        self._respond()

    def do_PUT(self) -> None:
        self._respond()

    def do_PATCH(self) -> None:
        self._respond()

    def do_DELETE(self) -> None:
        self._respond()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing: the application has its own log."""

    def _respond(self) -> None:
        reply = self._app.answer(self._read())
        time.sleep(reply.seconds)
        body = reply.body.encode()
        try:
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.type)
            self.send_header("Content-Length", str(len(body)))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            for name, value in reply.cookies.items():
                self.send_header("Set-Cookie", f"{name}={value}; Path=/; SameSite=Lax")
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:
            self.close_connection = True

    def _read(self) -> Visit:
        address = urlsplit(self.path)
        cookies = SimpleCookie(self.headers.get("Cookie") or "")
        visit = Visit(
            method=self.command,
            path=address.path,
            query=dict(parse_qsl(address.query, keep_blank_values=True)),
            headers=dict(self.headers.items()),
            cookies={name: morsel.value for name, morsel in cookies.items()},
            body=self.rfile.read(int(self.headers.get("Content-Length") or 0)),
        )
        kind = self.headers.get("Content-Type") or ""
        if "json" in kind:
            visit.json = json.loads(visit.body or b"null")
        elif kind.startswith("multipart/form-data"):
            _read_parts(visit, kind)
        elif visit.body:
            visit.form = dict(parse_qsl(visit.body.decode(), keep_blank_values=True))
        return visit


def _read_parts(visit: Visit, kind: str) -> None:
    message = BytesParser().parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + visit.body)
    for part in message.walk():
        name = part.get_param("name", header="content-disposition")
        if not isinstance(name, str):
            continue
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes)
        file = part.get_filename()
        if file is None:
            visit.form[name] = content.decode()
        else:
            visit.files[name] = (file, content)
