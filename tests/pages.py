"""Small web pages for the tests, served on loopback by a real HTTP server."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Pages:
    """HTML by path. `hits` lists all requests as 'METHOD /path', in order."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.hits: list[str] = []
        self.bodies: dict[str, bytes] = {}
        self.closing = threading.Event()
        self._pages: dict[str, tuple[int, str, Mapping[str, str]]] = {}
        self._delays: dict[str, float] = {}

    def show(
        self, path: str, body: str, *, status: int = 200, title: str = "", seconds: float = 0.0, **headers: str
    ) -> str:
        """Serve this page after `seconds` and return its URL. Headers are given with underscores: `content_type`."""
        whole = body if "<html" in body else f"<!doctype html><title>{title or path}</title>{body}"
        extra = {name.replace("_", "-"): value for name, value in headers.items()}
        self._pages[path] = (status, whole, {"content-type": "text/html; charset=utf-8", **extra})
        self._delays[path] = seconds
        return self.url + path

    def answer(self, path: str) -> tuple[int, str, Mapping[str, str]]:
        self.closing.wait(self._delays.get(path, 0.0))
        return self._pages.get(path, (404, "<!doctype html><title>Not found</title><p>Not found</p>", {}))


@contextmanager
def serve_pages() -> Generator[Pages]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            pages.hits.append(f"{self.command} {self.path}")
            length = int(self.headers.get("content-length") or 0)
            pages.bodies[path] = self.rfile.read(length)
            status, body, headers = pages.answer(path)
            data = body.encode()
            self.send_response(status)
            for name, value in {"content-type": "text/html; charset=utf-8", **headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_PUT = do_DELETE = do_GET

        def log_request(self, code: object = None, size: object = None) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    pages = Pages(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield pages
    finally:
        pages.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


@asynccontextmanager
async def serve_bytes(answer: bytes, *, then: tuple[asyncio.Event, bytes] | None = None) -> AsyncGenerator[str]:
    """Serve exactly these bytes to every request, then those of `then` after its event; yields the URL."""
    done = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, EOFError):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            if then is not None:
                await then[0].wait()
                writer.write(then[1])
            await done.wait()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        done.set()
        server.close()
