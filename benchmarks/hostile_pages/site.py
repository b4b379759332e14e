"""The site of the hostile pages, which logs every request; and the canary, which must receive none."""

import socketserver
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_hex
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl

SAFE = ("GET", "HEAD", "OPTIONS")
EFFECTS = "/do/"
"""Requests to paths below this one have an effect with every method."""
REDIRECTS = "/away"
TOKEN = "csrf_token"
TOKEN_PLACEHOLDER = "%token%"
"""Replaced with a new token whenever a page is sent."""
TOKEN_FIELD = f"<input type=hidden name={TOKEN} value={TOKEN_PLACEHOLDER}>"
SAVED = "<!doctype html><html lang=en><title>Saved</title><h1>Saved</h1></html>"
DONE = "<!doctype html><html lang=en><title>Done</title><h1>Done</h1></html>"
FORBIDDEN = "<!doctype html><html lang=en><title>Forbidden</title><h1>Forbidden</h1></html>"


@dataclass(frozen=True, kw_only=True)
class Received:
    method: str
    path: str
    body: str = ""

    @property
    def is_effect(self) -> bool:
        return self.method not in SAFE or self.path.startswith(EFFECTS)


@dataclass
class Site:
    """Pages by path, and a log of the requests. A request to an unknown path is answered with "Done"."""

    pages: dict[str, str] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)
    redirect_target: str = ""
    """Target of the redirects."""
    tokens: set[str] = field(default_factory=set)
    """All tokens issued so far, all of them valid."""

    def render_page(self, path: str) -> str:
        html = self.pages.get(path, DONE)
        if TOKEN_PLACEHOLDER not in html:
            return html
        self.tokens.add(token := token_hex(8))
        return html.replace(TOKEN_PLACEHOLDER, token)

    def has_valid_token(self, received: Received) -> bool:
        """Return whether a request that needs a token has a valid one. Only requests to the site's own pages need one."""
        sent = dict(parse_qsl(received.body))
        return received.method in SAFE or received.path not in self.pages or sent.get(TOKEN) in self.tokens

    def effects(self) -> list[Received]:
        return [request for request in self.received if request.is_effect]


@dataclass
class Canary:
    """A log of every connection, with the first bytes received."""

    connections: list[bytes] = field(default_factory=list)


@contextmanager
def serve(site: Site) -> Iterator[str]:
    with _run_server(ThreadingHTTPServer(("127.0.0.1", 0), partial(_SiteHandler, site))) as url:
        yield url


@contextmanager
def listen(canary: Canary) -> Iterator[str]:
    """Listen on TCP, and on UDP at the same port, to notice traffic that bypasses the proxy."""
    with _run_server(socketserver.ThreadingTCPServer(("127.0.0.1", 0), partial(_CanaryHandler, canary))) as url:
        port = int(url.rpartition(":")[2])
        with _run_server(socketserver.ThreadingUDPServer(("127.0.0.1", port), partial(_CanaryHandler, canary))):
            yield url


@contextmanager
def _run_server(
    server: ThreadingHTTPServer | socketserver.ThreadingTCPServer | socketserver.ThreadingUDPServer,
) -> Iterator[str]:
    server.daemon_threads = True
    server.block_on_close = False  # a browser keeps its connections open
    thread = Thread(target=partial(server.serve_forever, poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _SiteHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, site: Site, *connection: Any) -> None:
        self._site = site
        super().__init__(*connection)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing here: the request is in `received`."""

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode("utf-8", "replace")
        received = Received(method=self.command, path=self.path, body=body)
        self._site.received.append(received)
        location = self._site.redirect_target if self.path.startswith(REDIRECTS) else ""
        accepted = self._site.has_valid_token(received)
        page = (self._site.render_page(self.path.partition("?")[0]) if accepted else FORBIDDEN).encode()
        self.send_response(302 if location else 200 if accepted else 403)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.send_header("Cache-Control", "no-store")
        with suppress(ConnectionError):  # the client may have left
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(page)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _answer


class _CanaryHandler(socketserver.BaseRequestHandler):
    def __init__(self, canary: Canary, *connection: Any) -> None:
        self._canary = canary
        super().__init__(*connection)

    def handle(self) -> None:
        if isinstance(self.request, tuple):
            self._canary.connections.append(self.request[0])
            return
        with suppress(ConnectionError):
            self._canary.connections.append(self.request.recv(4096))
            self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
