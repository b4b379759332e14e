"""The live view over HTTP: pictures on change, at most two a second, and none without a viewer."""

import threading
import time
from typing import Any

import httpx2 as httpx
import pytest

from midcourse.server.live import PERIOD
from tests.server.serving import Served, start, start_asking, until
from tests.server.worlds import Window

pytestmark = pytest.mark.slow

SLACK = 0.05
"""Seconds by which the clock of the test may be late."""


@pytest.fixture(scope="module")
def watched(served: Served) -> str:
    """A run in a world that can be watched. It waits for an approval."""
    start_asking(served.client("operator"), "watched", "watched")
    return "watched"


def picture(client: httpx.Client, run: str, after: str = "") -> tuple[str, bytes]:
    answer = client.get(f"/runs/{run}/live", params={"after": after})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.headers["cache-control"] == "no-store"
    return answer.headers["etag"].strip('"'), answer.content


def change() -> None:
    Window.changes[0] += 1


def test_no_picture_is_taken_without_a_viewer(served: Served, watched: str) -> None:
    viewer = served.client("viewer")
    Window.taken.clear()
    for _ in range(3):  # a page that only reads
        viewer.get(f"/runs/{watched}")
        viewer.get(f"/runs/{watched}/observations")
        time.sleep(0.1)
    assert Window.taken == []
    number, _ = picture(viewer, watched)
    assert number
    assert len(Window.taken) == 1
    change()
    time.sleep(3 * PERIOD)  # in which a viewer that left would have been shown something
    assert len(Window.taken) == 1


def test_viewers_share_pictures_that_come_on_change_at_most_twice_a_second(served: Served, watched: str) -> None:
    Window.taken.clear()
    shown: list[list[bytes]] = [[], [], []]
    until_then = time.monotonic() + 4 * PERIOD

    def look(into: list[bytes]) -> None:
        client, number = served.client("viewer"), ""
        while time.monotonic() < until_then:
            number, data = picture(client, watched, number)
            into.append(data)

    viewers = [threading.Thread(target=look, args=(one,)) for one in shown]
    for viewer in viewers:
        viewer.start()
    while any(viewer.is_alive() for viewer in viewers):
        change()
        time.sleep(0.05)
    assert all(len(one) >= 2 for one in shown)
    assert all(len(set(one)) == len(one) for one in shown)  # each is another than the one before
    gaps = [after - before for before, after in zip(Window.taken, Window.taken[1:], strict=False)]
    assert min(gaps) > PERIOD - SLACK
    assert len(set(shown[0]) | set(shown[1]) | set(shown[2])) <= len(Window.taken)


def test_a_viewer_who_leaves_while_waiting_is_noticed(served: Served, watched: str) -> None:
    viewer = served.client("viewer")
    number, _ = picture(viewer, watched)
    with pytest.raises(httpx.TimeoutException):
        viewer.get(f"/runs/{watched}/live", params={"after": number}, timeout=0.3)
    time.sleep(3 * PERIOD)
    Window.taken.clear()
    change()
    time.sleep(3 * PERIOD)
    assert Window.taken == []


def test_a_run_without_pictures_says_when_to_ask_again(served: Served) -> None:
    start_asking(served.client("operator"), "blind")
    answer = served.client("viewer").get("/runs/blind/live")
    assert (answer.status_code, answer.headers["retry-after"]) == (204, "10")


def test_a_run_that_has_ended_has_nothing_to_watch(served: Served) -> None:
    client: Any = served.client()
    start(client, "over", "lamp", settings={"approvals": "never"})
    until(lambda: client.get("/runs/over").json()["result"])
    assert client.get("/runs/over/live").headers["retry-after"] == "10"
