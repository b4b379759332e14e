"""Serves pretix and its static files on loopback, as its documentation describes for a web server in front of it."""

import mimetypes
import sys
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from django.conf import settings
from django.core.wsgi import get_wsgi_application

application = get_wsgi_application()


class ThreadingServer(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def answer(environ, start_response):
    path = environ["PATH_INFO"]
    if not path.startswith("/static/"):
        return application(environ, start_response)
    root = Path(settings.STATIC_ROOT).resolve()
    file = (root / path.removeprefix("/static/")).resolve()
    if not file.is_relative_to(root) or not file.is_file():
        start_response("404 Not Found", [])
        return []
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    start_response("200 OK", [("Content-Type", kind), ("Cache-Control", "max-age=3600")])
    return [file.read_bytes()]


make_server("127.0.0.1", int(sys.argv[1]), answer, ThreadingServer, QuietHandler).serve_forever()
