"""HTTP server on a free loopback port, with the standard library only, for the length of a `with`."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@contextmanager
def serve_on_loopback(handler: Callable[..., BaseHTTPRequestHandler]) -> Generator[str]:
    """Yield its address. Each connection has its own handler and thread."""
    server = _Server(("127.0.0.1", 0), handler)
    thread = Thread(target=partial(server.serve_forever, poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # clients may keep their connections open
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing for a connection that the client closed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)
