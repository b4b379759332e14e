"""The pages of MiniWoB++, served on loopback. Nothing of the package is imported."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from benchmarks.harness.environments import find_packages_folder, install_environment

PINNED = Path(__file__).with_name("miniwob.txt")


def _folder() -> Path:
    return find_packages_folder(install_environment(PINNED)) / "miniwob" / "html"


def pages() -> set[str]:
    """The names of all tasks."""
    return {page.stem for page in (_folder() / "miniwob").glob("*.html")}


class _Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@contextmanager
def serve_pages() -> Iterator[str]:
    """The origin under which the tasks are found while this lasts, at `/miniwob/<task>.html`."""
    handler = partial(_Quiet, directory=str(_folder()))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
