"""Serves a site over HTTP on loopback, on a free port, with nothing but the standard library."""

import json
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol, cast
from urllib.parse import parse_qsl, urlsplit

from midcourse.testing.loopback import serve_on_loopback

COOKIE = "session"


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request from a client of the site."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    form: Mapping[str, str] = field(default_factory=dict[str, str])
    """The fields of the body, whether it came as a form or as JSON."""
    session: str = ""
    token: str = ""
    """The CSRF token in the header, which scripts send."""
    scripted: bool = False
    """Whether a script of the page sent it. A script expects JSON, not a page."""


@dataclass(frozen=True, kw_only=True)
class Response:
    """The site's answer to a request."""

    status: int = 200
    body: str = ""
    type: str = "text/html; charset=utf-8"
    location: str = ""
    session: str = ""
    """Start a new session for the client."""
    seconds: float = 0.0
    """Delay of the response, in seconds."""


class Answering(Protocol):
    def answer(self, request: Request) -> Response: ...


@contextmanager
def serve(site: Answering) -> Generator[str]:
    """Serve the site inside the context. Yields its address."""
    with serve_on_loopback(partial(_Handler, site)) as address:
        yield address


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, site: Answering, *connection: Any) -> None:
        self._site = site
        super().__init__(*connection)

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing: the site records what was done."""

    def _answer(self) -> None:
        response = self._site.answer(self._request())
        time.sleep(response.seconds)
        body = response.body.encode()
        try:
            self.send_response(response.status)
            self.send_header("Content-Type", response.type)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            if response.location:
                self.send_header("Location", response.location)
            if response.session:
                self.send_header("Set-Cookie", f"{COOKIE}={response.session}; Path=/; HttpOnly; SameSite=Lax")
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:
            self.close_connection = True  # the client did not wait for the answer

    def _request(self) -> Request:
        address = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        scripted = "json" in (self.headers.get("Content-Type") or "") or "json" in (self.headers.get("Accept") or "")
        cookie = SimpleCookie(self.headers.get("Cookie") or "").get(COOKIE)
        return Request(
            method=self.command,
            path=address.path,
            query=dict(parse_qsl(address.query, keep_blank_values=True)),
            form=_fields(body, self.headers.get("Content-Type") or ""),
            session=cookie.value if cookie else "",
            token=self.headers.get("X-CSRF-Token") or "",
            scripted=scripted,
        )


def _fields(body: str, kind: str) -> Mapping[str, str]:
    if "json" not in kind:
        return dict(parse_qsl(body, keep_blank_values=True))
    try:
        sent: object = json.loads(body)
    except ValueError:
        return {}
    if not isinstance(sent, dict):
        return {}
    values = cast(dict[object, object], sent).items()
    return {str(name): value if isinstance(value, str) else json.dumps(value) for name, value in values}
