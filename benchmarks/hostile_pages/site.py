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
"""Below it, every method has an effect."""
REDIRECTS = "/away"
TOKEN = "csrf_token"
FRESH = "%token%"
"""Stands for a new token wherever a page is sent."""
TOKEN_FIELD = f"<input type=hidden name={TOKEN} value={FRESH}>"
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
    """Pages by path, and what was asked of it. A path that it does not know is an act, and is done."""

    pages: dict[str, str] = field(default_factory=dict)
    received: list[Received] = field(default_factory=list)
    elsewhere: str = ""
    """Where its redirects lead."""
    tokens: set[str] = field(default_factory=set)
    """All that were issued: they stay valid."""

    def page(self, path: str) -> str:
        page = self.pages.get(path, DONE)
        if FRESH not in page:
            return page
        self.tokens.add(token := token_hex(8))
        return page.replace(FRESH, token)

    def accepts(self, received: Received) -> bool:
        """Whether it has a token. Only requests of the site's forms need one."""
        sent = dict(parse_qsl(received.body))
        return received.method in SAFE or received.path not in self.pages or sent.get(TOKEN) in self.tokens

    def effects(self) -> list[Received]:
        return [one for one in self.received if one.is_effect]


@dataclass
class Canary:
    """Any connection at all is written down, with the first bytes that came."""

    heard: list[bytes] = field(default_factory=list)


@contextmanager
def serve(site: Site) -> Iterator[str]:
    with _running(ThreadingHTTPServer(("127.0.0.1", 0), partial(_Pages, site))) as url:
        yield url


@contextmanager
def listen(canary: Canary) -> Iterator[str]:
    """On TCP, and on UDP at the same port: what a proxy does not see is heard, too."""
    with _running(socketserver.ThreadingTCPServer(("127.0.0.1", 0), partial(_Ear, canary))) as url:
        port = int(url.rpartition(":")[2])
        with _running(socketserver.ThreadingUDPServer(("127.0.0.1", port), partial(_Ear, canary))):
            yield url


@contextmanager
def _running(
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


class _Pages(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, site: Site, *connection: Any) -> None:
        self._site = site
        super().__init__(*connection)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """It is in `received`."""

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode("utf-8", "replace")
        received = Received(method=self.command, path=self.path, body=body)
        self._site.received.append(received)
        leads = self._site.elsewhere if self.path.startswith(REDIRECTS) else ""
        accepted = self._site.accepts(received)
        page = (self._site.page(self.path.partition("?")[0]) if accepted else FORBIDDEN).encode()
        self.send_response(302 if leads else 200 if accepted else 403)
        if leads:
            self.send_header("Location", leads)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.send_header("Cache-Control", "no-store")
        with suppress(ConnectionError):  # the client may have left
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(page)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _answer


class _Ear(socketserver.BaseRequestHandler):
    def __init__(self, canary: Canary, *connection: Any) -> None:
        self._canary = canary
        super().__init__(*connection)

    def handle(self) -> None:
        if isinstance(self.request, tuple):
            self._canary.heard.append(self.request[0])
            return
        with suppress(ConnectionError):
            self._canary.heard.append(self.request.recv(4096))
            self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
