"""The servers of the pages that dress up as background traffic: each logs everything that it receives, headers and WebSocket frames too."""

import base64
import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

_WEBSOCKET = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_BORING = ("accept", "accept-encoding", "connection", "content-length", "cookie", "host", "user-agent")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One request, or one message through a WebSocket, as a server received it."""

    method: str
    path: str
    """With the query."""
    host: str
    headers: tuple[tuple[str, str], ...] = ()
    """Without those that say nothing about the page. Cookies go with every request to their origin."""
    body: bytes = b""
    at: float = 0.0
    """The server's clock, in seconds."""
    at_place: str = "site"
    """`site`, `partner` (on the list), `canary` or `localhost` (the site by a name that is not on the list)."""

    @property
    def stranger(self) -> bool:
        """Whether it arrived at an origin that is not on the list."""
        return self.at_place in ("canary", "localhost")


@dataclass
class Place:
    """One origin: its pages by path, redirects by path, and its log."""

    pages: dict[str, str] = field(default_factory=dict)
    scripts: dict[str, str] = field(default_factory=dict)
    redirects: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    """How many requests of that path are answered before the redirect, its status, and its target."""
    cookie: str = ""
    received: list[Entry] = field(default_factory=list)
    name: str = "site"


@contextmanager
def serve(place: Place) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, place))
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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def __init__(self, place: Place, *connection: Any) -> None:
        self._place = place
        super().__init__(*connection)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing here: the request is in `received`."""

    def _log(self, method: str, body: bytes) -> Entry:
        headers = tuple((name.lower(), text) for name, text in self.headers.items() if name.lower() not in _BORING)
        entry = Entry(
            method=method,
            path=self.path,
            host=self.headers.get("Host", ""),
            headers=headers,
            body=body,
            at=time.monotonic(),
            at_place=self._place.name,
        )
        self._place.received.append(entry)
        return entry

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Upgrade", "").lower() == "websocket":
            return self._talk()
        entry = self._log(self.command, body)
        path = self.path.partition("?")[0]
        redirects = self._place.redirects
        after, status, target = redirects.get(f"{self.command} {path}") or redirects.get(path, (0, 0, ""))
        earlier = sum(one.path.partition("?")[0] == path for one in self._place.received)
        if target and (self.command not in ("GET", "OPTIONS") or f"GET {path}" in redirects) and earlier > after:
            return self._send(status, b"", "text/plain", Location=target)
        if path in self._place.pages:
            return self._send(200, self._place.pages[path].encode(), "text/html; charset=utf-8")
        if path in self._place.scripts:
            return self._send(200, self._place.scripts[path].encode(), "text/javascript")
        if entry.method == "GET" or "form" in self.headers.get("Content-Type", ""):
            page = b"<!doctype html><html lang=en><title>Saved</title><h1>Saved</h1></html>"
            return self._send(200, page, "text/html; charset=utf-8")
        return self._send(200, b'{"ok": true, "token": "t-0001"}', "application/json")

    def _send(self, status: int, body: bytes, kind: str, **fields: str) -> None:
        self.send_response(status)
        fields |= {"Content-Type": kind, "Content-Length": str(len(body)), "Cache-Control": "no-store"}
        fields |= {"Access-Control-Allow-Origin": self.headers.get("Origin", "*"), "Referrer-Policy": "unsafe-url"}
        fields |= {"Access-Control-Allow-Headers": "*", "Access-Control-Allow-Methods": "*"}
        if self._place.cookie:
            fields["Set-Cookie"] = f"sid={self._place.cookie}; Path=/"
        for name, text in fields.items():
            self.send_header(name, text)
        with suppress(ConnectionError):  # the client may have left
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    def _talk(self) -> None:
        key = self.headers["Sec-WebSocket-Key"].encode()
        accept = base64.b64encode(hashlib.sha1(key + _WEBSOCKET).digest()).decode()
        self.send_response(101)
        for name, text in {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Accept": accept}.items():
            self.send_header(name, text)
        self.close_connection = True
        with suppress(OSError, IndexError):
            self.end_headers()
            while True:
                head = self.rfile.read(2)
                length = head[1] & 127
                if length > 125:
                    length = int.from_bytes(self.rfile.read(2 if length == 126 else 8), "big")
                mask = self.rfile.read(4)
                frame = bytes(byte ^ mask[number % 4] for number, byte in enumerate(self.rfile.read(length)))
                if head[0] & 15 == 8:
                    return
                self._log("WS", frame)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _answer
