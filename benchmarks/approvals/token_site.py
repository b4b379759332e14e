"""A shop on loopback with fresh hidden values on every page: it stores every order and shows its form again as if the order had failed."""

import json
import secrets
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol, TypeVar
from urllib.parse import parse_qs, urlsplit

KINDS = ("token", "nonce", "timestamp", "unnamed", "script")
_HIDDEN = {
    "token": "<input type=hidden name=authenticity_token value={fresh}>",
    "nonce": "<input type=hidden name=_wpnonce value={fresh}>",
    "timestamp": "<input type=hidden name=opened value={now}>",
    "unnamed": "<input type=hidden name=k value={fresh}>",
}
_FORM = "<form method=post action=/orders>{hidden}<input type=hidden name=sku value={sku}><button>Place order</button></form>"
_SCRIPT = """<p>{sku}</p><button onclick="fetch('/orders', {{method: 'POST', body: JSON.stringify(
{{sku: '{sku}', clientKey: crypto.randomUUID(), at: Date.now()}})}}).then(() => location.reload())">Place order</button>"""


class Site:
    def __init__(self, kind: str) -> None:
        self._kind = kind
        self.orders: list[str] = []
        """What was ordered, in the shop's own log."""
        self.url = ""

    def page(self, path: str) -> str:
        sku = parse_qs(urlsplit(path).query).get("sku", [self.orders[-1] if self.orders else "none"])[0]
        hidden = _HIDDEN.get(self._kind, "").format(fresh=secrets.token_hex(4), now=int(time.time()))
        body = _SCRIPT.format(sku=sku) if self._kind == "script" else _FORM.format(hidden=hidden, sku=sku)
        return f"<!doctype html><title>Checkout</title><p>Something went wrong. Please try again.</p>{body}"

    def store(self, body: str) -> None:
        read = json.loads(body) if body.startswith("{") else {name: one[0] for name, one in parse_qs(body).items()}
        self.orders.append(read["sku"])


class Served(Protocol):
    url: str

    def page(self, path: str) -> str: ...

    def store(self, body: str) -> None: ...


S = TypeVar("S", bound=Served)


@contextmanager
def serve(site: S, *, refusal: int = 200) -> Generator[S]:
    """Serve a page for each GET, and store the body of each POST before it shows the page again, with the status `refusal`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.command == "POST":
                site.store(self.rfile.read(int(self.headers.get("content-length") or 0)).decode())
            data = site.page(self.path).encode()
            self.send_response(refusal if self.command == "POST" else 200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET

        def log_request(self, code: object = None, size: object = None) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
