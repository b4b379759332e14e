"""The proxy in front of Wagtail spoils answers, once each, and changes nothing else: what the application did stays done."""

import http.client
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from benchmarks.web_apps.wagtail.proxy import Fault, Proxy, Request, in_front_of

PAGE = b"<html><body><h1>Pages</h1></body></html>"


class Upstream(BaseHTTPRequestHandler):
    seen: list[tuple[str, str]]
    chunked = False

    def do_GET(self) -> None:
        self.seen.append((self.command, self.headers.get("Cookie") or ""))
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        if self.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(
            b"9\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (PAGE[:9], len(PAGE) - 9, PAGE[9:]) if self.chunked else PAGE
        )

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def upstream() -> Iterator[tuple[str, int]]:
    Upstream.seen = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield "127.0.0.1", server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


def asked(url: str, method: str = "GET", body: bytes = b"") -> tuple[int, bytes, str]:
    connection = http.client.HTTPConnection(url.removeprefix("http://"))
    connection.request(method, "/admin/", body, {"Cookie": "csrftoken=x; sessionid=abc"})
    response = connection.getresponse()
    answer = response.status, response.read(), response.getheader("Set-Cookie") or ""
    connection.close()
    return answer


def is_any(request: Request) -> bool:
    return True


def test_a_body_in_chunks_arrives_without_their_lengths(upstream: tuple[str, int], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Upstream, "chunked", True)
    with in_front_of(Proxy(upstream)) as url:
        assert asked(url)[1] == PAGE


def test_nothing_is_spoiled_unless_a_fault_is_due(upstream: tuple[str, int]):
    with in_front_of(Proxy(upstream, [Fault(kind="lost", at=is_any, nth=2)])) as url:
        assert [asked(url)[0] for _ in range(3)] == [200, 504, 200]
        assert asked(url)[1] == PAGE


def test_a_lost_answer_is_lost_after_the_application_gave_it(upstream: tuple[str, int]):
    proxy = Proxy(upstream, [Fault(kind="lost", at=lambda request: b"publish" in request.body)])
    with in_front_of(proxy) as url:
        assert asked(url, "POST", b"action-publish=1")[0] == 504
    assert Upstream.seen == [("POST", "csrftoken=x; sessionid=abc")]
    assert proxy.met == ["lost"]


def test_an_expired_session_is_forgotten_on_both_sides(upstream: tuple[str, int]):
    with in_front_of(Proxy(upstream, [Fault(kind="expired", at=is_any)])) as url:
        assert "sessionid=; Path=/; Max-Age=0" in asked(url)[2]
    assert Upstream.seen == [("GET", "csrftoken=x; ")]


def test_an_overlay_lies_over_pages(upstream: tuple[str, int]):
    with in_front_of(Proxy(upstream, [Fault(kind="overlay", at=is_any)])) as url:
        assert b"Got it" in asked(url)[1]


def test_a_delay_changes_nothing_but_the_time(upstream: tuple[str, int]):
    proxy = Proxy(upstream, [Fault(kind="delay", at=is_any, seconds=0.01)])
    with in_front_of(proxy) as url:
        assert asked(url)[:2] == (200, PAGE)
    assert proxy.met == ["delay"]
