"""A shop on loopback that stores orders, and a guarded function that places them there."""

import json
import os
import random
import signal
import sys
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from midcourse import guarded
from midcourse.errors import AnswerLost
from midcourse.settings import Settings


class Shop(ThreadingHTTPServer):
    """`POST /orders/ID` stores an order. An id that begins with `lost` is stored and answered with 504; `cut`: not answered;
    `slow`: stored once `goes_on` is set.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.orders: list[tuple[str, int]] = []
        self.asked, self.goes_on = threading.Event(), threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients are killed in the middle of requests here."""


class Handler(BaseHTTPRequestHandler):
    @property
    def shop(self) -> Shop:
        assert isinstance(self.server, Shop)
        return self.server

    def do_GET(self) -> None:
        found = any(order == self.path.rpartition("/")[2] for order, _ in self.shop.orders)
        self._answer(200 if found else 404, {})

    def do_POST(self) -> None:
        order = self.path.rpartition("/")[2]
        cents = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["cents"]
        if order.startswith("down"):
            self._answer(503, {})
            return
        if order.startswith("slow"):
            self.shop.asked.set()
            self.shop.goes_on.wait(600)
        self.shop.orders.append((order, cents))
        if order.startswith("cut"):
            self.connection.close()
        else:
            self._answer(504 if order.startswith("lost") else 200, {"receipt": f"R-{order}"})

    def _answer(self, status: int, body: dict[str, str]) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002  # as in the base class


@contextmanager
def open_shop() -> Generator[Shop]:
    with Shop() as shop:
        threading.Thread(target=shop.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield shop
        finally:
            shop.shutdown()


class Order(Protocol):
    def __call__(self, order_id: str, cents: int) -> str: ...


def place_orders(url: str, home: Path, **options: Any) -> Order:
    """The guarded function of a client of this shop."""
    host = url.removeprefix("http://")

    def send(method: str, path: str, body: str | None = None) -> tuple[int, dict[str, str]]:
        with closing(HTTPConnection(host, timeout=60)) as connection:
            connection.request(method, path, body)
            with connection.getresponse() as answer:
                return answer.status, json.load(answer)

    def happened(order_id: str) -> bool:
        return send("GET", f"/orders/{order_id}")[0] == 200

    @guarded(key="{order_id}", name="order.{host}", happened=happened, settings=Settings(home=home), **options)
    def order(order_id: str, cents: int) -> str:
        """Order something."""
        status, answer = send("POST", f"/orders/{order_id}", json.dumps({"cents": cents}))
        if status != 200:
            raise OSError(f"the shop answered {status}")
        return answer["receipt"]

    return order


def order_and_die(url: str, home: str, order_id: str, lines: int, **options: Any) -> None:
    """Place an order in this process, and kill it after so many lines of Midcourse's code and of the function."""
    order, left = place_orders(url, Path(home), **options), lines

    def count(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal left
        if not any(name in frame.f_code.co_filename for name in ("midcourse/", "guarded/shop")):
            return None
        left -= event == "line"
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return count

    sys.settrace(count)
    try:
        order(order_id, 100)
    except (AnswerLost, OSError):
        pass
    finally:
        sys.settrace(None)


def place_several(url: str, home: str, ids: list[str], seed: int, **options: Any) -> None:
    """Place all of these orders, in an order that depends on the seed."""
    order = place_orders(url, Path(home), **options)
    for order_id in random.Random(seed).sample(ids, len(ids)):
        with suppress(AnswerLost):
            assert order(order_id, 100) == f"R-{order_id}"
